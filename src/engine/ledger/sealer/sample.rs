//! A sample of the sealed records: their hashes are computed again from their text.

use sqlx::PgConnection;

use super::growth::OpenLog;
use super::stragglers::table;
use crate::ledger::store::RecordKey;
use crate::ledger::{records, store};
use crate::seals::{Flaw, RowName, Seals};
use crate::segments::Segment;

/// Half of the samples are among this many newest records, so that a release that hashes another text is noticed soon.
const LAST: u64 = 1_000;

/// Hashes the records of one sealed segment again. A difference is a finding: the record was changed, or the audit
/// writer hashed another text than Postgres returns.
pub(super) async fn check(
    connection: &mut PgConnection,
    seals: &Seals,
    open: &OpenLog,
) -> sqlx::Result<()> {
    let random = store::random(&mut *connection).await?;
    let first = if random % 2 == 0 { 0 } else { open.head.size.saturating_sub(LAST) };
    let Some(place) = (random / 2).checked_rem(open.head.size - first) else {
        return Ok(());
    };
    let index = first + place;
    let found = store::positioned(&mut *connection, open.log, index..index + 1, i64::MAX).await?;
    let has_index = |(base, segment): &(u64, Segment)| {
        (*base..*base + segment.leaves.len() as u64).contains(&index)
    };
    // A foreign segment seals no record, also if it names one.
    let own = found.into_iter().filter(|(_, segment)| !open.foreign.contains(&segment.id));
    for (_, segment) in own.filter(has_index) {
        let keys: Vec<_> = segment.leaves.iter().map(|(id, _)| RecordKey::of(*id)).collect();
        // The others were retired, or are missing, as verification shows.
        let existing = records::read(connection, open.log, &keys).await?;
        for (id, hash) in segment.leaves {
            let record = existing.get(&id).filter(|record| record.is_of_known_type());
            if record.is_some_and(|record| record.hash() != Some(hash)) {
                let row = RowName { table: table(open.log), id };
                seals.note(row, Flaw::Forged)?;
            }
        }
    }
    Ok(())
}
