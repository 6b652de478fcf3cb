//! What a round of a log seals.

use sqlx::PgConnection;
use tokio::time::Instant;

use super::growth::{OpenLog, RECORDS, SEGMENTS, grow};
use super::stragglers;
use crate::ledger::seal_error::SealError;
use crate::ledger::store::{self, Moment};
use crate::seals::Seals;
use crate::segments::row_key;
use formats::clock::Timestamp;

/// The number of segments that a step reads.
const SEGMENTS_OF_A_STEP: i64 = 2_000;

/// The number of records that a step reads.
const RECORDS_OF_A_STEP: i64 = 5_000;

/// The largest number of either that a step of a log that grows fast reads, so that no round takes long.
const LONGEST_STEP: i64 = 20_000;

/// Seals the segments of recent transactions. Then one of the sweeps continues: those over the segments and those over
/// the records take turns. The more a log grows, the longer are their steps.
pub(super) async fn seal(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    moment: &Moment,
    deadline: Instant,
) -> Result<(), SealError> {
    let until = (moment.now, deadline);
    open.note_generation(row_key(seals)?.newest());
    if open.is_new {
        // On an empty log, the oldest segments go first.
        seal_segments(connection, seals, open, (0, SEGMENTS_OF_A_STEP), until).await?;
        if open.is_new {
            return Ok(());
        }
    }
    let size = open.head.size;
    let recent = seal_recent(connection, seals, open, moment, deadline).await?;
    let (turn, kinds) = (open.turn, SEGMENTS.len() + 1);
    open.turn = turn.wrapping_add(1);
    match turn % kinds {
        place if place < SEGMENTS.len() => {
            // This sweep continues in one of `kinds` rounds.
            let step = recent.saturating_mul(kinds as i64 + 1);
            let step = step.clamp(SEGMENTS_OF_A_STEP, LONGEST_STEP);
            seal_segments(connection, seals, open, (place, step), until).await
        }
        _ => {
            let place = turn / kinds % RECORDS.len();
            let grown = i64::try_from(open.head.size - size).unwrap_or(i64::MAX);
            // This sweep continues in one of `kinds * RECORDS.len()` rounds.
            let step = grown.saturating_mul((kinds * RECORDS.len()) as i64 + 1);
            let step = step.clamp(RECORDS_OF_A_STEP, LONGEST_STEP);
            stragglers::seal(connection, seals, open, (place, step), until).await
        }
    }
}

/// Seals the segments that were committed since the last round, until the deadline. Returns how many it has read.
async fn seal_recent(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    moment: &Moment,
    deadline: Instant,
) -> Result<i64, SealError> {
    let mut read = 0;
    loop {
        let of_log = (open.log, open.head.size);
        let unread = open.recent.unread(moment);
        let slice = store::recent(connection, of_log, unread, SEGMENTS_OF_A_STEP).await?;
        read += i64::try_from(slice.waiting.len()).unwrap_or(i64::MAX);
        grow(connection, seals, open, slice.waiting).await?;
        if open.recent.advance(slice.last) || Instant::now() >= deadline {
            return Ok(read);
        }
    }
}

/// Continues one sweep over the segments, and seals those that wait. It goes on until the deadline while it finds some,
/// and at first until it has reached the present.
async fn seal_segments(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    (place, step): (usize, i64),
    (now, deadline): (Timestamp, Instant),
) -> Result<(), SealError> {
    while let Some(sweep) = open.segments.get_mut(place) {
        let range = (sweep.place(now).first_id(), sweep.end(now));
        let slice = store::slice(connection, open.log, range, step, open.head.size).await?;
        let is_last = sweep.advance(slice.end.map(store::RecordKey::of));
        open.is_new &= !sweep.is_complete();
        let is_idle = sweep.is_complete() && slice.waiting.is_empty();
        grow(connection, seals, open, slice.waiting).await?;
        if is_last || is_idle || Instant::now() >= deadline {
            break;
        }
    }
    Ok(())
}
