//! The segments of a log that have a position although no instance wrote them.
//!
//! The login of the service can give a position to a segment of its own. The sealer then signs nothing further, so up to
//! a signed checkpoint every segment is genuine, except those that `audit init` accepted with a new origin.

use std::collections::HashSet;

use sqlx::PgConnection;
use uuid::Uuid;

use super::head::Head;
use super::key::SigningKey;
use super::tree::load_tree;
use super::{Log, store};
use crate::db::Pool;
use crate::resource::Rows;
use crate::seals::lost_generations;
use crate::segments::key_of;
use formats::tlog::Checkpoint;

/// The number of positions in one query.
const PAGE: i64 = 2_000;

/// Segments that have a position in a log and that no instance wrote.
#[derive(Default)]
pub(super) struct Foreign {
    pub(super) all: Vec<Uuid>,
    /// Those of them that are forged for certain: no token ever had the key that their MAC names, or the token has it.
    pub(super) forged: Vec<Uuid>,
}

/// The segments that have a position in a log and that no instance wrote. Without the row key, only those that
/// `audit init` accepted are known.
pub(crate) async fn foreign_segments(
    rows: Rows<&mut PgConnection>,
    log: Log,
) -> sqlx::Result<Vec<Uuid>> {
    Ok(foreign(rows, log).await?.all)
}

/// The same, and which of them are forged.
pub(super) async fn foreign(mut rows: Rows<&mut PgConnection>, log: Log) -> sqlx::Result<Foreign> {
    let Some(head) = store::head(&mut *rows.executor, log).await? else {
        return Ok(Foreign::default());
    };
    if rows.seals.current().is_none() {
        let all = store::accepted_segments(rows.executor, log).await?;
        return Ok(Foreign { all, ..Foreign::default() });
    }
    let accepted = store::origin(rows.again(), log).await?;
    let mut start = trusted_size(rows.again(), log, &head).await?;
    let mut foreign = accepted.map_or_else(Foreign::default, |origin| Foreign {
        all: origin.foreign_segments,
        forged: origin.forged_segments,
    });
    while start < head.size {
        let range = start..head.size;
        let found = store::positioned(&mut *rows.executor, log, range, PAGE).await?;
        let Some((base, last)) = found.last() else {
            break;
        };
        let key = key_of(&rows.seals, found.iter().map(|(_, segment)| segment)).await?;
        let lost = lost_generations(&mut *rows.executor, &key).await?;
        let end = base + last.leaves.len().max(1) as u64;
        for (_, segment) in found.iter().filter(|(base, _)| *base >= start) {
            if segment.verify(&key).is_ok() {
                continue;
            }
            foreign.all.push(segment.id);
            if segment.is_forged(&key, &lost) {
                foreign.forged.push(segment.id);
            }
        }
        start = end.max(start + 1);
    }
    Ok(foreign)
}

/// Whether a log has segments that no instance wrote and `audit init` accepted, according to a row that is not verified.
pub async fn has_accepted(pool: &Pool, log: Log) -> sqlx::Result<bool> {
    let mut connection = pool.acquire().await?;
    Ok(!store::accepted_segments(&mut connection, log).await?.is_empty())
}

/// The segments that `audit init` accepted with this origin although they are forged. None without the row key, and none of
/// a former origin, whose checkpoints can cover them.
pub(super) async fn accepted_forgeries(
    rows: Rows<&mut PgConnection>,
    (log, origin): (Log, &str),
) -> sqlx::Result<HashSet<Uuid>> {
    if rows.seals.current().is_none() {
        return Ok(HashSet::new());
    }
    let sealed = store::origin(rows, log).await?.filter(|sealed| sealed.origin == origin);
    Ok(sealed.map_or_else(HashSet::new, |sealed| sealed.forged_segments.into_iter().collect()))
}

/// The number of records in a log whose segments instances wrote: those of the latest checkpoint that the log extends, and
/// those that `audit init` accepted.
pub(super) async fn trusted_size(
    mut rows: Rows<&mut PgConnection>,
    log: Log,
    head: &Head,
) -> sqlx::Result<u64> {
    let origin = store::origin(rows.again(), log).await?;
    let Some(origin) = origin.filter(|origin| origin.origin == head.origin) else {
        return Ok(0);
    };
    let keys = store::keys(rows.again()).await?;
    let latest = latest_checkpoint(rows.executor, log, head, &keys).await?;
    let signed = latest.map_or(0, |checkpoint| checkpoint.size);
    Ok(signed.max(origin.accepted.unsigned_abs().min(head.size)))
}

/// The checkpoint of a log that one of these keys signed, if the log has the tree of it. A signed note can be that of a
/// tree that the database has lost.
pub(super) async fn latest_checkpoint(
    connection: &mut PgConnection,
    log: Log,
    head: &Head,
    keys: &[SigningKey],
) -> sqlx::Result<Option<Checkpoint>> {
    let Some(checkpoint) = head.signed_by(keys).filter(|it| it.size <= head.size) else {
        return Ok(None);
    };
    let tree = load_tree(connection, log, checkpoint.size).await?;
    Ok(tree.is_some_and(|tree| tree.root() == checkpoint.root).then_some(checkpoint))
}
