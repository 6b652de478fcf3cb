//! Why Postgres cannot be used.

use std::path::PathBuf;

use sqlx::migrate::MigrateError;

use crate::settings::NotInPem;

/// Postgres cannot be used. The message names the setting and the way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is invalid.
    #[error("database.url must be a Postgres URL such as postgres://user@host:5432/name: {0}")]
    Address(#[source] sqlx::Error),
    /// The CA certificates cannot be read.
    #[error("database.ca: {path} {source}", path = .path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: NotInPem,
    },
    /// The URL asks for less than verified TLS.
    #[error(
        "database.url asks for less than verified TLS to {place}: remove sslmode, or set \
         database.allow_plain = true if the network in between is protected"
    )]
    Unverified {
        /// Host, port and name of the database.
        place: String,
    },
    /// The certificate of the server is not valid.
    #[error(
        "Postgres at {place} (database.url) is not trusted: {source}; its certificate must name this \
         host and come from a CA in database.ca"
    )]
    Untrusted {
        /// Host, port and name of the database.
        place: String,
        /// The TLS error.
        source: sqlx::Error,
    },
    /// The connection fails.
    #[error(
        "cannot use Postgres at {place} (database.url): {source}; is it running, and may this user connect?"
    )]
    Unreachable {
        /// Host, port and name of the database.
        place: String,
        /// The error.
        source: sqlx::Error,
    },
    /// No server accepts writes.
    #[error(
        "no server of database.url accepts writes; the first is {place}: is one of \
         them the primary?"
    )]
    OnlyStandbys {
        /// Host, port and name of the database at the first of them.
        place: String,
    },
    /// This login may not use the role of the service, or the role does not exist.
    #[error(
        "the login {login} at {place} may not use the role sealward_application: run \
         `sealward migrate`, then GRANT sealward_application TO {login}"
    )]
    NoRole {
        /// The login.
        login: String,
        /// Host, port and name of the database.
        place: String,
    },
    /// The schema cannot be read.
    #[error("cannot read the version of the schema: {0}")]
    Schema(#[source] sqlx::Error),
    /// The schema lacks migrations.
    #[error(
        "the schema has version {found}, and this version of Sealward requires version {required}: \
         run `sealward migrate` with the login that owns the schema"
    )]
    Outdated {
        /// The latest migration of the database; 0 if it has none.
        found: i64,
        /// The latest migration of this binary.
        required: i64,
    },
    /// A migration did not get its locks.
    #[error(
        "migration {0} did not get its locks, because other sessions use the tables: end long \
         queries, backups and maintenance, then run `sealward migrate` again"
    )]
    Locked(i64),
    /// A query of a migration failed.
    #[error("cannot bring the schema up to date: {0}")]
    Query(#[from] sqlx::Error),
    /// The migration fails.
    #[error("cannot bring the schema up to date: {0}; did a newer version use this database?")]
    Migration(#[from] MigrateError),
}

impl Error {
    /// Whether only an operator can remove the cause, so that a restart does not help.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::NoRole { .. } | Self::Outdated { .. })
    }
}
