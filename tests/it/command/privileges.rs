//! The schema and the login that `sealward serve` requires.

use sqlx::PgConnection;

use testkit::Database;
use testkit::{Exit, Process, Site};

/// Variables for a staging environment with the token of this site.
fn staging(login: &[(String, String)]) -> Vec<(&str, &str)> {
    let mut variables =
        vec![("SEALWARD_ENVIRONMENT", "staging"), ("SEALWARD_HSM_ALLOW_RAW_RSA", "false")];
    variables.extend(login.iter().map(|(name, value)| (&**name, &**value)));
    variables
}

fn serve(site: &Site, variables: &[(&str, &str)]) -> Exit {
    let mut command = site.command(&["serve"]);
    let output = command.envs(variables.iter().copied()).output();
    output.expect("run the binary").into()
}

#[tokio::test]
async fn production_refuses_a_login_that_can_delete_audit_records() {
    let site = Site::on_kryoptic().await;
    let retention = ["sealward_application", "sealward_retention"];
    let login = site.login("database", &retention).await;
    let name = login[0].1.split(['/', '@']).nth(2).expect("a name");
    let revoke = format!("REVOKE sealward_retention FROM {name}");
    serve(&site, &staging(&login)).failure(78, &["could change or delete audit records", &revoke]);
    // `sealward doctor` shows the same.
    let mut doctor = site.command(&["doctor", "--skip-trials", "--json"]);
    let report: Exit = doctor.envs(staging(&login)).output().expect("run").into();
    let excess = report.json()["login"]["excess"].to_string();
    assert!(excess.contains(&revoke), "{excess}");
    report.failure(78, &[&revoke]);
    // Development accepts it.
    let development: Vec<_> = staging(&login).split_off(2);
    let process = Process::start_with(&site, &development).await;
    assert_eq!(process.terminate(), Some(0));
}

#[tokio::test]
async fn production_starts_only_with_the_login_of_the_service() {
    let site = Site::on_kryoptic().await;
    let login = site.login("database", &["sealward_application"]).await;
    let process = Process::start_with(&site, &staging(&login)).await;
    assert_eq!(process.terminate(), Some(0));
}

#[tokio::test]
async fn an_old_schema_is_refused_without_changes() {
    let database = Database::empty().await;
    let site = Site::on(database);
    let says = ["`sealward migrate`"];
    site.run(&["serve"]).failure(78, &says);
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    let mut owner = site.connect().await;
    let tables: i64 = sqlx::query_scalar(tables).fetch_one(&mut owner).await.unwrap();
    assert_eq!(tables, 0);
    let migrations = sqlx::migrate!("./migrations");
    let last = migrations.iter().map(|step| step.version).max().unwrap();
    migrations.run_to(last - 1, &mut owner).await.unwrap();
    let versions = [format!("has version {}", last - 1), format!("requires version {last}")];
    site.run(&["serve"]).failure(78, &[says[0], &versions[0], &versions[1]]);
    site.run(&["migrate"]).success();
    let process = Process::start(&site).await;
    assert_eq!(process.terminate(), Some(0));
}

/// The first migration of development versions had this checksum.
const OF_DEVELOPMENT: &str = "83986a1a3feaf1d0037b5439054773c147c18cf21912f609\
     c0cb664250b38d674494beec9f88b6ef56572d4f3cdcccdd";

#[tokio::test]
async fn a_database_of_a_development_version_is_refused_without_changes() {
    let database = Database::new().await;
    let site = Site::on(database);
    let mut owner = site.connect().await;
    let development = "UPDATE _sqlx_migrations SET checksum = decode($1, 'hex') WHERE version = 1";
    let development = sqlx::query(development).bind(OF_DEVELOPMENT);
    development.execute(&mut owner).await.unwrap();
    let last =
        "DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    sqlx::query(last).execute(&mut owner).await.unwrap();
    let applied = async |owner: &mut PgConnection| -> Vec<i64> {
        let versions = sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version");
        versions.fetch_all(owner).await.unwrap()
    };
    let before = applied(&mut owner).await;
    let says = "sealward: a development version of Sealward made this database, and no release can migrate \
                it: create an empty database and run `sealward migrate`\n";
    for command in ["migrate", "serve"] {
        site.run(&[command]).failure(78, &[says]);
    }
    assert_eq!(applied(&mut owner).await, before);
}

#[tokio::test]
async fn migrations_use_the_login_of_the_owner() {
    let site = Site::on(Database::empty().await);
    let owner = site.login("migrate", &[]).await;
    let name = owner[0].1.split(['/', '@']).nth(2).expect("a name").to_owned();
    let mut admin = site.connect().await;
    let database = site.database().get_database().expect("a name");
    let sql = format!("ALTER DATABASE {database} OWNER TO {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
    let migrate = |variables: [(String, String); 2]| -> Exit {
        let output = site.command(&["migrate"]).envs(variables).output();
        output.expect("run the binary").into()
    };
    migrate(owner).success();
    let sql = "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'";
    let owners: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut admin).await.unwrap();
    assert_eq!(owners, [name]);
}
