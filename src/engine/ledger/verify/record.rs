//! Verification of one record with its proof.

use serde::Deserialize;

use super::checker::VerifiedLog;
use super::finding::{Change, Finding, NotVerified};
use super::trust::Trust;
use crate::segments::leaf;
use formats::tlog::{Hash, ProofText, verify_inclusion};

/// A proof in JSON, as the API returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProofJson {
    log_index: u64,
    inclusion: Vec<String>,
    checkpoint: String,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: String,
    #[serde(default)]
    log_index: Option<u64>,
}

/// Verifies that a record, as JSON of a list or an export, is the one of its proof.
pub fn record(trust: &mut Trust, record: &str, proof: &str) -> Result<VerifiedLog, NotVerified> {
    let not_checked = |reason: &str| NotVerified::NotChecked(reason.to_owned());
    let proof = read(proof).ok_or_else(|| not_checked("the proof must be JSON or a tlog-proof"))?;
    let checkpoint = trust.open(&proof.checkpoint)?;
    trust.add(&proof.checkpoint)?;
    let leaf =
        leaf(trust.log(), record).map_err(|error| not_checked(&format!("the record {error}")))?;
    let named: Named =
        serde_json::from_str(record).map_err(|_| not_checked("the record has no id"))?;
    let (size, root) = (checkpoint.size, checkpoint.root);
    let hash = Hash::of_leaf(&leaf);
    let included = verify_inclusion(hash, proof.index, size, &proof.inclusion, root);
    // The leaf does not contain the position.
    let is_elsewhere = named.log_index.is_some_and(|index| index != proof.index);
    if included.is_err() || is_elsewhere {
        return Err(NotVerified::Tampered(
            Finding { change: Change::Proof { record: named.id }, checkpoint: Some(size) }.into(),
        ));
    }
    Ok(VerifiedLog { covered: 1, ..VerifiedLog::default() })
}

fn read(proof: &str) -> Option<ProofText> {
    if let Ok(text) = proof.parse() {
        return Some(text);
    }
    let json: ProofJson = serde_json::from_str(proof).ok()?;
    let inclusion = json.inclusion.iter().map(|hash| hash.parse());
    Some(ProofText {
        index: json.log_index,
        inclusion: inclusion.collect::<Result<_, _>>().ok()?,
        checkpoint: json.checkpoint,
    })
}
