//! What a round of a log seals.

use sqlx::PgConnection;
use tokio::time::Instant;

use super::growth::{OpenLog, RECORDS, SEGMENTS, SEGMENTS_OF_A_STEP, grow};
use super::stragglers;
use crate::ledger::seal_error::SealError;
use crate::ledger::store::{self, Moment};
use crate::seals::Seals;
use formats::clock::Timestamp;

/// Seals the segments of recent transactions. Then one of the sweeps continues: those over the segments and those over
/// the records take turns.
pub(super) async fn seal(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    moment: &Moment,
    deadline: Instant,
) -> Result<(), SealError> {
    let sweep = (moment.now, deadline);
    if open.is_new {
        // On an empty log, the oldest segments go first.
        seal_segments(connection, seals, open, 0, sweep).await?;
        if open.is_new {
            return Ok(());
        }
    }
    seal_recent(connection, seals, open, moment, deadline).await?;
    let (turn, kinds) = (open.turn, SEGMENTS.len() + 1);
    open.turn = turn.wrapping_add(1);
    match turn % kinds {
        place if place < SEGMENTS.len() => {
            seal_segments(connection, seals, open, place, sweep).await
        }
        _ => {
            let place = turn / kinds % RECORDS.len();
            stragglers::seal(connection, seals, open, place, sweep).await
        }
    }
}

/// Seals the segments that were committed since the last round, until the deadline.
async fn seal_recent(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    moment: &Moment,
    deadline: Instant,
) -> Result<(), SealError> {
    loop {
        let range = open.recent.range(moment, Instant::now());
        let of_log = (open.log, open.head.size);
        let slice = store::recent(connection, of_log, range, SEGMENTS_OF_A_STEP).await?;
        grow(connection, seals, open, slice.waiting).await?;
        if open.recent.advance(slice.end) || Instant::now() >= deadline {
            return Ok(());
        }
    }
}

/// Continues one sweep over the segments, and seals those that wait. It goes on until the deadline while it finds some,
/// and at first until it has reached the present.
async fn seal_segments(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    place: usize,
    (now, deadline): (Timestamp, Instant),
) -> Result<(), SealError> {
    while let Some(sweep) = open.segments.get_mut(place) {
        let range = (sweep.place(now).first_id(), sweep.end(now));
        let size = open.head.size;
        let slice = store::slice(connection, open.log, range, SEGMENTS_OF_A_STEP, size).await?;
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
