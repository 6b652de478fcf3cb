//! The way to Postgres: connections, the migrations embedded in this binary, whether it is there.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::settings::Database;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Postgres cannot be used. The text names the setting and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is none.
    #[error("database.url is not a Postgres URL such as postgres://user@host:5432/name: {0}")]
    Address(#[source] sqlx::Error),
    /// Nobody answers, or not to us.
    #[error(
        "cannot use Postgres at {place} (database.url): {source}; is it running, and may this user connect?"
    )]
    Unreachable {
        /// Host, port and name of the database.
        place: String,
        /// What it said.
        source: sqlx::Error,
    },
    /// The schema cannot be brought up to date.
    #[error("cannot bring the schema up to date: {0}; was this database used by a newer version?")]
    Migration(#[from] MigrateError),
}

/// What is said of a row that this version does not understand.
pub fn undecodable(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> sqlx::Error {
    sqlx::Error::Decode(what.into())
}

/// How to connect, as the settings say.
///
/// # Errors
/// When `database.url` is not a URL of Postgres.
pub fn options(
    settings: &Database,
    password: Option<&SecretString>,
) -> Result<PgConnectOptions, Error> {
    let options: PgConnectOptions = settings.url.parse().map_err(Error::Address)?;
    let options = options.application_name("sealward");
    Ok(match password {
        Some(password) => options.password(password.expose_secret()),
        None => options,
    })
}

/// Connects, having made sure that Postgres answers.
///
/// # Errors
/// When it does not.
pub async fn connect(options: &PgConnectOptions, settings: &Database) -> Result<PgPool, Error> {
    let pool = PgPoolOptions::new()
        .max_connections(settings.connections)
        .acquire_timeout(settings.connect_timeout.0)
        .connect_lazy_with(options.clone());
    // Asked on a connection of its own: a pool would try again until its time is over, and then
    // tell that its time is over instead of what is wrong.
    let answered = tokio::time::timeout(settings.connect_timeout.0, async {
        use sqlx::{ConnectOptions as _, Connection as _};
        options.connect().await?.close().await
    });
    match answered.await.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
        Ok(()) => Ok(pool),
        Err(source) => Err(Error::Unreachable {
            place: place(options),
            source,
        }),
    }
}

/// Applies the migrations that are missing. Of several instances one does it, the others wait.
///
/// # Errors
/// When one fails, or when the database knows migrations that this binary does not.
pub async fn migrate(pool: &PgPool) -> Result<(), Error> {
    Ok(MIGRATIONS.run(pool).await?)
}

/// Whether the database answers within `patience`.
pub async fn answers(pool: &PgPool, patience: Duration) -> bool {
    matches!(
        tokio::time::timeout(patience, sqlx::query("SELECT 1").execute(pool)).await,
        Ok(Ok(_))
    )
}

fn place(options: &PgConnectOptions) -> String {
    let host = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!(
        "{host}:{}/{}",
        options.get_port(),
        options.get_database().unwrap_or_default()
    )
}
