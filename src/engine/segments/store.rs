//! Segments in Postgres.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection, PgExecutor, Postgres, Row as _};
use uuid::Uuid;

use super::place::Place;
use super::segment::{Leaf, Segment};
use super::{Log, SegmentRows};
use crate::db::undecodable;
use formats::tlog::Hash;

type PgQuery<'q> = Query<'q, Postgres, PgArguments>;

/// A segment in Postgres, of the log that the query names.
#[derive(Debug)]
pub(crate) struct SegmentRow {
    id: Uuid,
    leaves: Vec<Leaf>,
    mac: Vec<u8>,
}

impl SegmentRow {
    pub(crate) fn of(self, log: Log) -> Segment {
        Segment { log, id: self.id, leaves: self.leaves, mac: self.mac }
    }
}

impl FromRow<'_, PgRow> for SegmentRow {
    /// A row whose arrays do not have the same length is no segment, and has no leaves.
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let ids: Vec<Uuid> = row.try_get("ids").unwrap_or_default();
        let hashes: &[u8] = row.try_get("hashes")?;
        let (hashes, rest) = hashes.as_chunks();
        let is_whole = rest.is_empty() && ids.len() == hashes.len();
        let leaves = ids.into_iter().zip(hashes).map(|(id, hash)| (id, Hash::from_bytes(*hash)));
        let leaves = if is_whole { leaves.collect() } else { Vec::new() };
        Ok(Self { id: row.try_get("id")?, leaves, mac: row.try_get("mac")? })
    }
}

/// The statement that inserts segments, with its parameters from this number on ([`SegmentRows::bound`]). It inserts
/// nothing under a former generation of the row key.
pub(crate) fn insertion(first: u8) -> String {
    let [log, ids, hashes, firsts, lasts, names, macs, generation] =
        [0, 1, 2, 3, 4, 5, 6, 7].map(|place| format!("${}", first + place));
    format!(
        "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
         SELECT {log}, part.id, ({ids}::uuid[])[first:last],
                substr({hashes}::bytea, 32 * first - 31, 32 * (last - first + 1)), part.mac
           FROM UNNEST({firsts}::int[], {lasts}::int[], {names}::uuid[], {macs}::bytea[])
                AS part (first, last, id, mac)
          WHERE NOT EXISTS (SELECT FROM row_keys WHERE generation > {generation})"
    )
}

impl SegmentRows {
    /// The query with the parameters of [`insertion`].
    pub(crate) fn bound(self, query: PgQuery<'_>) -> PgQuery<'_> {
        query
            .bind(self.log.number())
            .bind(self.ids)
            .bind(self.hashes)
            .bind(self.first)
            .bind(self.last)
            .bind(self.names)
            .bind(self.macs)
            .bind(i64::from(self.generation))
    }
}

/// Inserts segments. Returns whether it did: another generation of the row key can seal since.
pub(crate) async fn insert(database: impl PgExecutor<'_>, rows: SegmentRows) -> sqlx::Result<bool> {
    let statement = insertion(1);
    let inserted = rows.bound(sqlx::query(AssertSqlSafe(statement))).execute(database).await?;
    Ok(inserted.rows_affected() > 0)
}

/// The position of the record `id` in its log, as the column `place` of [`Placed`](super::Placed).
pub(crate) const fn place_column(log: Log) -> &'static str {
    match log {
        Log::Operations => {
            "(SELECT int8send(log_index) || leaf_hash FROM audit_log_places(1::smallint, id) LIMIT 1) AS place"
        }
        Log::Management => {
            "(SELECT int8send(log_index) || leaf_hash FROM audit_log_places(2::smallint, id) LIMIT 1) AS place"
        }
    }
}

/// All positions of a record in a log, with their segments.
pub(super) async fn places(
    connection: &mut PgConnection,
    log: Log,
    id: Uuid,
) -> sqlx::Result<Vec<(Place, Segment)>> {
    let rows = sqlx::query(
        "SELECT int8send(p.log_index) || p.leaf_hash AS place, s.id, s.ids, s.hashes, s.mac
           FROM audit_log_places($1, $2) p JOIN audit_log_segments s ON s.log = $1 AND s.id = p.segment",
    )
    .bind(log.number())
    .bind(id)
    .fetch_all(connection)
    .await?;
    let places = rows.iter().map(|row| {
        let place: Option<Place> = row.try_get("place")?;
        let place = place.ok_or_else(|| undecodable("a position without a hash"))?;
        Ok((place, SegmentRow::from_row(row)?.of(log)))
    });
    places.collect()
}

/// Waits for transactions that write segments under a former generation of the row key.
pub(super) async fn wait_for_writers(connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    sqlx::query("LOCK TABLE audit_log_segments IN SHARE ROW EXCLUSIVE MODE")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

/// The segments after `after` that have no position.
pub(super) async fn without_position(
    connection: &mut PgConnection,
    log: Log,
    after: Uuid,
    limit: i64,
) -> sqlx::Result<Vec<Segment>> {
    let found: Vec<SegmentRow> = sqlx::query_as(
        "SELECT s.id, s.ids, s.hashes, s.mac FROM audit_log_segments s
          WHERE s.log = $1 AND s.id > $2 AND NOT EXISTS (
                    SELECT FROM audit_log_positions p WHERE p.log = s.log AND p.segment = s.id)
          ORDER BY s.id LIMIT $3",
    )
    .bind(log.number())
    .bind(after)
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(found.into_iter().map(|row| row.of(log)).collect())
}

/// The segments after `after` that another generation than this one has authenticated.
pub(super) async fn of_other_generations(
    connection: &mut PgConnection,
    (log, after): (Log, Uuid),
    generation: u32,
    limit: i64,
) -> sqlx::Result<Vec<Segment>> {
    let found: Vec<SegmentRow> = sqlx::query_as(
        "SELECT id, ids, hashes, mac FROM audit_log_segments
          WHERE log = $1 AND id > $2 AND substr(mac, 1, 4) <> $3 ORDER BY id LIMIT $4",
    )
    .bind(log.number())
    .bind(after)
    .bind(generation.to_be_bytes())
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(found.into_iter().map(|row| row.of(log)).collect())
}

/// Replaces the MACs of segments, as the owner. Returns their number.
pub(super) async fn put_macs(
    connection: &mut PgConnection,
    log: Log,
    (ids, macs): (&[Uuid], &[Vec<u8>]),
) -> sqlx::Result<u64> {
    let updated = sqlx::query(
        "UPDATE audit_log_segments s SET mac = named.mac FROM unnest($2, $3) AS named (id, mac)
          WHERE s.log = $1 AND s.id = named.id",
    )
    .bind(log.number())
    .bind(ids)
    .bind(macs)
    .execute(connection)
    .await?;
    Ok(updated.rows_affected())
}

/// Removes those of these segments that have no position. Returns their identifiers.
pub(super) async fn remove(
    connection: &mut PgConnection,
    log: Log,
    ids: &[Uuid],
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar(
        "DELETE FROM audit_log_segments s WHERE s.log = $1 AND s.id = ANY ($2) AND NOT EXISTS (
                SELECT FROM audit_log_positions p WHERE p.log = s.log AND p.segment = s.id)
         RETURNING s.id",
    )
    .bind(log.number())
    .bind(ids)
    .fetch_all(connection)
    .await
}
