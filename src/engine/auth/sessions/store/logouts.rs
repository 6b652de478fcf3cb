//! Logouts by the provider. Entries of the table `revisions` keep them, so that they also end a session whose row
//! is hidden.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::Session;
use crate::auth::Person;
use crate::auth::oidc::Logout;
use crate::resource::Stored as _;
use crate::seals::{Group, GroupKind, RowName, What};
use formats::clock::Timestamp;

/// The kind of the entries.
const LOGOUTS: GroupKind = GroupKind { name: "logouts at the provider", table: Session::TABLE };

/// Which sessions a logout ends.
#[derive(Clone, Copy, Debug)]
enum Sessions<'l> {
    /// The one with this name at the provider, of this person if the logout says so.
    Named(&'l str, Option<&'l str>),
    /// All of a person.
    All(&'l str),
    /// Those of a person that have no name at the provider.
    Unnamed(&'l str),
}

impl Sessions<'_> {
    fn entries(self, issuer: &str) -> RowName {
        let (part, name, subject) = match self {
            Self::Named(name, subject) => ("named", name, subject),
            Self::All(subject) => ("all", "", Some(subject)),
            Self::Unnamed(subject) => ("unnamed", "", Some(subject)),
        };
        let parts = [issuer, part, name, subject.unwrap_or_default()];
        Group::of(LOGOUTS, &parts.map(str::as_bytes)).row()
    }
}

/// Notes a logout.
pub(super) async fn note(
    connection: &mut PgConnection,
    logout: &Logout,
    now: Timestamp,
) -> sqlx::Result<()> {
    let (subject, session) = (logout.subject.as_deref(), logout.session.as_deref());
    let ended = match (subject, session) {
        (Some(subject), None) => vec![Sessions::All(subject)],
        (subject, Some(session)) => {
            let unnamed = subject.map(Sessions::Unnamed);
            unnamed.into_iter().chain([Sessions::Named(session, subject)]).collect()
        }
        (None, None) => Vec::new(),
    };
    for sessions in ended {
        let RowName { table, id } = sessions.entries(&logout.issuer);
        sqlx::query(
            "INSERT INTO revisions (table_name, id, revision, what, at)
             SELECT $1, $2, coalesce(max(revision), 0) + 1, $3, $4
               FROM revisions WHERE table_name = $1 AND id = $2",
        )
        .bind(table)
        .bind(id)
        .bind(What::Gone)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Whether a logout since that time ended the session of a person with this name at the provider.
pub(super) async fn ended(
    database: impl PgExecutor<'_>,
    person: &Person,
    at_provider: Option<&str>,
    since: Timestamp,
) -> sqlx::Result<bool> {
    let Some(issuer) = person.issuer() else {
        return Ok(false);
    };
    let subject = person.subject();
    let mut ended = vec![Sessions::All(subject)];
    match at_provider {
        Some(name) => ended.extend([None, Some(subject)].map(|of| Sessions::Named(name, of))),
        None => ended.push(Sessions::Unnamed(subject)),
    }
    let ids: Vec<Uuid> = ended.iter().map(|ended| ended.entries(issuer).id).collect();
    let sql = "SELECT EXISTS (SELECT FROM revisions
                              WHERE table_name = $1 AND id = ANY ($2) AND at > $3)";
    sqlx::query_scalar(sql).bind(LOGOUTS.name).bind(ids).bind(since).fetch_one(database).await
}
