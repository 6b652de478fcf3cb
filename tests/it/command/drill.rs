//! `sealward drill`: the restore of a dump next to a running service.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use testkit::{Destination, Exit, Exposition, PATIENCE, Process, Site, superuser, within};

/// A running service with keys of each use, an anchor, and a login for drills.
struct Office {
    process: Process,
    destination: Destination,
    drills: Drills,
}

/// What a drill needs, without a running service.
struct Drills {
    site: Site,
    login: String,
    url: String,
}

impl Office {
    async fn new() -> Self {
        let site = Site::new().await;
        let anchor = site.file("anchor.json");
        site.add_settings(&format!("[audit.seal]\nanchor = \"{}\"\n", anchor.display()));
        site.run(&["init"]).success();
        site.run(&["audit", "init"]).success();
        let process = Process::start(&site).await;
        site.write("admin", site.admin_key());
        let (destination, application) = process.bound_application().await;
        for (usage, algorithm) in
            [("enc", "RSA-2048"), ("data", "AES-256"), ("sig", "HMAC-SHA256"), ("sig", "P-256")]
        {
            process.key(&destination.service, usage, algorithm).await;
        }
        application.protect(json!("before the backup")).await.ok();
        let (login, url) = drill_login(&site).await;
        Self { process, destination, drills: Drills { site, login, url } }
    }
}

impl Drills {
    /// Waits until the anchor covers everything, and dumps the database.
    async fn dump(&self) {
        self.sealed().await;
        self.write_dump();
    }

    async fn sealed(&self) {
        let sealed = "SELECT (SELECT count(*) FROM audit_log_segments s
                               WHERE NOT EXISTS (SELECT FROM audit_log_positions p
                                                  WHERE p.log = s.log AND p.segment = s.id)) = 0
                         AND (SELECT count(*) FROM audit_log_heads) = 2
                         AND NOT EXISTS (SELECT FROM audit_log_heads WHERE checkpoint_size <> size
                                                                     OR size = 0)";
        let mut connection = self.site.connect().await;
        within(PATIENCE, async || {
            sqlx::query_scalar(sealed).fetch_one(&mut connection).await.expect("the heads")
        })
        .await;
    }

    fn write_dump(&self) {
        let (file, database) = (self.path("database.dump"), self.site.database().get_database());
        let mut dump = Command::new("pg_dump");
        dump.args(["--format=custom", "--file", &file, database.expect("its name")]);
        let ended = dump.envs(superuser()).output().expect("run pg_dump");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }

    fn drill(&self, more: &[&str]) -> Exit {
        let (dump, report) = (self.path("database.dump"), self.path("drill.json"));
        let arguments = ["drill", "--dump", &dump, "--scratch", &self.url, "--output", &report];
        let mut command = self.site.command(&[&arguments[..], more].concat());
        command.env("PATH", path()).env("PGPASSWORD", &self.login);
        command.output().expect("run the binary").into()
    }

    fn report(&self) -> Value {
        let text = fs::read(self.path("drill.json")).expect("the report");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn path(&self, name: &str) -> String {
        self.site.file(name).to_str().expect("a path").to_owned()
    }

    /// The databases that drills have left.
    async fn left_over(&self) -> i64 {
        let sql = "SELECT count(*) FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba
                    WHERE r.rolname = $1";
        let mut connection = self.site.connect().await;
        sqlx::query_scalar(sql).bind(&self.login).fetch_one(&mut connection).await.expect("a count")
    }
}

/// A login that can create databases and nothing else. Its password is its name.
async fn drill_login(site: &Site) -> (String, String) {
    let [(_, url), _] = site.login("drill", &[]).await;
    let login = url.split("://").nth(1).and_then(|rest| rest.split('@').next());
    let login = login.expect("a login").to_owned();
    let mut connection = site.connect().await;
    let sql = format!("ALTER ROLE {login} CREATEDB");
    sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.expect("a right");
    let mut url = site.database().clone().database("postgres").to_url_lossy();
    url.set_password(None).expect("an address");
    url.set_username(&login).expect("an address");
    // pg_restore does not know the parameters of sqlx.
    url.set_query(None);
    (login, url.to_string())
}

#[allow(clippy::disallowed_methods, reason = "the command finds pg_restore in the PATH")]
fn path() -> String {
    std::env::var("PATH").expect("PATH is set")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dump_is_restored_verified_and_dropped() {
    let office = Office::new().await;
    office.drills.dump().await;
    let newest = "SELECT to_char(greatest((SELECT max(ts) FROM crypto_operations_audit), (SELECT max(at) FROM management_events))
                                 AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
    let mut owner = office.drills.site.connect().await;
    let newest: String = sqlx::query_scalar(newest).fetch_one(&mut owner).await.expect("a time");
    // The anchor goes on.
    let renamed = json!({ "name": "after the backup" });
    let service = format!("/admin/services/{}", office.destination.service);
    let anchored = fs::read(office.drills.path("anchor.json")).expect("the anchor");
    office.process.admin().put(&service, renamed).await.ok();
    let is_newer = async || fs::read(office.drills.path("anchor.json")).expect("it") != anchored;
    within(PATIENCE, is_newer).await;

    // A dump before could have set this.
    let login = &office.drills.login;
    let harmful = format!(
        "ALTER ROLE {login} SET search_path = nowhere; ALTER ROLE {login} SET exit_on_error = on;
         ALTER ROLE {login} SET local_preload_libraries = nowhere"
    );
    let mut owner = office.drills.site.connect().await;
    sqlx::raw_sql(AssertSqlSafe(harmful)).execute(&mut owner).await.expect("settings");

    let metrics = office.drills.path("drill.prom");
    let done = office.drills.drill(&["--metrics", &metrics]).success();
    assert!(done.stdout.ends_with(".jws\nthe drill succeeded\n"), "{}", done.stdout);
    let report = office.drills.report();
    assert_eq!((&report["passed"], &report["keys"]["proven"]), (&json!(true), &json!(5)));
    assert_eq!(report["newestRecordAt"], json!(newest));
    for part in ["keys", "rows"] {
        assert!(report[part]["examinedAt"].is_string(), "{report}");
    }
    for log in report["logs"].as_array().expect("logs") {
        assert_ne!((&log["records"], &log["problem"]), (&json!(0), &json!(null)), "{log}");
        assert_eq!(log["problem"], json!(null));
    }
    assert_eq!(office.drills.left_over().await, 0);
    let metrics = fs::read_to_string(metrics).expect("the metric");
    assert!(
        Exposition::parse(&format!("{metrics}# EOF\n"))
            .families
            .contains_key("sealward_drill_last_success_timestamp_seconds")
    );

    // An auditor verifies the report.
    let url = office.process.url("");
    let admin = office.drills.path("admin");
    let jwks = ["report", "jwks", "--url", &url, "--admin-key-file", &admin];
    let keys = office.drills.site.write("jwks", &office.drills.site.run(&jwks).success().stdout);
    let verify = ["report", "verify", &office.drills.path("drill.json"), "--keys"];
    office.drills.site.run(&[&verify[..], &[keys.to_str().expect("a path")]].concat()).success();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drill_names_what_is_wrong_and_leaves_no_database() {
    let office = Office::new().await;
    let by_hand = async |sql: &'static str| {
        let mut connection = office.drills.site.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.expect("a change");
    };
    // A row that Sealward did not write, and a record that it wrote otherwise.
    by_hand("UPDATE services SET name = name || ' by hand'").await;
    by_hand("UPDATE crypto_operations_audit SET response_status = 201").await;
    office.drills.dump().await;
    let metrics = office.drills.path("drill.prom");
    let wrong = ["services ", ": forged", "the operations log: TAMPERED", "changed"];
    office.drills.drill(&["--metrics", &metrics]).failure(1, &wrong);
    assert_eq!(office.drills.report()["passed"], false);
    assert!(!fs::exists(&metrics).expect("a folder"));
    assert_eq!(office.drills.left_over().await, 0);

    // A canary that is missing, and two that were exchanged.
    office
        .drills
        .site
        .rewrite(
            "UPDATE keys SET canary = NULL WHERE usage = 'data';
             UPDATE keys k SET canary = o.canary FROM keys o
              WHERE k.usage = 'enc' AND o.usage = 'enc' AND k.id <> o.id",
        )
        .await;
    office.drills.dump().await;
    office.drills.drill(&[]).failure(
        1,
        &[
            "the record of the key has no canary",
            "the key in the token is not the one of the record",
        ],
    );
    assert_eq!(office.drills.report()["keys"]["notProven"].as_array().expect("keys").len(), 3);

    // An anchor of another log, and a file that is no dump.
    let other = office.drills.site.write("other.json", "{}");
    let other = other.to_str().expect("a path");
    office
        .drills
        .drill(&["--anchor", other])
        .failure(1, &["has no checkpoint of sealward/operations"]);
    fs::write(office.drills.path("database.dump"), "no dump").expect("a file");
    office.drills.drill(&[]).failure(1, &["pg_restore failed"]);
    assert_eq!(office.drills.left_over().await, 0);
}

/// The head of a log names its checkpoint, and the login of the service can write it.
#[tokio::test(flavor = "multi_thread")]
async fn a_dump_with_another_head_is_held_against_the_anchor() {
    let office = Office::new().await;
    office.drills.sealed().await;
    let by_owner = async |drills: &Drills, sql: &'static str| {
        let mut connection = drills.site.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.expect("a change");
    };
    by_owner(&office.drills, "CREATE TABLE kept_heads AS SELECT * FROM audit_log_heads").await;
    let application = office.process.application("later").await;
    let hash = json!({ "operation": "hash", "payload": { "data": 1, "algorithm": "SHA-256" } });
    application.post("/api/v1/operations", hash).await.ok();
    drop(application);
    let Office { process, drills, .. } = office;
    drills.sealed().await;
    process.terminate();

    // The newest record is changed, and the checkpoint is one from before it.
    by_owner(
        &drills,
        "UPDATE crypto_operations_audit SET response_status = 201
          WHERE ts = (SELECT max(ts) FROM crypto_operations_audit);
         UPDATE audit_log_heads h SET (checkpoint, checkpoint_size, checkpoint_at)
              = (SELECT checkpoint, checkpoint_size, checkpoint_at FROM kept_heads k WHERE k.log = h.log)",
    )
    .await;
    drills.write_dump();
    drills.drill(&[]).failure(1, &["the operations log: TAMPERED"]);
    assert_eq!(drills.report()["passed"], false);

    // The logs have another name, and no checkpoint.
    by_owner(
        &drills,
        "UPDATE audit_log_heads SET checkpoint = NULL, checkpoint_size = 0, checkpoint_at = NULL,
                origin = 'other/' || CASE log WHEN 1 THEN 'operations' ELSE 'management' END",
    )
    .await;
    drills.write_dump();
    drills.drill(&[]).failure(1, &["is not the one that was sealed"]);
}

/// The SQL of a dump can replace a table by a view, whose rows depend on who asks.
#[tokio::test(flavor = "multi_thread")]
async fn a_dump_with_other_tables_or_functions_fails() {
    let Office { process, drills, .. } = Office::new().await;
    drills.sealed().await;
    process.terminate();
    let mut owner = drills.site.connect().await;
    let replace = "ALTER TABLE services RENAME TO real_services;
                   CREATE VIEW services AS SELECT * FROM real_services;
                   ALTER TABLE policies ENABLE ROW LEVEL SECURITY;
                   CREATE FUNCTION lower(uuid) RETURNS uuid LANGUAGE sql AS 'SELECT $1'";
    sqlx::raw_sql(replace).execute(&mut owner).await.expect("other objects");
    drills.write_dump();
    let undo = "DROP FUNCTION lower(uuid); DROP VIEW services; ALTER TABLE real_services RENAME TO services;
                ALTER TABLE policies DISABLE ROW LEVEL SECURITY";
    sqlx::raw_sql(undo).execute(&mut owner).await.expect("the objects");
    drills.drill(&[]).failure(
        1,
        &[
            "the relation services is not as",
            "the relation policies is not as",
            "the function lower(uuid) is not as",
        ],
    );
    let other = &drills.report()["otherObjects"];
    assert_eq!(other.as_array().expect("objects").len(), 3, "{other}");
    drills.write_dump();
    drills.drill(&[]).success();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drill_refuses_a_login_that_can_do_more_than_create_databases() {
    let Office { drills, .. } = Office::new().await;
    let login = &drills.login;
    let mut owner = drills.site.connect().await;
    for (change, undo, reason) in [
        ("ALTER ROLE LOGIN SUPERUSER", "ALTER ROLE LOGIN NOSUPERUSER", "is a superuser"),
        ("ALTER ROLE LOGIN CREATEROLE", "ALTER ROLE LOGIN NOCREATEROLE", "has CREATEROLE"),
        ("ALTER ROLE LOGIN BYPASSRLS", "ALTER ROLE LOGIN NOBYPASSRLS", "has BYPASSRLS"),
        (
            "GRANT pg_execute_server_program TO LOGIN",
            "REVOKE pg_execute_server_program FROM LOGIN",
            "pg_execute_server_program has rights",
        ),
        (
            "GRANT pg_read_server_files TO LOGIN",
            "REVOKE pg_read_server_files FROM LOGIN",
            "pg_read_server_files has rights",
        ),
    ] {
        for (sql, refused) in [(change, true), (undo, false)] {
            let sql = AssertSqlSafe(sql.replace("LOGIN", login));
            sqlx::query(sql).execute(&mut owner).await.expect("a change");
            if refused {
                drills.drill(&[]).failure(78, &["no right but CREATEDB", reason]);
            }
        }
    }
    assert_eq!(drills.left_over().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drill_needs_an_anchor_and_a_server_without_a_password_in_its_url() {
    let site = Site::new().await;
    let drill = |more: &[&str]| {
        let arguments = ["drill", "--dump", "none", "--output", "none"];
        site.run(&[&arguments[..], more].concat())
    };
    let here = ["--scratch", "postgres://drill@localhost/postgres"];
    drill(&here).failure(78, &["audit.seal.anchor must be a file, or --anchor"]);
    let secret = ["--anchor", "none", "--scratch", "postgres://drill:secret@localhost/postgres"];
    drill(&secret).failure(1, &["--scratch must be a Postgres URL"]);
}
