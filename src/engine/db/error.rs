//! Why Postgres cannot be used.

use std::path::PathBuf;

use sqlx::migrate::MigrateError;

use crate::settings::NotInPem;

/// Postgres cannot be used. The message names the setting and the way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is invalid.
    #[error(
        "{section}.url must be a Postgres URL such as postgres://user@host:5432/name: {source}"
    )]
    Address {
        /// The section of the settings.
        section: &'static str,
        /// The error.
        source: sqlx::Error,
    },
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
        "{section}.url asks for less than verified TLS to {place}: remove sslmode, or set \
         database.allow_plain = true if the network in between is protected"
    )]
    Unverified {
        /// The section of the settings.
        section: &'static str,
        /// Host, port and name of the database.
        place: String,
    },
    /// The certificate of the server is not valid.
    #[error(
        "Postgres at {place} ({section}.url) is not trusted: {source}; its certificate must name this \
         host and come from a CA in database.ca"
    )]
    Untrusted {
        /// The section of the settings.
        section: &'static str,
        /// Host, port and name of the database.
        place: String,
        /// The TLS error.
        source: sqlx::Error,
    },
    /// The connection fails.
    #[error("cannot connect to Postgres at {place} ({section}.url): {source}; {advice}")]
    Unreachable {
        /// The section of the settings.
        section: &'static str,
        /// Host, port and name of the database.
        place: String,
        /// What the operator can do.
        advice: String,
        /// The error.
        source: sqlx::Error,
    },
    /// No server accepts writes.
    #[error(
        "no server of {section}.url accepts writes; the first is {place}: name the primary in \
         {section}.url, or promote one of them"
    )]
    OnlyStandbys {
        /// The section of the settings.
        section: &'static str,
        /// Host, port and name of the database at the first of them.
        place: String,
    },
    /// This login cannot use the role of the service, or the role does not exist.
    #[error(
        "the login {login} at {place} cannot use the role sealward_application: run \
         `sealward migrate`, then GRANT sealward_application TO {login}"
    )]
    NoRole {
        /// The login.
        login: String,
        /// Host, port and name of the database.
        place: String,
    },
    /// The server does not create or drop the database of a drill.
    #[error("cannot create or drop the database of the drill: {0}; its login needs CREATEDB")]
    Scratch(#[source] sqlx::Error),
    /// The login of a drill could do more than the drill needs.
    #[error(
        "the SQL of a dump runs with the login of --scratch, which must have no right but CREATEDB: {}",
        .0.join(", ")
    )]
    ScratchLogin(Vec<String>),
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
    /// No release made the schema.
    #[error(
        "a development version of Sealward made this database, and no release can migrate it: create \
         an empty database and run `sealward migrate`"
    )]
    DevelopmentVersion,
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

/// What an operator can do about a failed connection with the URL in `section`.
pub(super) fn advice(section: &str, error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    match (code.as_deref(), error) {
        (Some("28P01"), _) => format!("correct {section}.password, or the password of this login"),
        (Some("28000"), _) => {
            format!("create the login in {section}.url, and allow it in pg_hba.conf of Postgres")
        }
        (Some("3D000"), _) => format!("create the database, or correct its name in {section}.url"),
        (Some("53300"), _) => {
            "increase max_connections of Postgres, or reduce database.connections".to_owned()
        }
        (Some("57P03"), _) => "try again when Postgres has started".to_owned(),
        (_, sqlx::Error::PoolTimedOut) => format!(
            "Postgres did not answer within database.connect_timeout: check the network, and the \
             host and port in {section}.url"
        ),
        (_, sqlx::Error::Io(_)) => format!(
            "start Postgres, or correct the host and port in {section}.url; also check the network"
        ),
        _ => format!("check that the login in {section}.url may connect"),
    }
}

/// Whether the database fails temporarily: the error is not a defect of the service.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        // Only a process without the present row key or with former rows makes this error.
        sqlx::Error::Configuration(_)
        | sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Lost connections (08), rolled-back transactions (40), exhausted resources (53), operator
        // intervention (57), disk errors (58), and a server that is read-only (25006).
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| {
            code == "25006"
                || ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class))
        }),
        // sqlx can add errors.
        _ => false,
    }
}

impl Error {
    /// Whether only an operator can remove the cause, so that a restart does not help.
    pub fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::NoRole { .. }
                | Self::Outdated { .. }
                | Self::DevelopmentVersion
                | Self::ScratchLogin(_)
        )
    }
}
