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
/// not know or knows with another content.
pub async fn migrate(servers: &Servers, settings: &Database) -> Result<Vec<i64>, Error> {
    let (mut connection, _) = servers.primary(settings.connect_timeout.0).await?;
    apply(&MIGRATIONS, &mut connection, PATIENCE).await
}

/// The same with other migrations and another time for their locks. The connection keeps a lock
/// until it is closed.
pub async fn apply(
    migrator: &Migrator,
    connection: &mut PgConnection,
    patience: Duration,
) -> Result<Vec<i64>, Error> {
    pin_search_path(connection).await?;
    connection.lock().await?;
    let applied = store::applied(connection).await.unwrap_or_default();
    match compare(migrator, &applied) {
        // This needs no privileges of the owner.
        Ok(SchemaAge::Current) => return Ok(Vec::new()),
        Ok(SchemaAge::Newer) | Err(Error::Outdated { .. }) => {}
        Err(error) => return Err(error),
    }
    let missing: Vec<&Migration> =
        migrator.iter().filter(|step| checksum(&applied, step).is_none()).collect();
    for step in &missing {
        if step.no_tx {
            store::drop_invalid_indexes(connection, step.sql.as_str()).await?;
        }
        apply_one(migrator, connection, step, patience).await?;
    }
    // This refuses a schema with migrations of a later version.
    migrator.run(connection).await?;
    Ok(missing.iter().map(|step| step.version).collect())
}

/// Lets unqualified names refer to the schema of this installation only. It is the first schema of the
/// search path in which this login owns an installation, or else the first schema.
async fn pin_search_path(connection: &mut PgConnection) -> sqlx::Result<()> {
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
    let timeout = if step.no_tx { Duration::ZERO } else { LOCK_TIMEOUT };
    loop {
        store::set_lock_timeout(connection, timeout).await?;
        let done = migrator.run_to(step.version, &mut *connection).await;
        store::set_lock_timeout(connection, Duration::ZERO).await?;
        match done {
            Ok(()) => return Ok(()),
            Err(error) if !is_locked_out(&error) => return Err(error.into()),
            Err(_) if Instant::now() >= deadline => return Err(Error::Locked(step.version)),
            Err(_) => {
                tracing::debug!(version = step.version, "a lock is not available, trying again");
                sleep(PAUSE).await;
            }
        }
    }
}

fn is_locked_out(error: &MigrateError) -> bool {
    let (MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) = error else {
        return false;
    };
    super::is_locked_out(cause)
}

/// Compares the schema with the migrations of this version. It changes nothing.
pub async fn check_schema(pool: &Pool) -> Result<SchemaAge, Error> {
    let mut connection = pool.acquire().await.map_err(Error::Schema)?;
    let applied = match store::applied(&mut connection).await {
        Ok(applied) => applied,
        Err(error) if store::is_no_schema(&error) => Vec::new(),
        Err(error) => return Err(Error::Schema(error)),
    };
    compare(&MIGRATIONS, &applied)
}

/// Releases only add migrations. A database with another content of a migration, or with unknown migrations
/// instead of known ones, therefore belongs to no release.
fn compare(migrator: &Migrator, applied: &[(i64, Vec<u8>)]) -> Result<SchemaAge, Error> {
    let is_known = |version: i64| migrator.iter().any(|step| step.version == version);
    let is_changed = |step: &Migration| {
        checksum(applied, step).is_some_and(|checksum| *checksum != *step.checksum)
    };
    let is_missing = migrator.iter().any(|step| checksum(applied, step).is_none());
    let is_newer = applied.iter().any(|(version, _)| !is_known(*version));
    match (is_missing, is_newer) {
        _ if migrator.iter().any(is_changed) => Err(Error::DevelopmentVersion),
        (true, true) => Err(Error::DevelopmentVersion),
        (true, false) => Err(Error::Outdated {
            found: newest(applied.iter().map(|(version, _)| *version)),
            required: newest(migrator.iter().map(|step| step.version)),
        }),
        (false, true) => Ok(SchemaAge::Newer),
        (false, false) => Ok(SchemaAge::Current),
    }
}

fn newest(versions: impl Iterator<Item = i64>) -> i64 {
    versions.max().unwrap_or_default()
}

/// The checksum of a migration in the database, if it is applied.
fn checksum<'a>(applied: &'a [(i64, Vec<u8>)], step: &Migration) -> Option<&'a [u8]> {
    let found = applied.iter().find(|(version, _)| *version == step.version);
    found.map(|(_, checksum)| &**checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(count: usize) -> Vec<(i64, Vec<u8>)> {
        let steps = MIGRATIONS.iter().take(count);
        steps.map(|step| (step.version, step.checksum.to_vec())).collect()
    }

    #[test]
    fn an_older_schema_is_refused_with_the_command_that_migrates_it() {
        let all = MIGRATIONS.iter().count();
        assert_eq!(compare(&MIGRATIONS, &applied(all)).unwrap(), SchemaAge::Current);
        for older in [0, all - 1] {
            let error = compare(&MIGRATIONS, &applied(older)).unwrap_err();
            assert!(matches!(error, Error::Outdated { .. }), "{error:?}");
            assert!(error.to_string().contains("`sealward migrate`"), "{error}");
        }
    }

    #[test]
    fn a_newer_schema_is_accepted_and_one_of_a_development_version_is_not() {
        let all = MIGRATIONS.iter().count();
        let mut newer = applied(all);
        newer.push((9999, vec![1]));
        assert_eq!(compare(&MIGRATIONS, &newer).unwrap(), SchemaAge::Newer);
        let other_content = |mut applied: Vec<(i64, Vec<u8>)>| {
            applied[0].1 = vec![1];
            applied
        };
        newer.remove(1);
        for of_development in [other_content(applied(all)), other_content(applied(1)), newer] {
            let error = compare(&MIGRATIONS, &of_development).unwrap_err();
            assert!(matches!(error, Error::DevelopmentVersion), "{error:?}");
        }
    }

    fn statements(sql: &str) -> usize {
        let code: String = sql.lines().filter(|line| !line.starts_with("--")).collect();
        code.split(';').filter(|part| !part.trim().is_empty()).count()
    }

    /// Several statements in one message are one transaction.
    #[test]
    fn a_migration_without_a_transaction_is_one_statement() {
        let one = "-- no-transaction\nCREATE INDEX CONCURRENTLY a\n    ON b (c);\n";
        assert_eq!(statements(one), 1);
        assert_eq!(statements(&format!("{one}SELECT 1;\n")), 2);
        for step in MIGRATIONS.iter().filter(|step| step.no_tx) {
            assert_eq!(statements(step.sql.as_str()), 1, "migration {}", step.version);
        }
    }
}
