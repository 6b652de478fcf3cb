//! The seals that entries keep: they show whether a row is still as it was last sealed.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::seals::{Entry, RowForm, RowKey, RowName, SealComparison, What};
use formats::clock::Timestamp;

/// The number of entries in one statement.
const PAGE: i64 = 1_000;

/// What entries say about a row.
#[derive(Clone, Debug)]
pub struct SealHistory {
    /// What the row is, compared with its last seal.
    pub comparison: SealComparison,
    /// The first and the last entry after that seal that take something away.
    pub taken: Vec<Entry>,
}

/// Compares rows of one table, which can lose `loses`, as they are, with the newest entries that keep a seal. Whoever
/// writes to the database can add entries, so those whose seal does not count are passed over.
pub(crate) async fn seal_histories(
    connection: &mut PgConnection,
    key: &RowKey,
    (table, loses): (&'static str, Option<What>),
    rows: &HashMap<Uuid, RowForm>,
) -> sqlx::Result<HashMap<Uuid, SealHistory>> {
    let ids: Vec<Uuid> = rows.keys().copied().collect();
    let mut entries = sqlx::query_as::<_, KeptEntry>(
        "SELECT id, revision, what, at, content, kept_seal FROM revisions
          WHERE table_name = $1 AND id = ANY ($2)
          ORDER BY id, revision DESC",
    )
    .bind(table)
    .bind(ids)
    .fetch(connection);
    let mut found = HashMap::<Uuid, (SealHistory, bool)>::new();
    while let Some(KeptEntry { id, revision, what, at, content, kept_seal }) =
        entries.try_next().await?
    {
        let (history, is_complete) = found.entry(id).or_default();
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
                history.compare(rows.get(&id), &content, &seal);
            }
            None => history.add(Entry { revision, what, at }, loses),
        }
    }
    let found = found.into_iter().map(|(id, (mut history, _))| {
        history.taken.reverse();
        (id, history)
    });
    Ok(found.collect())
}

impl Default for SealHistory {
    fn default() -> Self {
        Self { comparison: SealComparison::Unknown, taken: Vec::new() }
    }
}

impl SealHistory {
    /// Adds an entry that is older than those before and has no seal that counts.
    fn add(&mut self, entry: Entry, loses: Option<What>) {
        if loses == Some(entry.what) {
            // Of those between, nothing is needed.
            self.taken.truncate(1);
            self.taken.push(entry);
        } else if entry.what == What::Gone {
            self.comparison = SealComparison::Gone;
        }
    }

    /// Compares the row with its last seal, unless it was deleted since.
    fn compare(&mut self, row: Option<&RowForm>, content: &[u8], seal: &[u8]) {
        if self.comparison == SealComparison::Unknown {
            let form = seal.first().copied().unwrap_or_default();
            let present = row.and_then(|row| row.digest(form));
            let is_same = present.is_some_and(|present| present == content);
            self.comparison = if is_same { SealComparison::Same } else { SealComparison::Changed };
        }
    }
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
pub(crate) async fn renew_kept(
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
            if let Some(renewed) = key.renew_seal(row, revision, &content, &seal) {
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
