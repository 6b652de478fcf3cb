//! The audit log in Postgres.

mod days;
mod entries;
mod insert;

use sqlx::PgConnection;

pub(super) use self::days::{allow_long_statements, close_day, make_days};
pub(super) use self::entries::{entries, entries_named, entry, plan};
pub(super) use self::insert::{insert, insert_again};
use crate::db;

/// Why records were not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotWritten {
    /// There is no partition for their day.
    #[error("there is no partition for this day")]
    NoDay,
    /// The database refuses the data; nothing was written.
    #[error("{0}")]
    Data(sqlx::Error),
    /// The database did not answer: it is unknown whether the records were written.
    #[error("{0}")]
    Away(sqlx::Error),
}

impl From<sqlx::Error> for NotWritten {
    fn from(error: sqlx::Error) -> Self {
        let refusal = error.as_database_error();
        let code = refusal.and_then(|refusal| refusal.code());
        let constraint = refusal.and_then(|refusal| refusal.constraint());
        match code.as_deref() {
            Some("23514") if constraint.is_none() => Self::NoDay,
            Some(code) if code.starts_with("22") || code.starts_with("23") => Self::Data(error),
            Some(_) => Self::Away(error),
            None if matches!(error, sqlx::Error::Encode(_)) => Self::Data(error),
            None => Self::Away(error),
        }
    }
}

/// Why the maintenance of the daily partitions failed.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// It took too long.
    #[error("timed out")]
    Late,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The failure of a database that does not answer in time.
pub(super) fn late() -> NotWritten {
    let silence = std::io::Error::new(std::io::ErrorKind::TimedOut, "the reply timed out");
    NotWritten::Away(sqlx::Error::Io(silence))
}

/// Whether the database accepts writes: a standby does not.
pub(super) async fn writable(connection: &mut PgConnection) -> Result<(), NotWritten> {
    if !db::takes_writes(connection).await? {
        let standby = std::io::Error::other("the database is read-only");
        return Err(NotWritten::Away(sqlx::Error::Io(standby)));
    }
    Ok(())
}
