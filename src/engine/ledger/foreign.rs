//! The segments of a log that have a position although no instance wrote them.
//!
//! The login of the service can give a position to a segment of its own. The sealer then signs nothing further, so up to
//! a signed checkpoint every segment is genuine, except those that `audit init` accepted with a new origin.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Log, store};
use crate::resource::Rows;
use crate::segments::key_of;

/// The number of positions in one query.
const PAGE: i64 = 2_000;

/// The segments that have a position in a log and that no instance wrote. Without the row key, only those that
/// `audit init` accepted are known.
pub(crate) async fn foreign_segments(
    mut rows: Rows<&mut PgConnection>,
    log: Log,
) -> sqlx::Result<Vec<Uuid>> {
    let Some(head) = store::head(&mut *rows.executor, log).await? else {
        return Ok(Vec::new());
    };
    if rows.seals.current().is_none() {
        return store::accepted_segments(rows.executor, log).await;
    }
    let origin = store::origin(rows.again(), log).await?;
    let origin = origin.filter(|origin| origin.origin == head.origin);
    let keys = store::keys(rows.again()).await?;
    let signed = match &origin {
        Some(_) => head.signed_by(&keys).map_or(0, |checkpoint| checkpoint.size),
        None => 0,
    };
    let accepted = origin.as_ref().map_or(0, |origin| origin.accepted.unsigned_abs());
    let mut start = signed.max(accepted);
    let mut foreign = origin.map_or_else(Vec::new, |origin| origin.foreign_segments);
    while start < head.size {
        let range = start..head.size;
        let found = store::positioned(&mut *rows.executor, log, range, PAGE).await?;
        let Some((base, last)) = found.last() else {
            break;
        };
        let key = key_of(&rows.seals, found.iter().map(|(_, segment)| segment)).await?;
        let end = base + last.leaves.len().max(1) as u64;
        let beyond = found.iter().filter(|(base, _)| *base >= start);
        let others = beyond.filter(|(_, segment)| segment.verify(&key).is_err());
        foreign.extend(others.map(|(_, segment)| segment.id));
        start = end.max(start + 1);
    }
    Ok(foreign)
}
