//! The records that a log gets.

use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::Instant;

use crate::ledger::head::Head;
use crate::ledger::leaf::{NotARecord, leaf};
use crate::ledger::seal_error::SealError;
use crate::ledger::store::{self, Growth, RecordKey};
use crate::ledger::sweep::{STEP, Sweep};
use crate::ledger::{Log, records};
use formats::clock::Timestamp;
use formats::tlog::{Hash, Tree};

/// The number of records in one transaction.
const BATCH: usize = 1_000;

/// The windows of the sweeps. Records of the first one are sealed within the interval.
pub(super) const WINDOWS: [Option<Duration>; 3] =
    [Some(Duration::from_secs(10)), Some(Duration::from_secs(10 * 60)), None];

/// A log as the sealer knows it.
pub(super) struct OpenLog {
    pub(super) log: Log,
    pub(super) head: Head,
    pub(super) tree: Tree,
    pub(super) sweeps: [Sweep; WINDOWS.len()],
    /// Whether it was empty, so that old records are sealed first.
    pub(super) is_new: bool,
    /// Why the head has no checkpoint, if the latest attempt failed.
    pub(super) unsigned: Option<Unsigned>,
}

/// An attempt to sign that failed.
pub(super) struct Unsigned {
    pub(super) reason: String,
    pub(super) retry_at: Instant,
}

/// Seals the records that the sweeps find, until the deadline.
pub(super) async fn seal(
    connection: &mut PgConnection,
    open: &mut OpenLog,
    now: Timestamp,
    deadline: Instant,
) -> Result<(), SealError> {
    for place in 0..WINDOWS.len() {
        // The last sweep reads all records. On an empty log it goes first.
        let place = if open.is_new { WINDOWS.len() - 1 } else { place };
        while let Some(sweep) = open.sweeps.get_mut(place) {
            let (after, size) = (sweep.place(now), open.head.size);
            let slice = store::slice(connection, open.log, after, STEP, size).await?;
            let is_last = sweep.advance(&slice);
            open.is_new &= !sweep.is_complete();
            for batch in slice.unsealed.chunks(BATCH) {
                grow(connection, open, batch).await?;
            }
            let is_idle = place > 0 && slice.unsealed.is_empty();
            if is_last || is_idle || Instant::now() >= deadline {
                break;
            }
        }
    }
    Ok(())
}

/// Adds a batch of records to a log.
async fn grow(
    connection: &mut PgConnection,
    open: &mut OpenLog,
    batch: &[RecordKey],
) -> Result<(), SealError> {
    let lines = records::lines(connection, open.log, batch).await?;
    let (mut tree, mut growth) = (open.tree.clone(), Growth::default());
    for key in batch {
        // The day of a record that is missing was retired meanwhile.
        let Some(line) = lines.get(&key.id) else {
            continue;
        };
        let leaf = leaf(open.log, line).map_err(|NotARecord| SealError::Record(key.id))?;
        let hash = Hash::of_leaf(&leaf);
        growth.leaves.push((*key, hash));
        tree.append(hash, |node| growth.nodes.push(node));
    }
    if growth.leaves.is_empty() {
        return Ok(());
    }
    let root = tree.root();
    if !store::grow(connection, open.log, &open.head, &growth, root).await? {
        return Err(SealError::Moved);
    }
    open.head.size = tree.size();
    open.head.root = root;
    open.tree = tree;
    Ok(())
}
