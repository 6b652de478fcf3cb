//! The restore of the operations guide to its end: a dump in a new database, rows changed with SQL and sealed,
//! and the service over them.

use std::process::Command;

use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use testkit::{Process, Site, jwe, superuser};

/// Runs a program of Postgres.
fn run(program: &str, arguments: &[&str]) {
    let ended = Command::new(program).args(arguments).envs(superuser()).output();
    let ended = ended.expect("run the program");
    assert!(ended.status.success(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_database_serves_after_its_rows_are_sealed() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    let (destination, application) = process.bound_application().await;
    let envelope = jwe(&application.protect(json!("before the backup")).await);
    let api_key = application.key.clone().expect("an API key");
    let wanted = process.key(&destination.service, "sig", "P-256").await;
    let wanted = format!("/admin/keys/{wanted}");
    process.admin().delete(&wanted).await.gone();

    let dump = site.file("database.dump");
    let dump = dump.to_str().expect("a path of text");
    let name = site.database().get_database().expect("its name").to_owned();
    run("pg_dump", &["--format=custom", "--file", dump, &name]);
    // The restored database does not know this change.
    let renamed = json!({ "name": "after the backup" });
    let service = format!("/admin/services/{}", destination.service);
    process.admin().put(&service, renamed).await.ok();
    process.terminate();
    let restored = format!("{name}_restored");
    run("createdb", &[&restored]);
    run("pg_restore", &["--dbname", &restored, dump]);

    let options = site.database().clone().database(&restored);
    let mut database = options.connect().await.expect("a connection");
    let keep = "UPDATE keys SET status = 'disabled', destroy_at = NULL, destroying_at = NULL
                 WHERE status = 'pending_destruction'";
    sqlx::query(keep).execute(&mut database).await.expect("a change");
    drop(database);
    let mut url = options.to_url_lossy();
    url.set_password(None).expect("an address");
    let restored_at = [("SEALWARD_DATABASE_URL", url.as_str())];
    let reseal = |arguments: &[&str]| site.run_with(arguments, restored_at[0].0, restored_at[0].1);
    let sealed = reseal(&["rows", "reseal", "--yes"]).success().stdout;
    assert!(sealed.contains("forged") && sealed.ends_with("1 rows are sealed\n"), "{sealed}");
    assert_eq!(reseal(&["rows", "reseal"]).success().line(), "every row counts");

    let process = Process::start_with(&site, &restored_at).await;
    let opened = process.client(&api_key).unprotect(&envelope).await.ok().json();
    assert_eq!(opened["payload"], "before the backup");
    assert_ne!(process.admin().get(&service).await.ok().text("name"), "after the backup");
    let key = process.admin().put(&wanted, json!({ "status": "active" })).await.ok();
    assert_eq!(key.text("status"), "active");
    let health = process.admin().get("/api/v1/health").await.ok().json();
    assert_eq!(health["status"], "ok", "{health}");
    process.terminate();
    let sql = format!("DROP DATABASE {restored} WITH (FORCE)");
    let mut owner = site.connect().await;
    sqlx::query(AssertSqlSafe(sql)).execute(&mut owner).await.expect("the end of the database");
}
