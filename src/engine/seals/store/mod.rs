//! The table `revisions`.

mod kept;

use std::collections::{HashMap, HashSet};

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, PgExecutor, PgPool, Row as _};
use uuid::Uuid;

pub use self::kept::SealHistory;
pub(crate) use self::kept::{renew_kept, seal_histories};
use super::{Endorsement, Entry, Group, GroupKind, GroupMember, RowKey, RowName, What};
use formats::clock::Timestamp;

/// How far the table admits a revision from the newest one.
pub(crate) const FURTHEST: i64 = 1 << 24;

/// Whether a row was ever made, and no operator has accepted its absence. Nobody who writes to the database can take that
/// back.
pub(crate) async fn was_made(
    database: impl PgExecutor<'_>,
    table: &str,
    id: Uuid,
) -> sqlx::Result<bool> {
    let sql = "SELECT NOT accepted FROM revisions WHERE table_name = $1 AND id = $2
                ORDER BY revision DESC LIMIT 1";
    let found = sqlx::query_scalar(sql).bind(table).bind(id).fetch_optional(database);
    Ok(found.await?.unwrap_or(false))
}

/// The rows of a table that were ever made, whatever entries followed, except those whose absence an operator has
/// accepted.
pub(crate) async fn ever_made(
    database: impl PgExecutor<'_>,
    table: &str,
) -> sqlx::Result<Vec<Uuid>> {
    let sql = "SELECT id FROM (SELECT DISTINCT ON (id) id, accepted FROM revisions
                                WHERE table_name = $1 ORDER BY id, revision DESC) AS newest
                WHERE NOT accepted";
    sqlx::query_scalar(sql).bind(table).fetch_all(database).await
}

/// The newest entry of a row; none of a row that was never made.
pub(crate) async fn newest_entry(
    database: impl PgExecutor<'_>,
    row: RowName,
) -> sqlx::Result<Option<Entry>> {
    let found = sqlx::query_as(
        "SELECT revision, what, at FROM revisions WHERE table_name = $1 AND id = $2
          ORDER BY revision DESC LIMIT 1",
    );
    let found = found.bind(row.table).bind(row.id).fetch_optional(database).await?;
    Ok(found.map(|(revision, what, at)| Entry { revision, what, at }))
}

/// Adds an entry.
pub(crate) async fn add_entry(
    connection: &mut PgConnection,
    row: RowName,
    revision: i64,
    what: What,
) -> sqlx::Result<Entry> {
    let added = sqlx::query_scalar(
        "INSERT INTO revisions (table_name, id, revision, what) VALUES ($1, $2, $3, $4) RETURNING at",
    );
    let added = added.bind(row.table).bind(row.id).bind(revision).bind(what);
    Ok(Entry { revision, what, at: added.fetch_one(connection).await? })
}

/// Adds a row to a group, and returns the number of this entry.
pub async fn join(connection: &mut PgConnection, group: Group, member: Uuid) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "INSERT INTO revisions (table_name, id, revision, what, member)
         SELECT $1, $2, coalesce(max(revision), 0) + 1, $3, $4
           FROM revisions WHERE table_name = $1 AND id = $2
         RETURNING revision",
    )
    .bind(group.kind.name)
    .bind(group.id)
    .bind(What::Made)
    .bind(member)
    .fetch_one(connection)
    .await
}

/// Adds a row to a group under this number. Returns false if the group has this number or a higher one.
pub(crate) async fn join_at(
    connection: &mut PgConnection,
    group: Group,
    member: Uuid,
    number: i64,
) -> sqlx::Result<bool> {
    let joined = sqlx::query(
        "INSERT INTO revisions (table_name, id, revision, what, member)
         SELECT $1, $2, $3, $4, $5
          WHERE NOT EXISTS (SELECT FROM revisions
                             WHERE table_name = $1 AND id = $2 AND revision >= $3)",
    )
    .bind(group.kind.name)
    .bind(group.id)
    .bind(number)
    .bind(What::Made)
    .bind(member)
    .execute(connection)
    .await?;
    Ok(joined.rows_affected() == 1)
}

/// The members of a group, the one that joined last first.
pub async fn members(
    database: impl PgExecutor<'_>,
    group: Group,
) -> sqlx::Result<Vec<GroupMember>> {
    let mut members = members_of(database, group.kind, &[group]).await?;
    Ok(members.remove(&group).unwrap_or_default())
}

/// The members of each of these groups of one kind, the one that joined last first. Leaves out members without an
/// entry of their own, because whoever writes to the database can name any row, and members whose absence an operator
/// has accepted.
pub(crate) async fn members_of(
    database: impl PgExecutor<'_>,
    kind: GroupKind,
    groups: &[Group],
) -> sqlx::Result<HashMap<Group, Vec<GroupMember>>> {
    let ids: Vec<Uuid> = groups.iter().map(|group| group.id).collect();
    let rows: Vec<(Uuid, Uuid, i64, i64)> = sqlx::query_as(
        "SELECT id, member, min(revision), max(revision) AS number FROM revisions
          WHERE table_name = $1 AND id = ANY ($2) AND member IS NOT NULL
            AND (SELECT NOT own.accepted FROM revisions AS own
                  WHERE own.table_name = $3 AND own.id = revisions.member
                  ORDER BY own.revision DESC LIMIT 1)
          GROUP BY id, member ORDER BY number DESC",
    )
    .bind(kind.name)
    .bind(ids)
    .bind(kind.table)
    .fetch_all(database)
    .await?;
    let mut members = HashMap::<_, Vec<_>>::new();
    for (group, id, first, number) in rows {
        members.entry(Group { kind, id: group }).or_default().push(GroupMember {
            id,
            first,
            number,
        });
    }
    Ok(members)
}

/// Notes that an operator accepts the absence of a row, with the login of the owner. Its entries stay, so that the row
/// does not count if somebody puts it back.
pub(crate) async fn accept_absence(
    database: impl PgExecutor<'_>,
    row: RowName,
) -> sqlx::Result<()> {
    let accepted = sqlx::query(
        "INSERT INTO revisions (table_name, id, revision, what, accepted)
         SELECT $1, $2, coalesce(max(revision), 0) + 1, $3, true
           FROM revisions WHERE table_name = $1 AND id = $2",
    );
    accepted.bind(row.table).bind(row.id).bind(What::Gone).execute(database).await?;
    Ok(())
}

/// The columns of a query with [`entries_of`].
pub(crate) const ENTRIES: &str = "entry_revisions, entry_whats, entry_times";

/// The source of a query, after `table`, of those entries of its rows that decide: that of the revision of the row, after
/// it the first and the last one that take `loses` away, and one of any other kind. Whoever writes to the database can add
/// millions between them.
pub fn entries_of(table: &str, loses: Option<What>) -> String {
    let entry =
        format!("SELECT revision, what, at FROM revisions WHERE id = {table}.id AND revision");
    // The index `revisions_by_kind` has this expression.
    let later = |kinds: String| {
        format!("{entry} > {table}.revision AND table_name || ' ' || what = {kinds}")
    };
    let others = What::ALL.into_iter().filter(|what| Some(*what) != loses);
    let others: Vec<String> = others.map(|what| format!("{table} {what}")).collect();
    let others = later(format!("ANY ('{{{}}}')", others.join(",")));
    let taken = loses.map_or_else(String::new, |what| {
        let taken = later(format!("'{table} {what}'"));
        format!(
            "UNION ({taken} ORDER BY revision LIMIT 1) UNION ({taken} ORDER BY revision DESC LIMIT 1)"
        )
    });
    format!(
        "CROSS JOIN LATERAL (
             SELECT array_agg(r.revision ORDER BY r.revision) AS entry_revisions,
                    array_agg(r.what ORDER BY r.revision) AS entry_whats,
                    array_agg(r.at ORDER BY r.revision) AS entry_times
               FROM (({entry} = {table}.revision AND table_name = '{table}') UNION ({others} LIMIT 1)
                     {taken}) AS r
         ) AS {table}_entries"
    )
}

/// The entries of a row, as [`entries_of`] reads them.
#[derive(Debug)]
pub struct Entries(pub Vec<Entry>);

impl FromRow<'_, PgRow> for Entries {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        // Without an entry, they are null.
        let revisions: Option<Vec<i64>> = row.try_get("entry_revisions")?;
        let whats: Option<Vec<What>> = row.try_get("entry_whats")?;
        let times: Option<Vec<Timestamp>> = row.try_get("entry_times")?;
        let (revisions, whats) = (revisions.unwrap_or_default(), whats.unwrap_or_default());
        let entries = revisions.into_iter().zip(whats).zip(times.unwrap_or_default());
        let entries = entries.map(|((revision, what), at)| Entry { revision, what, at });
        Ok(Self(entries.collect()))
    }
}

/// The endorsements of the generations of the row key.
pub(super) async fn endorsements(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Endorsement>> {
    let sql = "SELECT generation, predecessor, endorsement FROM row_keys";
    let rows: Vec<(i64, i64, Vec<u8>)> = sqlx::query_as(sql).fetch_all(database).await?;
    let known = rows.into_iter().filter_map(|(generation, predecessor, mac)| {
        let generation = u32::try_from(generation).ok()?;
        Some(Endorsement { generation, predecessor: u32::try_from(predecessor).ok()?, mac })
    });
    Ok(known.collect())
}

/// Records that a generation has sealed everything that generations before it sealed, as the owner.
pub async fn complete(database: impl PgExecutor<'_>, generation: u32) -> sqlx::Result<()> {
    let sql = "UPDATE row_keys SET completed = true WHERE generation = $1";
    sqlx::query(sql).bind(i64::from(generation)).execute(database).await?;
    Ok(())
}

/// The generations that the row key does not have and under which something can still be sealed: one that sealed before
/// or after another one, or one before those of the row key, as a restored database has it. Whoever writes to the database
/// can name any other.
pub(crate) async fn lost_generations(
    database: impl PgExecutor<'_>,
    key: &RowKey,
) -> sqlx::Result<HashSet<u32>> {
    let sql = "SELECT generation, predecessor, completed FROM row_keys";
    let rows: Vec<(i64, i64, bool)> = sqlx::query_as(sql).fetch_all(database).await?;
    let completed = rows.iter().filter(|(.., completed)| *completed).map(|(it, ..)| *it).max();
    let endorsed = rows.iter().flat_map(|(generation, predecessor, _)| [*generation, *predecessor]);
    let former = 1..i64::from(key.newest());
    let lost =
        former.chain(endorsed).filter(|it| completed.is_none_or(|completed| *it >= completed));
    Ok(lost.filter_map(|it| u32::try_from(it).ok()).filter(|it| !key.has(*it)).collect())
}

/// The first generation after all that ever sealed, under which the database has no segment: a lost one does not come back
/// with another key, under which genuine segments would seem forged.
pub(super) async fn unused_generation(database: &PgPool) -> sqlx::Result<u32> {
    let sql =
        "SELECT DISTINCT substr(mac, 1, 4) FROM audit_log_segments WHERE octet_length(mac) >= 4";
    let used: Vec<Vec<u8>> = sqlx::query_scalar(sql).fetch_all(database).await?;
    let used = used.iter().filter_map(|bytes| bytes.first_chunk().copied());
    let used: HashSet<u32> = used.map(u32::from_be_bytes).collect();
    let first = next_generation(database, 0).await?;
    Ok((first..).find(|generation| !used.contains(generation)).unwrap_or(first))
}

/// The first generation after `known` and after all that were endorsed.
pub async fn next_generation(database: impl PgExecutor<'_>, known: u32) -> sqlx::Result<u32> {
    let endorsed = endorsements(database).await?.into_iter().map(|it| it.generation);
    Ok(endorsed.max().unwrap_or_default().max(known).saturating_add(1))
}

/// Lets a generation seal, once all transactions that write sealed rows have ended. Later ones that seal
/// under an older generation fail.
pub(crate) async fn endorse(
    connection: &mut PgConnection,
    endorsement: &Endorsement,
) -> sqlx::Result<()> {
    sqlx::query("LOCK TABLE revisions IN SHARE ROW EXCLUSIVE MODE")
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO row_keys (generation, predecessor, endorsement) VALUES ($1, $2, $3)
         ON CONFLICT (generation) DO UPDATE
            SET predecessor = EXCLUDED.predecessor, endorsement = EXCLUDED.endorsement",
    )
    .bind(i64::from(endorsement.generation))
    .bind(i64::from(endorsement.predecessor))
    .bind(&endorsement.mac)
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes entries that later ones have superseded, with the login of retention. Returns their number.
pub async fn forget_superseded(database: impl PgExecutor<'_>) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT forget_superseded_revisions()").fetch_one(database).await
}
