//! One turn of the sweeps of a log.

use sqlx::PgConnection;
use tokio::time::Instant;

use super::growth::{OpenLog, SEGMENTS, grow};
use super::stragglers;
use crate::ledger::seal_error::SealError;
use crate::ledger::store;
use crate::seals::Seals;
use formats::clock::Timestamp;

/// Seals the segments that the sweeps find until the deadline, and then the records without a segment.
pub(super) async fn seal(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &mut OpenLog,
    now: Timestamp,
    deadline: Instant,
) -> Result<(), SealError> {
    for place in 0..SEGMENTS.len() {
        // The last sweep reads all segments. On an empty log it goes first.
        let place = if open.is_new { SEGMENTS.len() - 1 } else { place };
        while let Some(sweep) = open.segments.get_mut(place) {
            let range = (sweep.place(now).first_id(), sweep.end(now));
            let size = open.head.size;
            let slice = store::slice(connection, open.log, range, sweep.step(), size).await?;
            let is_last = sweep.advance(slice.end.map(store::RecordKey::of));
            open.is_new &= !sweep.is_complete();
            let is_idle = place > 0 && slice.waiting.is_empty();
            grow(connection, seals, open, slice.waiting).await?;
            if is_last || is_idle || Instant::now() >= deadline {
                break;
            }
        }
    }
    stragglers::seal(connection, seals, open, now, deadline).await
}
