//! Wrapping keys in the database.

use sqlx::PgConnection;

use super::ImportKeyRecord;
use crate::db::Pool;
use crate::ids::ImportKeyId;
use crate::keys::vault::store::forget_intent;
use crate::resource::{self, Rows, Stored as _, select};
use crate::seals::What;
use formats::clock::Timestamp;

/// Records a wrapping key.
pub(super) async fn insert_import_key(
    mut rows: Rows<&mut PgConnection>,
    key: &ImportKeyRecord,
) -> sqlx::Result<()> {
    resource::insert(rows.again(), key).await?;
    forget_intent(rows.executor, key.id.uuid()).await?;
    Ok(())
}

/// The wrapping key with this identifier, in any state.
pub(super) async fn by_id(
    rows: Rows<&mut PgConnection>,
    id: ImportKeyId,
) -> sqlx::Result<Option<ImportKeyRecord>> {
    select("WHERE id = $1").bind(id).fetch_optional(rows).await
}

/// Counts an attempt with a wrapping key that is still valid.
pub(super) async fn attempt_import(
    database: &Pool,
    id: ImportKeyId,
    now: Timestamp,
) -> sqlx::Result<Option<ImportKeyRecord>> {
    let mut transaction = database.begin().await?;
    let rows = database.rows_on(&mut transaction);
    let found: Option<ImportKeyRecord> = select("WHERE id = $1").bind(id).lock(rows).await?;
    let Some(key) = found.filter(|key| key.is_usable(now)) else {
        return Ok(None);
    };
    let attempts = key.attempts.saturating_add(1);
    let tried = ImportKeyRecord { attempts, attempted_at: Some(now), ..key.rewritten() };
    resource::update(database.rows_on(&mut transaction), &tried, What::Changed).await?;
    transaction.commit().await?;
    Ok(Some(tried))
}

/// Marks a wrapping key as used, unless it is used already.
pub(super) async fn spend_import_key(
    mut rows: Rows<&mut PgConnection>,
    id: ImportKeyId,
    now: Timestamp,
) -> sqlx::Result<bool> {
    let found: Option<ImportKeyRecord> =
        select("WHERE id = $1").bind(id).lock(rows.again()).await?;
    let Some(key) = found.filter(|key| key.used_at.is_none()) else {
        return Ok(false);
    };
    let spent = ImportKeyRecord { used_at: Some(now), ..key.rewritten() };
    resource::update(rows, &spent, What::Changed).await?;
    Ok(true)
}

/// Locks a wrapping key that is no longer usable and has no attempt in progress. Skips keys that
/// another instance has locked. The clock of Postgres must confirm the expiry, because the local clock
/// can be wrong.
pub(super) async fn lock_spent_import_key(
    rows: Rows<&mut PgConnection>,
    now: Timestamp,
) -> sqlx::Result<Option<ImportKeyRecord>> {
    let spent = select(
        "WHERE destroyed_at IS NULL
            AND (used_at IS NOT NULL OR expires_at <= least($1, now())
                 OR attempts >= $2 AND attempted_at < least($1, now()) - interval '10 minutes')
          ORDER BY id",
    );
    let spent = spent.bind(now).bind(ImportKeyRecord::ATTEMPTS);
    let locked = spent.lock_all("FOR UPDATE SKIP LOCKED", rows).await?;
    Ok(locked.into_iter().next())
}
