//! The trees of the logs.

use std::ops::Range;

use sqlx::{Connection as _, PgConnection, PgExecutor};

use super::records::RecordKey;
use super::{hash, number, signed_number};
use crate::ledger::Log;
use crate::ledger::head::Head;
use formats::tlog::{Hash, Node};

/// The new rows of a batch of records.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Growth {
    pub(in crate::ledger) leaves: Vec<(RecordKey, Hash)>,
    pub(in crate::ledger) nodes: Vec<Node>,
}

/// Hashes of a level of tiles. Fewer than the range has if some are missing.
pub(in crate::ledger) async fn hashes(
    database: impl PgExecutor<'_>,
    log: Log,
    level: u8,
    places: Range<u64>,
) -> sqlx::Result<Vec<Hash>> {
    let sql = match level {
        0 => {
            "SELECT leaf_hash FROM audit_log_index
               WHERE log = $1 AND $4 = 0 AND log_index >= $2 AND log_index < $3 ORDER BY log_index"
        }
        _ => {
            "SELECT hash FROM audit_log_nodes
               WHERE log = $1 AND level = $4 AND place >= $2 AND place < $3 ORDER BY place"
        }
    };
    let rows: Vec<Vec<u8>> = sqlx::query_scalar(sql)
        .bind(number(log))
        .bind(signed_number(places.start))
        .bind(signed_number(places.end))
        .bind(i16::from(level))
        .fetch_all(database)
        .await?;
    rows.iter().map(|bytes| hash(bytes)).collect()
}

/// Adds records to a log whose head is `old`, in one transaction. False if the head is another one;
/// then nothing changes.
pub(in crate::ledger) async fn grow(
    connection: &mut PgConnection,
    log: Log,
    old: &Head,
    growth: &Growth,
    root: Hash,
) -> sqlx::Result<bool> {
    let mut transaction = connection.begin().await?;
    let start = signed_number(old.size);
    let size = start.saturating_add(i64::try_from(growth.leaves.len()).unwrap_or(i64::MAX));
    let moved = sqlx::query(
        "UPDATE audit_log_heads SET size = $5, root = $6
          WHERE log = $1 AND origin = $2 AND size = $3 AND root = $4",
    )
    .bind(number(log))
    .bind(&old.origin)
    .bind(start)
    .bind(old.root.as_bytes())
    .bind(size)
    .bind(root.as_bytes())
    .execute(&mut *transaction)
    .await?;
    if moved.rows_affected() != 1 {
        return Ok(false);
    }
    let leaves = &growth.leaves;
    sqlx::query(
        "INSERT INTO audit_log_index (log, log_index, record_ts, record_id, leaf_hash)
         SELECT $1, $2 + place - 1, ts, id, hash
           FROM UNNEST($3::timestamptz[], $4::uuid[], $5::bytea[]) WITH ORDINALITY
                AS leaf (ts, id, hash, place)",
    )
    .bind(number(log))
    .bind(start)
    .bind(leaves.iter().map(|(key, _)| key.ts).collect::<Vec<_>>())
    .bind(leaves.iter().map(|(key, _)| key.id).collect::<Vec<_>>())
    .bind(leaves.iter().map(|(_, hash)| hash.as_bytes().as_slice()).collect::<Vec<_>>())
    .execute(&mut *transaction)
    .await?;
    let nodes = &growth.nodes;
    sqlx::query(
        "INSERT INTO audit_log_nodes (log, level, place, hash)
         SELECT $1, level, place, hash FROM UNNEST($2::int2[], $3::int8[], $4::bytea[])
                AS node (level, place, hash)",
    )
    .bind(number(log))
    .bind(nodes.iter().map(|node| i16::from(node.level)).collect::<Vec<_>>())
    .bind(nodes.iter().map(|node| signed_number(node.index)).collect::<Vec<_>>())
    .bind(nodes.iter().map(|node| node.hash.as_bytes().as_slice()).collect::<Vec<_>>())
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(true)
}
