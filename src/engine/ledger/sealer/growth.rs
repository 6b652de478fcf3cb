//! The segments that a log gets.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::Instant;
use uuid::Uuid;

use super::recent::Recent;
use crate::ledger::Log;
use crate::ledger::head::Head;
use crate::ledger::positioned::{append, is_own};
use crate::ledger::seal_error::SealError;
use crate::ledger::store::{self, Growth, Moment};
use crate::ledger::sweep::Sweep;
use crate::seals::Seals;
use crate::segments::{Segment, key_of};
use formats::clock::Timestamp;
use formats::tlog::Tree;

/// The number of records in one transaction, without those of its last segment.
const BATCH: usize = 10_000;

/// The windows of the sweeps over the segments.
pub(super) const SEGMENTS: [Option<Duration>; 2] = [None, Some(Duration::from_secs(10 * 60))];

/// The windows of the sweeps over the records.
pub(super) const RECORDS: [Option<Duration>; 3] =
    [None, Some(Duration::from_secs(10 * 60)), Some(Duration::from_secs(10))];

/// How much older than the newest sealed segment those are that wait when a sealer starts, except for a few. The
/// statements of instances end within half of it.
const LATE: Duration = Duration::from_secs(2 * 60);

/// A log as the sealer knows it.
pub(super) struct OpenLog {
    pub(super) log: Log,
    pub(super) head: Head,
    pub(super) tree: Tree,
    /// The segments with a position that no instance wrote, and that seal no record.
    pub(super) foreign: HashSet<Uuid>,
    pub(super) recent: Recent,
    /// The sweeps over the segments, which find those that `recent` passed over, and over the records, which find those
    /// without a segment. One of them continues in each round.
    pub(super) segments: [Sweep; SEGMENTS.len()],
    pub(super) records: [Sweep; RECORDS.len()],
    /// The number of these rounds so far.
    pub(super) turn: usize,
    /// The newest generation of the row key in the last round.
    generation: u32,
    /// The number of records without a segment that it got, and that the status does not have yet.
    pub(super) stragglers: u64,
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

impl OpenLog {
    /// The sweep over all time starts before the `newest` segment with a position, because most segments that wait are
    /// newer.
    pub(super) fn new(
        log: Log,
        (head, tree): (Head, Tree),
        foreign: HashSet<Uuid>,
        (moment, newest): (Moment, Option<Timestamp>),
    ) -> Self {
        let first = newest.map(|ts| ts.minus(LATE));
        Self {
            log,
            is_new: head.size == 0,
            head,
            tree,
            foreign,
            recent: Recent::new(moment),
            segments: SEGMENTS.map(|window| match window {
                Some(_) => Sweep::new(window),
                None => Sweep::of_all(first),
            }),
            records: RECORDS.map(Sweep::new),
            turn: 0,
            generation: 0,
            stragglers: 0,
            unsigned: None,
        }
    }

    /// Segments under a generation that the tokens lacked were passed over. So a new one begins the sweep over the last
    /// minutes again.
    pub(super) fn note_generation(&mut self, newest: u32) {
        if self.generation != newest {
            self.generation = newest;
            let [_, minutes] = &mut self.segments;
            minutes.restart();
        }
    }
}

/// Gives positions to those of these segments that an instance wrote. The others are findings, and their records
/// have no segment.
pub(super) async fn grow(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    waiting: Vec<Segment>,
) -> Result<(), SealError> {
    if waiting.is_empty() {
        return Ok(());
    }
    let key = key_of(seals, waiting.iter()).await?;
    let mut batch = Vec::new();
    let mut records = 0;
    for segment in waiting.into_iter().filter(|segment| is_own(seals, &key, segment)) {
        records += segment.leaves.len();
        batch.push(segment);
        if records >= BATCH {
            add(connection, open, &batch).await?;
            batch.clear();
            records = 0;
        }
    }
    match batch.is_empty() {
        true => Ok(()),
        false => add(connection, open, &batch).await,
    }
}

/// Adds segments to a log, in one transaction.
async fn add(
    connection: &mut PgConnection,
    open: &mut OpenLog,
    batch: &[Segment],
) -> Result<(), SealError> {
    let (mut tree, mut growth) = (open.tree.clone(), Growth::default());
    for segment in batch {
        growth.segments.push(segment.id);
        append(&mut tree, segment, &mut growth);
    }
    let root = tree.root();
    let size = store::grow(connection, open.log, &open.head, &growth, root).await?;
    if size.is_none() {
        return Err(moved(connection, open).await?);
    }
    open.head.size = tree.size();
    open.head.root = root;
    open.tree = tree;
    Ok(())
}

/// Fails if the head is another one. A connection that ended has lost the lock, and another instance may seal.
pub(super) async fn check_unmoved(
    connection: &mut PgConnection,
    open: &OpenLog,
) -> Result<(), SealError> {
    let head = store::head(&mut *connection, open.log).await?;
    match head.is_some_and(|head| head.checkpoint() == open.head.checkpoint()) {
        true => Ok(()),
        false => Err(moved(connection, open).await?),
    }
}

/// Why the head is another one. The connection has the lock, so that no other instance seals: only `audit init` gives
/// the log another origin meanwhile.
async fn moved(connection: &mut PgConnection, open: &OpenLog) -> sqlx::Result<SealError> {
    let head = store::head(connection, open.log).await?;
    let is_renewed = head.is_some_and(|head| head.origin != open.head.origin);
    Ok(if is_renewed { SealError::Renewed } else { SealError::Moved(open.log) })
}
