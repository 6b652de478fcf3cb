//! The heads of the logs and their signing keys.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{hash, natural, number};
use crate::db::undecodable;
use crate::ledger::Log;
use crate::ledger::head::{Head, Signed};
use crate::ledger::key::SigningKey;
use formats::clock::Timestamp;
use formats::tlog::Hash;

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
pub(in crate::ledger) async fn head(
    database: impl PgExecutor<'_>,
    log: Log,
) -> sqlx::Result<Option<Head>> {
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
            cosigned: cosigned.map(|(note, at)| Signed { note, size: cosigned_size, at }),
        })
    })
    .transpose()
}

/// The signing keys, newest first.
pub(in crate::ledger) async fn keys(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<Vec<SigningKey>> {
    let sql = "SELECT id, public_key FROM audit_log_keys ORDER BY created_at DESC, id DESC";
    read_keys(database, sql).await
}

/// The keys of cosignatures, newest first.
pub(in crate::ledger) async fn cosigners(
    database: impl PgExecutor<'_>,
) -> sqlx::Result<Vec<SigningKey>> {
    let sql = "SELECT id, public_key FROM audit_log_cosigners ORDER BY created_at DESC, id DESC";
    read_keys(database, sql).await
}

async fn read_keys(
    database: impl PgExecutor<'_>,
    sql: &'static str,
) -> sqlx::Result<Vec<SigningKey>> {
    let rows: Vec<(Uuid, Vec<u8>)> = sqlx::query_as(sql).fetch_all(database).await?;
    rows.into_iter()
        .map(|(id, spki)| {
            SigningKey::new(id, &spki)
                .ok_or_else(|| undecodable("not a key that signs checkpoints"))
        })
        .collect()
}

/// Records a signing key.
pub(in crate::ledger) async fn insert_key(
    connection: &mut PgConnection,
    id: Uuid,
    spki: &[u8],
    now: Timestamp,
) -> sqlx::Result<()> {
    let sql = "INSERT INTO audit_log_keys (id, public_key, created_at) VALUES ($1, $2, $3)";
    let insert = sqlx::query(sql).bind(id).bind(spki).bind(now);
    insert.execute(connection).await?;
    Ok(())
}

/// Records a key of cosignatures.
pub(in crate::ledger) async fn insert_cosigner(
    connection: &mut PgConnection,
    id: Uuid,
    spki: &[u8],
    now: Timestamp,
) -> sqlx::Result<()> {
    let sql = "INSERT INTO audit_log_cosigners (id, public_key, created_at) VALUES ($1, $2, $3)";
    let insert = sqlx::query(sql).bind(id).bind(spki).bind(now);
    insert.execute(connection).await?;
    Ok(())
}

/// Begins a log, or continues it under another origin. Its latest checkpoint is then none.
pub(in crate::ledger) async fn put_origin(
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
pub(in crate::ledger) async fn lock_init(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext('audit_log_heads'), 1)")
        .execute(connection)
        .await?;
    Ok(())
}
