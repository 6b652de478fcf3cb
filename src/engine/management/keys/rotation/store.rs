//! The keys that rotation concerns.

use sqlx::{PgConnection, PgExecutor};

use crate::db::sql;
use crate::ids::{KeyId, ServiceId};
use crate::keys::{self, Key, KeyStatus};
use crate::resource::{Rows, Stored as _, select};
use formats::clock::Timestamp;
use formats::material::Algorithm;

/// The keys `p` with the time when the successor of each becomes active, and the active keys that do its work, which
/// have not expired at `$1` and are newer. A key for operations can be chosen by its name.
const KEYS: &str = "keys p CROSS JOIN LATERAL (
         SELECT p.activated_at + make_interval(hours => p.rotation_days * 24) AS takeover,
                ARRAY (SELECT s.id FROM keys s
                         WHERE s.service_id = p.service_id AND s.usage = p.usage
                           AND s.algorithm = p.algorithm AND s.status = 'active'
                           AND (p.usage = 'enc' OR s.name = p.name OR s.succeeds = p.id)
                           AND s.activated_at > p.activated_at
                           AND (s.expires_at IS NULL OR s.expires_at > $1)) AS replaced_by
     ) AS rotation ";

/// Active keys that rotate, whose algorithm is not one of `$2`, and whose successor has not taken over, or does
/// not work any more.
const ROTATING: &str = "WHERE p.status = 'active' AND p.rotation_days IS NOT NULL
                          AND p.algorithm <> ALL ($2)
                          AND (p.retire_at IS NULL OR replaced_by = '{}') ";

/// The keys that need a successor at `now`. That of a signing key is made a day ahead, so that it is
/// published before it signs.
pub(super) async fn without_successor(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    refused: &[Algorithm],
) -> sqlx::Result<Vec<(KeyId, ServiceId)>> {
    sqlx::query_as(sql([
        "SELECT p.id, p.service_id FROM ",
        KEYS,
        ROTATING,
        "AND takeover - CASE p.usage WHEN 'sig' THEN interval '24 hours' ELSE interval '0' END <= $1
            AND NOT EXISTS (SELECT FROM keys s WHERE s.succeeds = p.id AND s.status <> 'destroyed')
          ORDER BY p.id",
    ]))
    .bind(now)
    .bind(refused)
    .fetch_all(database)
    .await
}

/// The successors that can take over at `now`, as soon as every token holds them. An expired key replaces
/// none.
pub(super) async fn ready(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    refused: &[Algorithm],
) -> sqlx::Result<Vec<(KeyId, ServiceId)>> {
    sqlx::query_as(sql([
        "SELECT s.id, s.service_id FROM ",
        KEYS,
        "JOIN keys s ON s.succeeds = p.id AND s.status = 'retired' ",
        ROTATING,
        "AND takeover <= $1
            AND (s.usage <> 'sig' OR s.created_at + interval '24 hours' <= $1)
            AND (s.expires_at IS NULL OR s.expires_at > $1)
          ORDER BY s.id",
    ]))
    .bind(now)
    .bind(refused)
    .fetch_all(database)
    .await
}

/// The keys that retire by `now`, because newer keys do their work.
pub(super) async fn to_retire(
    database: impl PgExecutor<'_>,
    now: Timestamp,
) -> sqlx::Result<Vec<(KeyId, ServiceId)>> {
    sqlx::query_as(sql([
        "SELECT p.id, p.service_id FROM ",
        KEYS,
        "WHERE p.retire_at <= $1 AND replaced_by <> '{}' ORDER BY p.id",
    ]))
    .bind(now)
    .fetch_all(database)
    .await
}

/// The keys that replace a key which retires by `now`; none if it retires later.
pub(super) async fn replacing(
    database: impl PgExecutor<'_>,
    key: KeyId,
    now: Timestamp,
) -> sqlx::Result<Vec<KeyId>> {
    let sql =
        sql(["SELECT unnest(replaced_by) FROM ", KEYS, "WHERE p.retire_at <= $1 AND p.id = $2"]);
    sqlx::query_scalar(sql).bind(now).bind(key).fetch_all(database).await
}

/// The keys that should have been replaced by `now`. Those of refused algorithms have no successors.
pub(super) async fn overdue(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    refused: &[Algorithm],
) -> sqlx::Result<Vec<(KeyId, ServiceId)>> {
    sqlx::query_as(sql(["SELECT p.id, p.service_id FROM ", KEYS, ROTATING, "AND takeover <= $1"]))
        .bind(now)
        .bind(refused)
        .fetch_all(database)
        .await
}

/// Reserves the making of a successor of `key` until the transaction ends. Returns false where another
/// instance makes it.
pub(super) async fn reserve(connection: &mut PgConnection, key: KeyId) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(format!("sealward rotation {key}"))
        .fetch_one(connection)
        .await
}

/// Has an active key retire at that time.
pub(super) async fn retire_later(
    mut rows: Rows<&mut PgConnection>,
    key: KeyId,
    at: Timestamp,
) -> sqlx::Result<()> {
    let active = select("WHERE id = $1 AND status = $2").bind(key).bind(KeyStatus::Active);
    let active: Option<Key> = active.lock(rows.again()).await?;
    match active {
        Some(key) if key.status == KeyStatus::Active => {
            let retiring = Key { retire_at: Some(at), ..key.rewritten() };
            keys::store::update(rows, &retiring).await
        }
        Some(_) | None => Ok(()),
    }
}
