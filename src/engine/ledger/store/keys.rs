//! The keys of checkpoints. A row that does not count is none of them.

use sqlx::{PgConnection, PgExecutor};

use crate::db::undecodable;
use crate::ledger::key::SigningKey;
use crate::ledger::key_rows::{LogCosigner, LogKey};
use crate::resource::{Rows, Stored as _, select};
use crate::seals::living;

/// The newest first.
const NEWEST_FIRST: &str = "ORDER BY created_at DESC, id DESC";

/// The signing keys, newest first.
pub(in crate::ledger) async fn keys(
    rows: Rows<impl PgExecutor<'_>>,
) -> sqlx::Result<Vec<SigningKey>> {
    let keys: Vec<LogKey> = select(NEWEST_FIRST).fetch_all(rows).await?;
    keys.iter().map(|key| signing_key(key.id.uuid(), &key.public_key)).collect()
}

/// The keys of cosignatures, newest first.
pub(in crate::ledger) async fn cosigners(
    rows: Rows<impl PgExecutor<'_>>,
) -> sqlx::Result<Vec<SigningKey>> {
    let keys: Vec<LogCosigner> = select(NEWEST_FIRST).fetch_all(rows).await?;
    keys.iter().map(|key| signing_key(key.id.uuid(), &key.public_key)).collect()
}

/// Whether the row of each key that was ever made counts. Without the newest one, an older key would sign.
pub(in crate::ledger) async fn keys_are_whole(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<bool> {
    for (table, valid) in [
        (LogKey::TABLE, keys(rows.again()).await?),
        (LogCosigner::TABLE, cosigners(rows.again()).await?),
    ] {
        let made = living(&mut *rows.executor, table).await?;
        if !made.iter().all(|id| valid.iter().any(|key| key.id() == *id)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn signing_key(id: uuid::Uuid, spki: &[u8]) -> sqlx::Result<SigningKey> {
    SigningKey::new(id, spki).ok_or_else(|| undecodable("not a key that signs checkpoints"))
}
