//! The schema: the embedded migrations, and the check that a database has them.
//!
//! A migration changes tables that the running service writes to. In a transaction it waits at most
//! [`LOCK_TIMEOUT`] for a lock, because the audit writer waits behind it. If it does not get its
//! lock, it starts again. A migration marked `-- no-transaction` consists of one statement that
//! blocks no writes, such as `CREATE INDEX CONCURRENTLY`, and waits as long as necessary.

mod store;

use std::time::Duration;

use sqlx::PgConnection;
use sqlx::migrate::{Migrate as _, MigrateError, Migration, Migrator};
use tokio::time::{Instant, sleep};

use super::{Error, Servers};
use crate::db::Pool;
use crate::settings::Database;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// The maximum time that a migration waits for a lock, and so delays the audit writer.
const LOCK_TIMEOUT: Duration = Duration::from_millis(20);

/// The pause before a migration starts again.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a migration is started again.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Postgres: a lock is not available.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// The schema of a database, compared with the migrations of this version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SchemaAge {
    /// It has exactly these migrations.
    Current,
    /// It also has migrations of a later version.
    Newer,
}

/// Applies missing migrations as the owner of the schema. Of several processes, one works and the
/// others wait. Returns the versions that it applied.
///
/// # Errors
/// A migration fails, does not get its locks, or the database has migrations that this binary does
/// not know.
pub async fn migrate(servers: &Servers, settings: &Database) -> Result<Vec<i64>, Error> {
    let (mut connection, _) = servers.primary(settings.connect_timeout.0).await?;
    apply(&MIGRATIONS, &mut connection, PATIENCE).await
}

/// The same with other migrations and another time for their locks. The connection keeps a lock
/// until it is closed.
///
/// # Errors
/// As above.
pub async fn apply(
    migrator: &Migrator,
    connection: &mut PgConnection,
    patience: Duration,
) -> Result<Vec<i64>, Error> {
    pin_search_path(connection).await?;
    connection.lock().await?;
    let applied = store::applied(connection).await.unwrap_or_default();
    let is_missing =
        |step: &&Migration| applied.iter().all(|(version, _)| *version != step.version);
    let missing: Vec<&Migration> = migrator.iter().filter(is_missing).collect();
    // This needs no privileges of the owner.
    if matches!(compare(migrator, &applied), Ok(SchemaAge::Current)) {
        return Ok(Vec::new());
    }
    for step in &missing {
        if step.no_tx {
            store::drop_invalid_indexes(connection, step.sql.as_str()).await?;
        }
        apply_one(migrator, connection, step, patience).await?;
    }
    // This refuses unknown and changed migrations also if none is missing.
    migrator.run(connection).await?;
    Ok(missing.iter().map(|step| step.version).collect())
}

/// Lets unqualified names refer to the schema of this installation only. It is the first schema of the
/// search path in which this login owns an installation, or else the first schema.
///
/// # Errors
/// The database cannot be read.
pub async fn pin_search_path(connection: &mut PgConnection) -> sqlx::Result<()> {
    let path = store::search_path(connection).await?;
    store::set_search_path(connection, None).await?;
    if let Some(schema) = store::schema_of_installation(connection, &path).await? {
        store::set_search_path(connection, Some(&schema)).await?;
    }
    Ok(())
}

async fn apply_one(
    migrator: &Migrator,
    connection: &mut PgConnection,
    step: &Migration,
    patience: Duration,
) -> Result<(), Error> {
    let deadline = Instant::now() + patience;
    let timeout = if step.no_tx {
        Duration::ZERO
    } else {
        LOCK_TIMEOUT
    };
    loop {
        store::set_lock_timeout(connection, timeout).await?;
        let done = migrator.run_to(step.version, &mut *connection).await;
        store::set_lock_timeout(connection, Duration::ZERO).await?;
        match done {
            Ok(()) => return Ok(()),
            Err(error) if !is_locked_out(&error) => return Err(error.into()),
            Err(_) if Instant::now() >= deadline => return Err(Error::Locked(step.version)),
            Err(_) => {
                tracing::debug!(
                    version = step.version,
                    "a lock is not available, trying again"
                );
                sleep(PAUSE).await;
            }
        }
    }
}

fn is_locked_out(error: &MigrateError) -> bool {
    let (MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) = error else {
        return false;
    };
    let code = cause.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some(LOCK_NOT_AVAILABLE)
}

/// Compares the schema with the migrations of this version. It changes nothing.
///
/// # Errors
/// The schema is older, differs, or cannot be read.
pub async fn check_schema(pool: &Pool) -> Result<SchemaAge, Error> {
    let mut connection = pool.acquire().await.map_err(Error::Schema)?;
    let applied = match store::applied(&mut connection).await {
        Ok(applied) => applied,
        Err(error) if store::is_no_schema(&error) => Vec::new(),
        Err(error) => return Err(Error::Schema(error)),
    };
    compare(&MIGRATIONS, &applied)
}

fn compare(migrator: &Migrator, applied: &[(i64, Vec<u8>)]) -> Result<SchemaAge, Error> {
    let found = applied.iter().map(|(version, _)| *version).max();
    let required = migrator.iter().map(|step| step.version).max();
    for step in migrator.iter() {
        match applied.iter().find(|(version, _)| *version == step.version) {
            Some((_, checksum)) if **checksum == *step.checksum => {}
            Some(_) => return Err(MigrateError::VersionMismatch(step.version).into()),
            None => {
                return Err(Error::Outdated {
                    found: found.unwrap_or_default(),
                    required: required.unwrap_or_default(),
                });
            }
        }
    }
    Ok(if found > required {
        SchemaAge::Newer
    } else {
        SchemaAge::Current
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(count: usize) -> Vec<(i64, Vec<u8>)> {
        let steps = MIGRATIONS.iter().take(count);
        steps
            .map(|step| (step.version, step.checksum.to_vec()))
            .collect()
    }

    #[test]
    fn an_older_schema_is_refused_with_the_command_that_migrates_it() {
        let all = MIGRATIONS.iter().count();
        assert_eq!(
            compare(&MIGRATIONS, &applied(all)).unwrap(),
            SchemaAge::Current
        );
        for older in [0, all - 1] {
            let error = compare(&MIGRATIONS, &applied(older)).unwrap_err();
            assert!(matches!(error, Error::Outdated { .. }), "{error:?}");
            assert!(error.to_string().contains("`sealward migrate`"), "{error}");
        }
    }

    #[test]
    fn a_newer_schema_is_accepted_and_a_different_one_is_not() {
        let all = MIGRATIONS.iter().count();
        let mut newer = applied(all);
        newer.push((9999, vec![1]));
        assert_eq!(compare(&MIGRATIONS, &newer).unwrap(), SchemaAge::Newer);
        newer[0].1 = vec![1];
        assert!(compare(&MIGRATIONS, &newer).is_err());
    }

    /// Several statements in one message are one transaction.
    #[test]
    fn a_migration_without_a_transaction_is_one_statement() {
        for step in MIGRATIONS.iter().filter(|step| step.no_tx) {
            let code = step
                .sql
                .as_str()
                .lines()
                .filter(|line| !line.starts_with("--"));
            let code: String = code.collect();
            let statements = code.split(';').filter(|part| !part.trim().is_empty());
            assert_eq!(statements.count(), 1, "migration {}", step.version);
        }
    }
}
