//! The records to compare with the tokens.

use sqlx::{FromRow as _, PgConnection, PgExecutor, Row as _};
use uuid::Uuid;

use super::{ExpectedKey, IntendedObject};
use crate::ids::KeyId;
use crate::keys::vault::intent::Intent;
use crate::keys::{Key, KeyStatus};
use crate::resource::{Rows, select};
use formats::clock::Timestamp;

pub(super) use crate::keys::vault::store::forget_intent;

/// All keys that are or were in a token. Only a valid record says that its objects shall be destroyed.
pub(super) async fn records(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<ExpectedKey>> {
    let keys = select::<Key>("WHERE token_id IS NOT NULL OR token_label IS NOT NULL ORDER BY id");
    let named = keys.fetch_marked(rows).await?.into_iter().filter_map(|marked| {
        let key = marked.resource?;
        let has_ended = key.status == KeyStatus::Destroyed || key.destroying_at.is_some();
        Some(ExpectedKey {
            id: key.id,
            name: key.private_half.token_name?,
            objects: key.algorithm.parts().len(),
            destroyed: marked.is_valid && has_ended,
            created_at: key.created_at,
        })
    });
    Ok(named.collect())
}

/// All intended objects without a key record, including wrapping keys in use.
pub(super) async fn intents(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<IntendedObject>> {
    let rows: Vec<(Uuid, bool, Timestamp, bool)> = sqlx::query_as(
        "SELECT id, purpose = 'import_key', created_at, false FROM key_intents
          UNION ALL
         SELECT id, true, created_at, true FROM import_keys WHERE destroyed_at IS NULL",
    )
    .fetch_all(database)
    .await?;
    let intents = rows.into_iter();
    let intents = intents.map(|(id, is_import_key, created_at, fulfilled)| IntendedObject {
        id,
        is_import_key,
        created_at,
        fulfilled,
    });
    Ok(intents.collect())
}

/// Removes an intent that was written between `after` and `before` and has no key: one of an approved change, or one
/// whose attempt has no claim. Returns it with its MAC. Leaves those in `but`, those whose object a key that is not
/// destroyed uses, and those that another transaction removes.
pub(super) async fn take_abandoned(
    connection: &mut PgConnection,
    after: Timestamp,
    before: Timestamp,
    but: &[Uuid],
) -> sqlx::Result<Option<(Intent, Vec<u8>)>> {
    let taken = sqlx::query(
        "DELETE FROM key_intents
          WHERE id = (SELECT id FROM key_intents AS intent
                       WHERE created_at < $1 AND created_at > $2 AND id <> ALL ($3)
                         AND (change_id IS NOT NULL
                              OR (attempt IS NOT NULL AND NOT EXISTS (
                                  SELECT FROM idempotent_calls AS known
                                   WHERE known.attempt = intent.attempt)))
                         AND NOT EXISTS (
                             SELECT FROM keys
                              WHERE token_id = uuid_send(intent.id) AND status <> $4)
                         -- Nobody who writes to the database takes these entries away.
                         AND NOT EXISTS (
                             SELECT FROM revisions
                              WHERE table_name = 'keys' AND id = intent.id)
                       LIMIT 1 FOR UPDATE OF intent SKIP LOCKED)
        RETURNING id, purpose, service_id, change_id, attempt, created_at, mac",
    )
    .bind(before)
    .bind(after)
    .bind(but)
    .bind(KeyStatus::Destroyed)
    .fetch_optional(connection)
    .await?;
    taken.map(|row| Ok((Intent::from_row(&row)?, row.try_get("mac")?))).transpose()
}

/// Records whether a token has these keys.
pub(super) async fn note_presence(
    database: impl PgExecutor<'_>,
    token: &str,
    keys: Vec<KeyId>,
    present: bool,
    seen_at: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO key_presence (key_id, token, present, seen_at)
         SELECT key_id, $2, $3, $4 FROM UNNEST($1::uuid[]) AS key_id
         ON CONFLICT (key_id, token)
         DO UPDATE SET present = EXCLUDED.present, seen_at = EXCLUDED.seen_at",
    )
    .bind(keys)
    .bind(token)
    .bind(present)
    .bind(seen_at)
    .execute(database)
    .await?;
    Ok(())
}
