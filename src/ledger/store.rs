//! The logs in Postgres.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, PgExecutor};
use uuid::Uuid;

use super::Log;
use super::head::{Growth, Head, Signed};
use super::key::SigningKey;
use super::status::WitnessStatus;
use crate::clock::Timestamp;
use crate::db::{Pool, undecodable};
use crate::tlog::Hash;

/// The application name of the connection that seals.
pub(super) const SEALER: &str = "sealward sealer";

/// What identifies a record in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordKey {
    pub(super) ts: Timestamp,
    pub(super) id: Uuid,
}

/// A sealed record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    pub(super) index: u64,
    pub(super) key: RecordKey,
    pub(super) leaf_hash: Hash,
}

/// The number of a log in the tables.
pub(super) const fn number(log: Log) -> i16 {
    match log {
        Log::Operations => 1,
        Log::Management => 2,
    }
}

pub(super) fn signed_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn natural(number: i64) -> sqlx::Result<u64> {
    u64::try_from(number).map_err(undecodable)
}

fn hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    Hash::try_from(bytes).map_err(undecodable)
}

/// A connection for the sealer.
pub(super) async fn connect(pool: &Pool) -> sqlx::Result<PgConnection> {
    let options = pool.connect_options().as_ref().clone();
    let mut connection = options.application_name(SEALER).connect().await?;
    // A head that is signed must not be lost. The server may demand more, not less.
    let durable = "SELECT set_config('synchronous_commit', 'on', false)
                    WHERE current_setting('synchronous_commit') IN ('off', 'local')";
    sqlx::query(durable).execute(&mut connection).await?;
    Ok(connection)
}

/// Takes the lock of the sealer, unless another instance has it. The server releases it when the
/// connection ends.
pub(super) async fn lock(connection: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtext('audit_log_heads'), 0)")
        .fetch_one(connection)
        .await
}

/// The time of the database.
pub(super) async fn now(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(database)
        .await
}

#[derive(sqlx::FromRow)]
struct HeadRow {
    origin: String,
    size: i64,
    root: Vec<u8>,
    checkpoint: Option<String>,
    checkpoint_size: i64,
    checkpoint_at: Option<Timestamp>,
    cosigned: Option<String>,
    cosigned_size: i64,
    cosigned_at: Option<Timestamp>,
}

/// The head of a log. None before `audit init`.
pub(super) async fn head(database: impl PgExecutor<'_>, log: Log) -> sqlx::Result<Option<Head>> {
    let row: Option<HeadRow> = sqlx::query_as(
        "SELECT origin, size, root, checkpoint, checkpoint_size, checkpoint_at,
                cosigned, cosigned_size, cosigned_at
           FROM audit_log_heads WHERE log = $1",
    )
    .bind(number(log))
    .fetch_optional(database)
    .await?;
    row.map(|row| {
        let size = natural(row.checkpoint_size)?;
        let signed = row.checkpoint.zip(row.checkpoint_at);
        let cosigned_size = natural(row.cosigned_size)?;
        let cosigned = row.cosigned.zip(row.cosigned_at);
        Ok(Head {
            origin: row.origin,
            size: natural(row.size)?,
            root: hash(&row.root)?,
            signed: signed.map(|(note, at)| Signed { note, size, at }),
            cosigned: cosigned.map(|(note, at)| Signed {
                note,
                size: cosigned_size,
                at,
            }),
        })
    })
    .transpose()
}

/// The signing keys, newest first.
pub(super) async fn keys(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<SigningKey>> {
    let rows: Vec<(Uuid, Vec<u8>)> = sqlx::query_as(
        "SELECT id, public_key FROM audit_log_keys ORDER BY created_at DESC, id DESC",
    )
    .fetch_all(database)
    .await?;
    rows.into_iter()
        .map(|(id, spki)| {
            SigningKey::new(id, &spki)
                .ok_or_else(|| undecodable("not a key that signs checkpoints"))
        })
        .collect()
}

/// Records a signing key.
pub(super) async fn insert_key(
    connection: &mut PgConnection,
    id: Uuid,
    spki: &[u8],
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO audit_log_keys (id, public_key, created_at) VALUES ($1, $2, $3)")
        .bind(id)
        .bind(spki)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

/// Begins a log, or continues it under another origin. Its latest checkpoint is then none.
pub(super) async fn put_origin(
    connection: &mut PgConnection,
    log: Log,
    origin: &str,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO audit_log_heads (log, origin, size, root) VALUES ($1, $2, 0, $3)
         ON CONFLICT (log) DO UPDATE SET origin = EXCLUDED.origin, checkpoint = NULL,
                                         checkpoint_size = 0, checkpoint_at = NULL,
                                         published = NULL, published_size = 0, published_at = NULL,
                                         cosigned = NULL, cosigned_size = 0, cosigned_at = NULL",
    )
    .bind(number(log))
    .bind(origin)
    .bind(Hash::of_empty_tree().as_bytes())
    .execute(connection)
    .await?;
    Ok(())
}

/// Serializes runs of `audit init`, until the transaction ends.
pub(super) async fn lock_init(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext('audit_log_heads'), 1)")
        .execute(connection)
        .await?;
    Ok(())
}

/// Hashes of a level of tiles. Fewer than the range has if some are missing.
pub(super) async fn hashes(
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

/// The records after the key `$1`, `$2`, at most `$3`, in the order of an index. Identifiers of management
/// events begin with their time.
const fn records_after(log: Log) -> &'static str {
    match log {
        Log::Operations => {
            "SELECT ts, id, row_number() OVER (ORDER BY ts, id) AS place FROM crypto_operations_audit
              WHERE ts >= $1 AND (ts, id) > ($1, $2) ORDER BY ts, id LIMIT $3"
        }
        Log::Management => {
            "SELECT at AS ts, id, row_number() OVER (ORDER BY id) AS place FROM management_events
              WHERE id > $2 AND $1::timestamptz IS NOT NULL ORDER BY id LIMIT $3"
        }
    }
}

/// The first identifier of records with the time of this key, unless the key names a record.
fn first_id(key: RecordKey) -> Uuid {
    let millis = u128::try_from(key.ts.as_millis()).unwrap_or_default();
    if key.id.is_nil() {
        Uuid::from_u128(millis << 80)
    } else {
        key.id
    }
}

/// A part of the records in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Slice {
    /// The records without a position in their log.
    pub(super) unsealed: Vec<RecordKey>,
    /// The last record of the part. None if there are no more records after the part.
    pub(super) end: Option<RecordKey>,
}

/// The `limit` records after `after`. Only committed records are visible, so the order of commits does
/// not matter.
pub(super) async fn slice(
    connection: &mut PgConnection,
    log: Log,
    after: RecordKey,
    limit: i64,
) -> sqlx::Result<Slice> {
    let id = match log {
        Log::Operations => after.id,
        Log::Management => first_id(after),
    };
    let sql = format!(
        "WITH slice AS MATERIALIZED ({}),
         marked AS (
             SELECT *, EXISTS (SELECT FROM audit_log_index i WHERE i.record_id = slice.id) AS sealed
               FROM slice)
         SELECT ts, id, sealed, place = $3 FROM marked WHERE NOT sealed OR place = $3 ORDER BY place",
        records_after(log)
    );
    let rows: Vec<(Timestamp, Uuid, bool, bool)> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(after.ts)
        .bind(id)
        .bind(limit)
        .fetch_all(connection)
        .await?;
    let mut slice = Slice::default();
    for (ts, id, is_sealed, is_last) in rows {
        let key = RecordKey { ts, id };
        if !is_sealed {
            slice.unsealed.push(key);
        }
        if is_last {
            slice.end = Some(key);
        }
    }
    Ok(slice)
}

/// Adds records to a log whose head is `old`, in one transaction. False if the head is another one;
/// then nothing changes.
pub(super) async fn grow(
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
    .bind(
        leaves
            .iter()
            .map(|(_, hash)| hash.as_bytes().as_slice())
            .collect::<Vec<_>>(),
    )
    .execute(&mut *transaction)
    .await?;
    let nodes = &growth.nodes;
    sqlx::query(
        "INSERT INTO audit_log_nodes (log, level, place, hash)
         SELECT $1, level, place, hash FROM UNNEST($2::int2[], $3::int8[], $4::bytea[])
                AS node (level, place, hash)",
    )
    .bind(number(log))
    .bind(
        nodes
            .iter()
            .map(|node| i16::from(node.level))
            .collect::<Vec<_>>(),
    )
    .bind(
        nodes
            .iter()
            .map(|node| signed_number(node.index))
            .collect::<Vec<_>>(),
    )
    .bind(
        nodes
            .iter()
            .map(|node| node.hash.as_bytes().as_slice())
            .collect::<Vec<_>>(),
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(true)
}

/// Stores a signed checkpoint. It never replaces a newer one.
pub(super) async fn put_checkpoint(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    signed: &Signed,
) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE audit_log_heads SET checkpoint = $3, checkpoint_size = $4, checkpoint_at = $5
          WHERE log = $1 AND origin = $2 AND checkpoint_size <= $4 AND size >= $4",
    )
    .bind(number(log))
    .bind(origin)
    .bind(&signed.note)
    .bind(signed_number(signed.size))
    .bind(signed.at)
    .execute(database)
    .await?;
    Ok(())
}

/// Stores a checkpoint with cosignatures. `plain` is the note without the new ones. It never replaces a
/// checkpoint of a larger tree.
pub(super) async fn put_cosigned(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    plain: &str,
    signed: &Signed,
) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE audit_log_heads
            SET checkpoint = CASE WHEN checkpoint = $3 THEN $4 ELSE checkpoint END,
                cosigned = $4, cosigned_size = $5, cosigned_at = $6
          WHERE log = $1 AND origin = $2 AND cosigned_size <= $5 AND checkpoint_size >= $5",
    )
    .bind(number(log))
    .bind(origin)
    .bind(plain)
    .bind(&signed.note)
    .bind(signed_number(signed.size))
    .bind(signed.at)
    .execute(database)
    .await?;
    Ok(())
}

/// The latest answers of the witnesses of a log.
pub(super) async fn witnesses(
    database: impl PgExecutor<'_>,
    log: Log,
) -> sqlx::Result<Vec<WitnessStatus>> {
    let rows: Vec<(String, i64, Option<Timestamp>, Option<String>)> = sqlx::query_as(
        "SELECT witness, size, cosigned_at, failure FROM audit_log_witnesses WHERE log = $1",
    )
    .bind(number(log))
    .fetch_all(database)
    .await?;
    rows.into_iter()
        .map(|(name, size, cosigned_at, failure)| {
            Ok(WitnessStatus {
                name,
                size: natural(size)?,
                cosigned_at,
                failure,
            })
        })
        .collect()
}

/// Records the answer of a witness. After a failure, the latest cosignature stays.
pub(super) async fn put_witness(
    database: impl PgExecutor<'_>,
    log: Log,
    witness: &WitnessStatus,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO audit_log_witnesses (log, witness, size, cosigned_at, failure)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (log, witness) DO UPDATE
            SET size = CASE WHEN $5::text IS NULL THEN EXCLUDED.size ELSE audit_log_witnesses.size END,
                cosigned_at = coalesce(EXCLUDED.cosigned_at, audit_log_witnesses.cosigned_at),
                failure = EXCLUDED.failure",
    )
    .bind(number(log))
    .bind(&witness.name)
    .bind(signed_number(witness.size))
    .bind(witness.cosigned_at)
    .bind(&witness.failure)
    .execute(database)
    .await?;
    Ok(())
}

/// Publishes a checkpoint, unless the published one is newer than the interval. It never replaces one
/// of a larger tree.
pub(super) async fn publish(
    database: impl PgExecutor<'_>,
    log: Log,
    origin: &str,
    signed: &Signed,
    interval: Duration,
) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE audit_log_heads SET published = $3, published_size = $4, published_at = clock_timestamp()
          WHERE log = $1 AND origin = $2 AND published_size <= $4 AND checkpoint_size >= $4
            AND published IS DISTINCT FROM $3
            AND (published_at IS NULL OR published_at <= clock_timestamp() - make_interval(secs => $5))",
    )
    .bind(number(log))
    .bind(origin)
    .bind(&signed.note)
    .bind(signed_number(signed.size))
    .bind(interval.as_secs_f64())
    .execute(database)
    .await?;
    Ok(())
}

/// The published checkpoint of a log and the size of its tree.
pub(super) async fn published(
    database: impl PgExecutor<'_>,
    log: Log,
) -> sqlx::Result<Option<(String, u64)>> {
    let row: Option<(String, i64)> = sqlx::query_as(
        "SELECT published, published_size FROM audit_log_heads
          WHERE log = $1 AND published IS NOT NULL",
    )
    .bind(number(log))
    .fetch_optional(database)
    .await?;
    row.map(|(note, size)| Ok((note, natural(size)?)))
        .transpose()
}

#[derive(sqlx::FromRow)]
struct SealedRow {
    log_index: i64,
    record_ts: Timestamp,
    record_id: Uuid,
    leaf_hash: Vec<u8>,
}

impl TryFrom<SealedRow> for Sealed {
    type Error = sqlx::Error;

    fn try_from(row: SealedRow) -> sqlx::Result<Self> {
        Ok(Self {
            index: natural(row.log_index)?,
            key: RecordKey {
                ts: row.record_ts,
                id: row.record_id,
            },
            leaf_hash: hash(&row.leaf_hash)?,
        })
    }
}

/// Sealed records of a log, in its order.
pub(super) async fn sealed(
    database: impl PgExecutor<'_>,
    log: Log,
    indexes: Range<u64>,
) -> sqlx::Result<Vec<Sealed>> {
    let rows: Vec<SealedRow> = sqlx::query_as(
        "SELECT log_index, record_ts, record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND log_index >= $2 AND log_index < $3 ORDER BY log_index",
    )
    .bind(number(log))
    .bind(signed_number(indexes.start))
    .bind(signed_number(indexes.end))
    .fetch_all(database)
    .await?;
    rows.into_iter().map(Sealed::try_from).collect()
}

/// A record in a log, if it is sealed.
pub(super) async fn sealed_record(
    database: impl PgExecutor<'_>,
    log: Log,
    id: Uuid,
) -> sqlx::Result<Option<Sealed>> {
    let row: Option<SealedRow> = sqlx::query_as(
        "SELECT log_index, record_ts, record_id, leaf_hash FROM audit_log_index
          WHERE log = $1 AND record_id = $2",
    )
    .bind(number(log))
    .bind(id)
    .fetch_optional(database)
    .await?;
    row.map(Sealed::try_from).transpose()
}

/// The number of records after the newest sealed one, up to `limit`.
pub(super) async fn count_newer(
    database: impl PgExecutor<'_>,
    log: Log,
    limit: i64,
) -> sqlx::Result<u64> {
    let newer = match log {
        Log::Operations => {
            "SELECT FROM crypto_operations_audit WHERE ts > coalesce((SELECT record_ts FROM newest), '-infinity')"
        }
        Log::Management => {
            "SELECT FROM management_events
              WHERE id > coalesce((SELECT record_id FROM newest), '00000000-0000-0000-0000-000000000000')"
        }
    };
    let sql = format!(
        "WITH newest AS (SELECT record_ts, record_id FROM audit_log_index
                          WHERE log = $1 ORDER BY log_index DESC LIMIT 1)
         SELECT count(*) FROM ({newer} LIMIT $2) AS newer"
    );
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(number(log))
        .bind(limit)
        .fetch_one(database)
        .await?;
    natural(count)
}

/// The starts of the days in the audit log of operations.
pub(super) async fn attached_days(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<HashSet<Timestamp>> {
    let sql = "SELECT to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC'
                 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'crypto_operations_audit'::regclass";
    let days: Vec<Timestamp> = sqlx::query_scalar(sql).fetch_all(database).await?;
    Ok(days.into_iter().collect())
}

/// The start of the oldest day that retention must keep.
pub(super) async fn kept_from(database: impl PgExecutor<'_>) -> sqlx::Result<Timestamp> {
    let sql = "SELECT (date_trunc('day', now() AT TIME ZONE 'UTC')
                       - make_interval(days => minimum_days)) AT TIME ZONE 'UTC' FROM audit_retention";
    sqlx::query_scalar(sql).fetch_one(database).await
}
