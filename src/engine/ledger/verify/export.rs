//! Verification of an export in the order of the log.

use std::io::BufRead;

use serde::Deserialize;

use super::checker::{Checker, LoggedRecord, Progress, VerifiedLog};
use super::finding::{Change, NotVerified};
use super::span::Span;
use super::tiles::TileFolder;
use super::trust::Trust;
use crate::ledger::Log;
use crate::segments::{NotARecord, check_retired, has_hash_of_state, leaf};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// The members of a line that verification reads itself.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    log_index: Option<u64>,
    #[serde(default)]
    leaf_hash: Option<String>,
    #[serde(default)]
    timestamp: Option<Timestamp>,
}

/// Verifies an export. With the tiles of the log, a changed record is named exactly.
pub fn export(
    trust: &Trust,
    file: impl BufRead,
    tiles: Option<&TileFolder>,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let mut checker = Checker::new(trust, progress)?;
    let mut span = Span::default();
    let mut kept = tiles.map(|tiles| tiles.hashes(trust.size()));
    for (place, text) in (1_u64..).zip(file.lines()) {
        let not_checked = |reason: &str| NotVerified::NotChecked(format!("line {place}: {reason}"));
        let text = text.map_err(|error| not_checked(&error.to_string()))?;
        // The last line of a file that was cut off is not JSON.
        let line: Line = match serde_json::from_str(&text) {
            Ok(line) => line,
            Err(error) if error.is_eof() && checker.size() < trust.size() => {
                break;
            }
            Err(_) => return Err(not_checked("must be a line of an export in NDJSON")),
        };
        let record = line.id.unwrap_or_default();
        let Some(index) = line.log_index else {
            checker.find(Change::Added { record });
            continue;
        };
        let retired: Option<Hash> = match &line.leaf_hash {
            Some(hash) => {
                check_retired(trust.log(), &text)
                    .map_err(|error| not_checked(&error.to_string()))?;
                let hash = hash.parse();
                Some(hash.map_err(|_| not_checked("leaf_hash is not a hash"))?)
            }
            None => None,
        };
        let own = match retired {
            Some(_) if !span.allows_retired(trust.log()) => {
                checker.find(Change::Missing(index));
                None
            }
            Some(_) => None,
            None => {
                line.timestamp.into_iter().for_each(|ts| span.add(index, ts));
                let hashed = trust.log() == Log::Management && has_hash_of_state(&text);
                match leaf(trust.log(), &text) {
                    Ok(leaf) => {
                        checker.note_hashed(hashed);
                        Some(Hash::of_leaf(&leaf))
                    }
                    Err(NotARecord) if hashed => {
                        checker.find(Change::Changed { index, record });
                        checker.skip_to(index + 1);
                        continue;
                    }
                    Err(error) => return Err(not_checked(&error.to_string())),
                }
            }
        };
        let known = match &mut kept {
            Some(kept) => kept.hash(index)?,
            None => None,
        };
        checker.push(LoggedRecord { index, record: &record, own, kept: known.or(retired) });
    }
    checker.finish()
}
