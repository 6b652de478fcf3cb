//! The trees of the logs.

use std::ops::Range;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::segments::sealed;
use super::{hash, natural, signed_number};
use crate::ledger::Log;
use crate::ledger::head::Head;
use formats::tlog::{Hash, Node};

/// The new rows of some segments.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Growth {
    pub(in crate::ledger) segments: Vec<Uuid>,
    pub(in crate::ledger) nodes: Vec<Node>,
}

impl Growth {
    /// The levels, places and hashes of the nodes.
    pub(super) fn columns(&self) -> (Vec<i16>, Vec<i64>, Vec<&[u8]>) {
        let nodes = self.nodes.iter();
        let levels = nodes.clone().map(|node| i16::from(node.level)).collect();
        let places = nodes.clone().map(|node| signed_number(node.index)).collect();
        (levels, places, nodes.map(|node| node.hash.as_bytes().as_slice()).collect())
    }
}

/// Hashes of a level of tiles. Fewer than the range has if some are missing.
pub(in crate::ledger) async fn hashes(
    database: impl PgExecutor<'_>,
    log: Log,
    level: u8,
    places: Range<u64>,
) -> sqlx::Result<Vec<Hash>> {
    if level == 0 {
        let sealed = sealed(database, log, places.clone()).await?;
        let in_order = sealed.iter().zip(places).take_while(|(it, place)| it.index == *place);
        return Ok(in_order.map(|(it, _)| it.leaf_hash).collect());
    }
    let rows: Vec<Vec<u8>> = sqlx::query_scalar(
        "SELECT hash FROM audit_log_nodes
          WHERE log = $1 AND level = $4 AND place >= $2 AND place < $3 ORDER BY place",
    )
    .bind(log.number())
    .bind(signed_number(places.start))
    .bind(signed_number(places.end))
    .bind(i16::from(level))
    .fetch_all(database)
    .await?;
    rows.iter().map(|bytes| hash(bytes)).collect()
}

/// Gives segments positions in a log whose head is `old`, in one transaction. Returns the new size. None if the head
/// is another one; then nothing changes.
pub(in crate::ledger) async fn grow(
    connection: &mut PgConnection,
    log: Log,
    old: &Head,
    growth: &Growth,
    root: Hash,
) -> sqlx::Result<Option<u64>> {
    let (levels, places, hashes) = growth.columns();
    let size: Option<i64> =
        sqlx::query_scalar("SELECT seal_audit_segments($1, $2, $3, $4, $5, $6, $7, $8, $9)")
            .bind(log.number())
            .bind(&old.origin)
            .bind(signed_number(old.size))
            .bind(old.root.as_bytes())
            .bind(root.as_bytes())
            .bind(&growth.segments)
            .bind(levels)
            .bind(places)
            .bind(hashes)
            .fetch_one(connection)
            .await?;
    size.map(natural).transpose()
}
