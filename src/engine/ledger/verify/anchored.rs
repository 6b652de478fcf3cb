//! Verification of a restored database against the anchor of the service.

use std::path::Path;

use super::checker::{Progress, VerifiedLog};
use super::database::database;
use super::finding::{Change, Finding, NotVerified};
use super::trust::Trust;
use crate::db::Pool;
use crate::ledger::anchor::AnchorFile;
use crate::ledger::tree::extends;
use crate::ledger::{Log, read};
use formats::tlog::VerifierKey;

/// Verifies the records of a log in a restored database, and that the file of `audit.seal.anchor` has a checkpoint
/// that they extend, or that extends theirs. The hashes between the two are those of the database of the
/// service, which nobody needs to believe: they lead from one signed root to the other, or not.
pub async fn anchored(
    (restored, service): (&Pool, &Pool),
    (log, anchor): (Log, &Path),
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let not_checked = |message: String| NotVerified::NotChecked(message);
    let mut keys = signing_keys(restored, log).await?;
    let Some(origin) = keys.first().map(|key| key.name().to_owned()) else {
        return Err(not_checked(format!("the {log} log has not begun: run `sealward audit init`")));
    };
    // A newer key can have signed the anchor.
    let newer = signing_keys(service, log).await?.into_iter();
    keys.extend(newer.filter(|key| key.name() == origin));
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let mut trust = Trust::new(&keys.join("\n"))?;
    let note = AnchorFile::new(anchor).read(log, &origin).await;
    let note = note.map_err(|error| not_checked(error.to_string()))?;
    let (own, note) = match (read::checkpoint(restored, log).await?, note) {
        (Some(own), Some(note)) => (own, note),
        (None, None) => return Ok(VerifiedLog::default()),
        (None, Some(_)) => {
            return Err(not_checked(format!("the restored {log} log has no checkpoint")));
        }
        (Some(_), None) => {
            let place = anchor.display();
            return Err(not_checked(format!("{place} has no checkpoint of {origin}")));
        }
    };
    trust.add(&own)?;
    let (own, anchored) = (trust.open(&own)?, trust.open(&note)?);
    if anchored.size <= own.size {
        trust.add(&note)?;
    } else {
        let mut connection = service.acquire().await?;
        let trees = ((own.size, own.root), (anchored.size, anchored.root));
        if !extends(&mut connection, log, trees.0, trees.1).await? {
            let fork = Finding { change: Change::Fork, checkpoint: Some(own.size) };
            return Err(NotVerified::Tampered(fork.into()));
        }
    }
    database(&trust, restored, progress).await
}

/// The keys that sign the checkpoints of a log.
async fn signing_keys(pool: &Pool, log: Log) -> sqlx::Result<Vec<VerifierKey>> {
    let keys = read::keys(pool, log).await?.unwrap_or_default();
    Ok(keys.into_iter().filter(|key| !key.kind().is_cosignature()).collect())
}
