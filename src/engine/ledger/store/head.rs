//! The heads of the logs.

use sqlx::{PgConnection, PgExecutor};

use super::{Growth, hash, natural, signed_number};
use crate::ledger::Log;
use crate::ledger::head::{Head, Signed};
use formats::clock::Timestamp;
use formats::tlog::Tree;

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
    .bind(log.number())
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

/// The head of a log, which nobody else changes until the transaction ends.
pub(in crate::ledger) async fn lock_head(
    connection: &mut PgConnection,
    log: Log,
) -> sqlx::Result<Option<Head>> {
    sqlx::query("SELECT FROM audit_log_heads WHERE log = $1 FOR UPDATE")
        .bind(log.number())
        .execute(&mut *connection)
        .await?;
    head(connection, log).await
}

/// Takes the positions after a tree back from a log, and makes the nodes again that follow a size whose nodes are right. The
/// login must own the schema.
pub(in crate::ledger) async fn shorten(
    connection: &mut PgConnection,
    log: Log,
    (right, growth): (u64, &Growth),
    tree: &Tree,
) -> sqlx::Result<()> {
    for (statement, from) in [
        ("DELETE FROM audit_log_positions WHERE log = $1 AND base >= $2", tree.size()),
        ("DELETE FROM audit_log_nodes WHERE log = $1 AND place >= $2 >> 8 * level", right),
    ] {
        let deleted = sqlx::query(statement).bind(log.number()).bind(signed_number(from));
        deleted.execute(&mut *connection).await?;
    }
    let (levels, places, hashes) = growth.columns();
    sqlx::query(
        "INSERT INTO audit_log_nodes (log, level, place, hash)
         SELECT $1, level, place, hash FROM unnest($2::smallint[], $3::bigint[], $4::bytea[]) AS node (level, place, hash)",
    )
    .bind(log.number())
    .bind(levels)
    .bind(places)
    .bind(hashes)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "UPDATE audit_log_heads
            SET size = $2, root = $3, checkpoint_size = least(checkpoint_size, $2),
                cosigned_size = least(cosigned_size, $2), published_size = least(published_size, $2)
          WHERE log = $1",
    )
    .bind(log.number())
    .bind(signed_number(tree.size()))
    .bind(tree.root().as_bytes())
    .execute(connection)
    .await?;
    Ok(())
}

/// Begins a log, or continues it under another origin. Its latest checkpoint is then none.
pub(in crate::ledger) async fn put_origin(
    connection: &mut PgConnection,
    log: Log,
    origin: &str,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO audit_log_heads (log, origin) VALUES ($1, $2)
         ON CONFLICT (log) DO UPDATE SET origin = EXCLUDED.origin, checkpoint = NULL,
                                         checkpoint_size = 0, checkpoint_at = NULL,
                                         published = NULL, published_size = 0, published_at = NULL,
                                         cosigned = NULL, cosigned_size = 0, cosigned_at = NULL",
    )
    .bind(log.number())
    .bind(origin)
    .execute(connection)
    .await?;
    Ok(())
}

/// Puts the origin of a log back. Its checkpoints stay, because the log is the same.
pub(in crate::ledger) async fn restore_origin(
    connection: &mut PgConnection,
    log: Log,
    origin: &str,
) -> sqlx::Result<()> {
    sqlx::query("UPDATE audit_log_heads SET origin = $2 WHERE log = $1")
        .bind(log.number())
        .bind(origin)
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
