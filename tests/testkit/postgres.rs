//! A database per test, created from a migrated template.

use std::borrow::Cow;
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};

use engine::db::Pool;
use engine::rows::{invalid_rows, seal_seen};
use engine::seals::RowKey;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, Postgres, SqlSafeStr as _,
    Transaction,
};

/// The advisory lock that all test processes take to create the template.
const LOCK: i64 = 0x5ea1_3a2d;

/// The version of a migration that only tests have.
pub const NEXT: i64 = 9000;

/// The database of one test. Dropping this value drops the database.
#[derive(Debug)]
pub struct Database {
    /// `None` if the cluster is deleted with its database.
    name: Option<String>,
    options: PgConnectOptions,
    /// Logins that are dropped with the database.
    logins: Mutex<Vec<String>>,
}

impl Database {
    /// Creates an empty database with the schema of this binary.
    pub async fn new() -> Self {
        let cluster = cluster();
        let mut admin = cluster.connect().await.expect("connect to the cluster");
        let template = template(&cluster, &mut admin).await;
        Self::of_template(cluster, admin, &template).await
    }

    /// Creates a database without the schema.
    pub async fn empty() -> Self {
        let cluster = cluster();
        let admin = cluster.connect().await.expect("connect to the cluster");
        Self::of_template(cluster, admin, "template1").await
    }

    async fn of_template(
        cluster: PgConnectOptions,
        mut admin: PgConnection,
        template: &str,
    ) -> Self {
        let name = format!("it_{:032x}", rand::random::<u128>());
        // Half of the CPU time of the default, which writes each block to the log.
        let create = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy");
        run(&mut admin, create).await;
        admin.close().await.expect("leave the cluster");
        Self { options: cluster.database(&name), name: Some(name), logins: Mutex::default() }
    }

    /// Creates a login that is a member of `roles` and dropped with this database. Its password is
    /// its name.
    pub async fn login(&self, roles: &[&str]) -> PgConnectOptions {
        let name = format!("it_{:032x}", rand::random::<u128>());
        let mut admin = self.options.connect().await.expect("a connection");
        run(&mut admin, format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await;
        for role in roles {
            run(&mut admin, format!("GRANT {role} TO {name}")).await;
        }
        let mut logins = self.logins.lock().expect("the logins");
        logins.push(name.clone());
        self.options.clone().username(&name).password(&name)
    }

    /// A database in a temporary cluster with these options.
    pub fn of_cluster(options: PgConnectOptions) -> Self {
        Self { name: None, options, logins: Mutex::default() }
    }

    /// The connection options of the owner.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The connection options of the service.
    pub fn as_application(&self) -> PgConnectOptions {
        engine::db::as_application(self.options.clone())
    }

    /// The settings section for this database, with a separate password.
    pub fn settings(&self) -> String {
        let mut url = self.options.to_url_lossy();
        let password = url.password().map(str::to_owned);
        let is_set = url.set_password(None);
        is_set.expect("an address that can have a password");
        let password = password.map(|text| format!("password = {{ value = \"{text}\" }}\n"));
        format!("[database]\nurl = \"{url}\"\n{}", password.unwrap_or_default())
    }

    /// A connection pool.
    pub fn pool(&self) -> Pool {
        pool(self.options.clone())
    }
}

/// A pool that connects on demand.
pub fn pool(options: PgConnectOptions) -> Pool {
    let pool = PgPoolOptions::new().max_connections(4);
    let pool: Pool = pool.connect_lazy_with(options).into();
    let key = RowKey::derive([(1, b"the row key of all tests in this process".as_slice())]);
    pool.seals().unlock(key.expect("a key"));
    pool
}

/// Changes rows by SQL like an operator, who then seals them.
pub async fn rewrite(pool: &Pool, sql: &'static str) {
    let transaction = begin_to_rewrite(pool, sql).await;
    transaction.commit().await.expect("a commit");
}

/// The same in a transaction that is not committed yet.
pub async fn begin_to_rewrite(pool: &Pool, sql: &'static str) -> Transaction<'static, Postgres> {
    let mut transaction = pool.begin().await.expect("a transaction");
    sqlx::raw_sql(sql).execute(&mut *transaction).await.expect("a change");
    assert_ne!(seal_invalid(pool, &mut transaction).await, 0, "{sql} changes no sealed row");
    transaction
}

/// Seals the rows that do not count, like an operator.
pub async fn seal_rows(pool: &Pool) {
    let mut transaction = pool.begin().await.expect("a transaction");
    seal_invalid(pool, &mut transaction).await;
    transaction.commit().await.expect("a commit");
}

async fn seal_invalid(pool: &Pool, connection: &mut PgConnection) -> usize {
    let invalid = invalid_rows(pool.rows_on(connection), &[]).await.expect("the invalid rows");
    let sealed = seal_seen(pool.rows_on(connection), &invalid).await;
    sealed.expect("sealed rows");
    invalid.len()
}

impl Drop for Database {
    /// Drops the database in the background. Postgres waits until all pending connections are
    /// complete or closed, and this test closes its own after this function returns. A remaining
    /// database does not fail the test, because the cluster is temporary.
    fn drop(&mut self) {
        let Some(name) = self.name.take() else {
            return;
        };
        let logins = std::mem::take(self.logins.get_mut().unwrap_or_else(PoisonError::into_inner));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let mut admin = cluster().connect().await.expect("connect to the cluster");
                run(&mut admin, format!("DROP DATABASE {name} WITH (FORCE)")).await;
                for login in logins {
                    run(&mut admin, format!("DROP ROLE {login}")).await;
                }
            });
        });
    }
}

/// The environment variables for the Postgres programs to connect as superuser.
pub fn superuser() -> Vec<(&'static str, String)> {
    let url = cluster().to_url_lossy();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    vec![
        ("PGHOST", text(url.host_str())),
        ("PGPORT", url.port().map(|port| port.to_string()).unwrap_or_default()),
        ("PGUSER", url.username().to_owned()),
        ("PGPASSWORD", text(url.password())),
    ]
}

#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
pub(super) fn cluster() -> PgConnectOptions {
    let url = std::env::var("SEALWARD_TEST_POSTGRES")
        .expect("SEALWARD_TEST_POSTGRES is not set; use ./dev test");
    PgConnectOptions::from_str(&url).expect("SEALWARD_TEST_POSTGRES must be a Postgres URL")
}

/// The migrations of this version and one more, which has the version [`NEXT`].
pub fn with_migration(sql: &'static str, no_tx: bool) -> Migrator {
    let mut migrations: Vec<_> = sqlx::migrate!("../../migrations").iter().cloned().collect();
    let next =
        Migration::new(NEXT, "test".into(), MigrationType::Simple, sql.into_sql_str(), no_tx);
    migrations.push(next);
    Migrator { migrations: Cow::Owned(migrations), ..Migrator::DEFAULT }
}

/// The template with the migrations of this binary. The first test creates it.
async fn template(cluster: &PgConnectOptions, admin: &mut PgConnection) -> String {
    let migrator = sqlx::migrate!("../../migrations");
    let sums = migrator.iter().flat_map(|step| step.checksum.iter());
    let sum = sums.fold(0_u64, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte));
    let name = format!("template_{sum:016x}");
    let is_there = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
    let exists = async |admin: &mut PgConnection| -> bool {
        sqlx::query_scalar(is_there)
            .bind(&name)
            .fetch_one(admin)
            .await
            .expect("look for the template")
    };
    if exists(admin).await {
        return name;
    }
    run(admin, format!("SELECT pg_advisory_lock({LOCK})")).await;
    if !exists(admin).await {
        let unfinished = format!("{name}_unfinished");
        run(admin, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await;
        run(admin, format!("CREATE DATABASE {unfinished}")).await;
        let options = cluster.clone().database(&unfinished);
        let mut connection = options.connect().await.expect("connect to the template");
        migrator.run(&mut connection).await.expect("migrate the template");
        connection.close().await.expect("leave the template");
        run(admin, format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    run(admin, format!("SELECT pg_advisory_unlock({LOCK})")).await;
    name
}

async fn run(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql.clone()))
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}
