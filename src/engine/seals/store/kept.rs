//! The seals that entries keep: they show whether a row is still as it was last sealed.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::seals::{Form, RowKey, RowName, SinceSealed, What};

/// The number of entries in one statement.
const PAGE: i64 = 1_000;

/// Compares rows of one table, as they are, with the newest entries that keep a seal. Whoever writes to the database
/// can add entries, so those whose seal does not count are passed over.
pub async fn since_sealed(
    connection: &mut PgConnection,
    key: &RowKey,
    (table, rows): (&'static str, &HashMap<Uuid, Form>),
) -> sqlx::Result<HashMap<Uuid, SinceSealed>> {
    let ids: Vec<Uuid> = rows.keys().copied().collect();
    let mut entries = sqlx::query_as::<_, (Uuid, i64, What, Option<Vec<u8>>, Option<Vec<u8>>)>(
        "SELECT id, revision, what, content, kept_seal FROM revisions
          WHERE table_name = $1 AND id = ANY ($2) AND member IS NULL
          ORDER BY id, revision DESC",
    )
    .bind(table)
    .bind(ids)
    .fetch(connection);
    let mut found = HashMap::new();
    while let Some((id, revision, what, sealed, seal)) = entries.try_next().await? {
        let known = found.entry(id).or_insert(SinceSealed::Unknown);
        let row = RowName { table, id };
        match (*known, sealed.zip(seal)) {
            (SinceSealed::Unknown, Some((sealed, seal)))
                if key.verify_content(row, revision, &sealed, &seal).is_ok() =>
            {
                let version = seal.first().copied().unwrap_or_default();
                let present = rows.get(&id).and_then(|form| form.digest(version));
                let is_same = present.is_some_and(|present| present == sealed);
                *known = if is_same { SinceSealed::Same } else { SinceSealed::Changed };
            }
            (SinceSealed::Unknown, None) if what == What::Gone => *known = SinceSealed::Gone,
            _ => {}
        }
    }
    Ok(found)
}

/// Seals what the entries of a table keep again under the generation that seals, as the owner. Nothing else of them
/// changes, and those whose seal does not count stay.
pub async fn renew_kept(
    connection: &mut PgConnection,
    key: &RowKey,
    table: &'static str,
) -> sqlx::Result<()> {
    let mut after = (Uuid::nil(), 0);
    loop {
        let page: Vec<(Uuid, i64, Vec<u8>, Vec<u8>)> = sqlx::query_as(
            "SELECT id, revision, content, kept_seal FROM revisions
              WHERE table_name = $1 AND (id, revision) > ($2, $3)
                AND content IS NOT NULL AND kept_seal IS NOT NULL
              ORDER BY id, revision LIMIT $4",
        )
        .bind(table)
        .bind(after.0)
        .bind(after.1)
        .bind(PAGE)
        .fetch_all(&mut *connection)
        .await?;
        let Some((id, revision, ..)) = page.last() else {
            return Ok(());
        };
        after = (*id, *revision);
        let (mut ids, mut revisions, mut seals) = (Vec::new(), Vec::new(), Vec::new());
        for (id, revision, content, seal) in page {
            let row = RowName { table, id };
            if let Some(renewed) = key.renew_content(row, revision, &content, &seal) {
                ids.push(id);
                revisions.push(revision);
                seals.push(renewed);
            }
        }
        sqlx::query(
            "UPDATE revisions SET kept_seal = renewed.seal
               FROM UNNEST($2::uuid[], $3::bigint[], $4::bytea[]) AS renewed (id, revision, seal)
              WHERE table_name = $1 AND revisions.id = renewed.id
                AND revisions.revision = renewed.revision",
        )
        .bind(table)
        .bind(ids)
        .bind(revisions)
        .bind(seals)
        .execute(&mut *connection)
        .await?;
    }
}
