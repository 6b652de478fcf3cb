//! The seals that entries keep: they show whether a row is still as it was last sealed.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::seals::{Entry, Form, RowKey, RowName, SinceSealed, What};
use formats::clock::Timestamp;

/// The number of entries in one statement.
const PAGE: i64 = 1_000;

/// What entries say about a row.
#[derive(Clone, Debug)]
pub struct Since {
    /// What the row is, compared with its last seal.
    pub sealed: SinceSealed,
    /// The first and the last entry after that seal that take something away.
    pub taken: Vec<Entry>,
}

/// Compares rows of one table, which can lose `loses`, as they are, with the newest entries that keep a seal. Whoever
/// writes to the database can add entries, so those whose seal does not count are passed over.
pub async fn since_sealed(
    connection: &mut PgConnection,
    key: &RowKey,
    (table, loses): (&'static str, Option<What>),
    rows: &HashMap<Uuid, Form>,
) -> sqlx::Result<HashMap<Uuid, Since>> {
    let ids: Vec<Uuid> = rows.keys().copied().collect();
    let mut entries = sqlx::query_as::<_, KeptEntry>(
        "SELECT id, revision, what, at, content, kept_seal FROM revisions
          WHERE table_name = $1 AND id = ANY ($2) AND member IS NULL
          ORDER BY id, revision DESC",
    )
    .bind(table)
    .bind(ids)
    .fetch(connection);
    let mut found = HashMap::<Uuid, (Since, bool)>::new();
    while let Some(KeptEntry { id, revision, what, at, content, kept_seal }) =
        entries.try_next().await?
    {
        let unknown = Since { sealed: SinceSealed::Unknown, taken: Vec::new() };
        let (since, is_complete) = found.entry(id).or_insert((unknown, false));
        if *is_complete {
            continue;
        }
        let row = RowName { table, id };
        let kept = content.zip(kept_seal);
        let kept =
            kept.filter(|(content, seal)| key.verify_content(row, revision, content, seal).is_ok());
        match kept {
            Some((content, seal)) => {
                *is_complete = true;
                let version = seal.first().copied().unwrap_or_default();
                let present = rows.get(&id).and_then(|form| form.digest(version));
                if since.sealed == SinceSealed::Unknown {
                    let is_same = present.is_some_and(|present| present == content);
                    since.sealed = if is_same { SinceSealed::Same } else { SinceSealed::Changed };
                }
            }
            None if loses == Some(what) => {
                // Of those between, nothing is needed.
                since.taken.truncate(1);
                since.taken.push(Entry { revision, what, at });
            }
            None if what == What::Gone => since.sealed = SinceSealed::Gone,
            None => {}
        }
    }
    let found = found.into_iter().map(|(id, (mut since, _))| {
        since.taken.reverse();
        (id, since)
    });
    Ok(found.collect())
}

#[derive(sqlx::FromRow)]
struct KeptEntry {
    id: Uuid,
    revision: i64,
    what: What,
    at: Timestamp,
    content: Option<Vec<u8>>,
    kept_seal: Option<Vec<u8>>,
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
