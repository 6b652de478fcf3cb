//! Verification of a restored database against the anchor of the service.

use std::path::Path;

use super::checker::{Progress, VerifiedLog};
use super::database::database;
use super::finding::{Change, Finding, NotVerified};
use super::trust::Trust;
use crate::db::Pool;
use crate::ledger::anchor::AnchorFile;
use crate::ledger::tree::extends;
use crate::ledger::{Log, read, store};
use formats::tlog::{Checkpoint, VerifierKey};

/// Verifies the records of a log in a restored database, and that the file of `audit.seal.anchor` has a checkpoint
/// that they extend, or that extends theirs. The hashes between the two are those of the database of the
/// service, which need no trust: they lead from one signed root to the other, or not.
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
    let sealed = store::origin(restored.rows(), log).await?;
    if sealed.is_none_or(|sealed| sealed.origin != origin) {
        return Err(not_checked(format!(
            "the origin of the restored {log} log is not the one that was sealed"
        )));
    }
    // A newer key can have signed the anchor.
    let newer = signing_keys(service, log).await?.into_iter();
    keys.extend(newer.filter(|key| key.name() == origin));
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let mut trust = Trust::new(&keys.join("\n"))?;
    let note = AnchorFile::new(anchor).read(log, &origin).await;
    let note = note.map_err(|error| not_checked(error.to_string()))?;
    let head = store::head(restored, log).await?;
    let head = head.ok_or_else(|| not_checked(format!("the restored {log} log has no head")))?;
    let (own, note) = match (&head.signed, note) {
        (Some(own), Some(note)) => (own.note.clone(), note),
        (None, None) if head.size == 0 => return Ok(VerifiedLog::default()),
        (None, _) => return Err(not_checked(format!("the restored {log} log has no checkpoint"))),
        (Some(_), None) => {
            let place = anchor.display();
            return Err(not_checked(format!("{place} has no checkpoint of {origin}")));
        }
    };
    trust.add(&own)?;
    let anchored = trust.open(&note)?;
    if anchored.size <= head.size {
        trust.add(&note)?;
    } else {
        let mut connection = service.acquire().await?;
        let trees = ((head.size, head.root), (anchored.size, anchored.root));
        if !extends(&mut connection, log, trees.0, trees.1).await? {
            let fork = Finding { change: Change::Fork, checkpoint: Some(head.size) };
            return Err(NotVerified::Tampered(fork.into()));
        }
        // All records with positions are held against the anchor, whatever checkpoint the dump has.
        trust.add_proven(Checkpoint { origin, size: head.size, root: head.root })?;
    }
    database(&trust, restored, progress).await
}

/// The keys that sign the checkpoints of a log.
async fn signing_keys(pool: &Pool, log: Log) -> sqlx::Result<Vec<VerifierKey>> {
    let keys = read::keys(pool, log).await?.unwrap_or_default();
    Ok(keys.into_iter().filter(|key| !key.kind().is_cosignature()).collect())
}
