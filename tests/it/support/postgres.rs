//! A database for each test, made from a migrated template.

use std::str::FromStr as _;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, PgPool};

/// Tests of all processes agree on this number when they make the template.
const LOCK: i64 = 0x5ea1_3a2d;

/// A database of one test's own; it is dropped with this.
#[derive(Debug)]
pub(crate) struct Database {
    /// None where it goes with its cluster.
    name: Option<String>,
    options: PgConnectOptions,
}

impl Database {
    /// Makes one, with the schema of this binary and nothing in it.
    pub(crate) async fn new() -> Self {
        let cluster = cluster();
        let mut admin = cluster.connect().await.expect("connect to the cluster");
        let template = template(&cluster, &mut admin).await;
        let name = format!("it_{:032x}", rand::random::<u128>());
        run(
            &mut admin,
            format!("CREATE DATABASE {name} TEMPLATE {template}"),
        )
        .await;
        admin.close().await.expect("leave the cluster");
        Self {
            options: cluster.database(&name),
            name: Some(name),
        }
    }

    /// One in a cluster that is thrown away, to which these options lead.
    pub(crate) fn of_cluster(options: PgConnectOptions) -> Self {
        Self {
            name: None,
            options,
        }
    }

    /// How to connect to it.
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// How the service connects to it.
    pub(crate) fn as_application(&self) -> PgConnectOptions {
        sealward::db::as_application(self.options.clone())
    }

    /// The section of the settings that leads to it. The password stands apart from the address.
    pub(crate) fn settings(&self) -> String {
        let mut url = self.options.to_url_lossy();
        let password = url.password().map(str::to_owned);
        let is_set = url.set_password(None);
        is_set.expect("an address that can have a password");
        let password = password.map(|text| format!("password = {{ value = \"{text}\" }}\n"));
        format!(
            "[database]\nurl = \"{url}\"\n{}",
            password.unwrap_or_default()
        )
    }

    /// Connections to it.
    pub(crate) fn pool(&self) -> PgPool {
        pool(self.options.clone())
    }
}

/// Connections by these options, made when they are needed.
pub(crate) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(4)
        .connect_lazy_with(options)
}

impl Drop for Database {
    /// Nobody waits for it: Postgres drops a database only once every connection that is being made
    /// has been made or given up, and those of this test are given up after this returns. One left
    /// behind at the end fails no test; the cluster is thrown away.
    fn drop(&mut self) {
        let Some(name) = self.name.take() else {
            return;
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let mut admin = cluster().connect().await.expect("connect to the cluster");
                run(&mut admin, format!("DROP DATABASE {name} WITH (FORCE)")).await;
            });
        });
    }
}

/// The variables by which Postgres's own programs reach the cluster as its superuser.
pub(crate) fn superuser() -> Vec<(&'static str, String)> {
    let url = cluster().to_url_lossy();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    vec![
        ("PGHOST", text(url.host_str())),
        (
            "PGPORT",
            url.port().map(|port| port.to_string()).unwrap_or_default(),
        ),
        ("PGUSER", url.username().to_owned()),
        ("PGPASSWORD", text(url.password())),
    ]
}

#[allow(
    clippy::disallowed_methods,
    reason = "the tests have no settings but this one"
)]
pub(super) fn cluster() -> PgConnectOptions {
    let url = std::env::var("SEALWARD_TEST_POSTGRES")
        .expect("SEALWARD_TEST_POSTGRES names a cluster for tests; ./dev test sets it");
    PgConnectOptions::from_str(&url).expect("SEALWARD_TEST_POSTGRES is a URL of Postgres")
}

/// The template with the migrations of this binary, made by whichever test comes first.
async fn template(cluster: &PgConnectOptions, admin: &mut PgConnection) -> String {
    let migrator = sqlx::migrate!("./migrations");
    let sums = migrator.iter().flat_map(|step| step.checksum.iter());
    let sum = sums.fold(0_u64, |sum, byte| {
        sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
    });
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
        run(
            admin,
            format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"),
        )
        .await;
        run(admin, format!("CREATE DATABASE {unfinished}")).await;
        let options = cluster.clone().database(&unfinished);
        let mut connection = options.connect().await.expect("connect to the template");
        migrator
            .run(&mut connection)
            .await
            .expect("migrate the template");
        connection.close().await.expect("leave the template");
        run(
            admin,
            format!("ALTER DATABASE {unfinished} RENAME TO {name}"),
        )
        .await;
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
