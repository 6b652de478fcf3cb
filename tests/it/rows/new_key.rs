//! `sealward rows new-key`, and tokens that derive another row key.

use std::fs;
use std::path::PathBuf;

use faulty_token::Fault;
use serde_json::json;
use sqlx::AssertSqlSafe;

use testkit::{LABEL, PATIENCE, Process, Site, within};

const SECOND: &str = "second";

const CKR_DEVICE_REMOVED: u64 = 0x32;

/// The generations of the seals of the services.
async fn generations(site: &Site) -> Vec<i32> {
    let sql = "SELECT DISTINCT get_byte(seal, 4) FROM services ORDER BY 1";
    let mut database = site.connect().await;
    sqlx::query_scalar(sql).fetch_all(&mut database).await.expect("the seals")
}

async fn as_owner(site: &Site, sql: &str) {
    let mut database = site.connect().await;
    let run = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut database);
    run.await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Every row counts, for a running process and for a new one.
async fn counts(site: &Site, process: &Process) {
    let listed = process.admin().get("/admin/services").await.ok().json();
    for service in listed["items"].as_array().expect("services") {
        assert_eq!(service.get("sealValid"), None, "{service}");
    }
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_instances_learn_the_new_generation() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let [one, two] = [Process::start(&site).await, Process::start(&site).await];
    let service = one.service("first").await;
    two.admin().get(&format!("/admin/services/{service}")).await.ok();
    for generation in 2..=3 {
        let renewed = site.run(&["rows", "new-key"]).success().line().to_owned();
        let expected = format!("are sealed with generation {generation} of the row key");
        assert!(renewed.ends_with(&expected), "{renewed}");
        assert_eq!(generations(&site).await, [generation]);
        for process in [&one, &two] {
            counts(&site, process).await;
            // The first change can find that a newer generation seals.
            let name = format!("of {generation} by {}", process.address());
            let create = json!({ "name": name });
            within(PATIENCE, async || {
                process.admin().post("/admin/services", create.clone()).await.status == 201
            })
            .await;
        }
        assert_eq!(generations(&site).await, [generation]);
    }
    counts(&site, &one).await;
    let events = one.admin().get("/admin/audit/management?action=row_key.renewed").await.ok();
    assert_eq!(events.json()["items"][0]["after"], json!({ "generation": 3 }));
}

/// A process that only knows the first generation when the second one seals, and the first is destroyed.
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_was_cut_off_from_its_token_learns_it_later() {
    let site = Site::with_faults().await;
    let process = Process::start(&site).await;
    process.service("first").await;
    let away = ["C_GetTokenInfo", "C_OpenSession", "C_FindObjectsInit", "C_SignInit"];
    let away = away.map(|function| Fault::Return(CKR_DEVICE_REMOVED).on(function));
    site.faults().rules(&away);
    let is_out = async || {
        let health = process.admin().get("/api/v1/health").await.json();
        health["checks"]["hsm"]["status"] == "unavailable"
    };
    within(PATIENCE, is_out).await;
    // The commands use the token without the faults.
    let module = format!("{}", testkit::softhsm_module().display());
    let pin = site.pin_file().display().to_string();
    let direct = site.tokens(&module, LABEL, &pin);
    let direct = format!("[{}]", direct.replace(['[', ']'], ""));
    site.run_with(&["rows", "new-key"], "SEALWARD_HSM_TOKENS", &direct).success();
    assert_eq!(generations(&site).await, [2]);
    site.faults().rules(&[]);
    within(PATIENCE, async || {
        let listed = process.admin().get("/admin/services").await;
        listed.status == 200 && listed.json()["items"][0].get("sealValid").is_none()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_is_continued() {
    let site = Site::with_faults().await;
    let process = Process::start(&site).await;
    process.service("first").await;
    let fails = "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
                 BEGIN RAISE EXCEPTION 'interrupted'; END $$";
    as_owner(&site, fails).await;
    // After the new key was made, before it seals.
    as_owner(&site, "CREATE TRIGGER stop BEFORE INSERT ON row_keys EXECUTE FUNCTION fail()").await;
    site.run(&["rows", "new-key"]).failure(1, &["interrupted"]);
    assert_eq!(generations(&site).await, [1]);
    process.service("second").await;
    assert_eq!(generations(&site).await, [1]);
    as_owner(&site, "DROP TRIGGER stop ON row_keys").await;
    // Between two kinds of rows.
    as_owner(&site, "CREATE TRIGGER stop BEFORE UPDATE ON api_keys EXECUTE FUNCTION fail()").await;
    site.run(&["rows", "new-key"]).failure(1, &["interrupted"]);
    assert_eq!(generations(&site).await, [2]);
    as_owner(&site, "DROP TRIGGER stop ON api_keys").await;
    counts(&site, &process).await;
    // Before the former key is destroyed.
    site.faults().rules(&[Fault::Return(CKR_DEVICE_REMOVED).on("C_DestroyObject")]);
    let failed = site.run(&["rows", "new-key"]);
    failed.failure(1, &["every token must answer"]);
    site.faults().rules(&[]);
    counts(&site, &process).await;
    let renewed = site.run(&["rows", "new-key"]).success().line().to_owned();
    assert_eq!(renewed, "0 rows are sealed with generation 2 of the row key");
    counts(&site, &process).await;
}

/// A copy of a token under another label, as a vendor's tools make it.
fn copy_token(site: &Site, from: &str, to: &str) {
    let tokens = site.file("token/tokens");
    let folders = fs::read_dir(&tokens).expect("the tokens");
    let folders: Vec<PathBuf> = folders.map(|folder| folder.expect("a token").path()).collect();
    let padded = |label: &str| format!("{label:32}").into_bytes();
    let has = |folder: &PathBuf, label: &str| {
        let object = fs::read(folder.join("token.object")).expect("a token");
        object.windows(32).any(|window| window == padded(label))
    };
    let source = folders.iter().find(|folder| has(folder, from)).expect("the token");
    let former = folders.iter().find(|folder| has(folder, to)).expect("the other token");
    fs::remove_dir_all(former).expect("the former token");
    let copy = tokens.join("00000000-0000-0000-0000-000000000001");
    fs::create_dir(&copy).expect("a folder");
    for file in fs::read_dir(source).expect("the files") {
        let file = file.expect("a file");
        fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
    }
    let mut object = fs::read(copy.join("token.object")).expect("the copy");
    let label = object.windows(32).position(|window| window == padded(from)).expect("its label");
    object[label..label + 32].copy_from_slice(&padded(to));
    // The serial number follows the type and the length of its attribute.
    let serial = label + 32 + 24;
    object[serial..serial + 16].copy_from_slice(b"0000000000000001");
    fs::write(copy.join("token.object"), object).expect("the copy");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_derives_another_row_key_is_out_until_it_has_the_same() {
    let site = Site::new().await;
    site.add_softhsm(SECOND);
    let only = |label| site.tokens_with(&[label]);
    site.run_with(&["init"], "SEALWARD_HSM_TOKENS", &only(SECOND)).success();
    let both = site.tokens_with(&[LABEL, SECOND]);
    let both = [("SEALWARD_HSM_TOKENS", both.as_str())];
    let process = Process::start_with(&site, &both).await;
    let states = async |process: &Process| {
        let health = process.admin().get("/api/v1/health").await.ok().json();
        let tokens = health["checks"]["hsm"]["tokens"].as_array().expect("tokens").clone();
        let state = |token: &serde_json::Value| token["status"].as_str().map(str::to_owned);
        tokens.iter().filter_map(state).collect::<Vec<_>>()
    };
    assert_eq!(states(&process).await, ["ok", "unavailable"]);
    assert!(process.log().contains("it derives another row key"));
    // Its operations go to the other token.
    let service = process.service("signing").await;
    for name in ["one", "two", "three", "four"] {
        let key = json!({ "serviceId": service, "name": name, "use": "sig", "algorithm": "P-256",
            "generate": true });
        process.admin().post("/admin/keys", key).await.created();
    }
    process.terminate();
    let doctor = site.run_with(&["doctor", "--skip-trials"], both[0].0, both[0].1);
    assert!(doctor.stdout.contains("\"second\" derives another row key"), "{}", doctor.stdout);
    doctor.failure(1, &["a token derives another row key"]);
    site.run_with(&["rows", "new-key"], both[0].0, both[0].1).failure(1, &["another row key"]);

    copy_token(&site, LABEL, SECOND);
    let process = Process::start_with(&site, &both).await;
    assert_eq!(states(&process).await, ["ok", "ok"]);
    process.terminate();
    // `init` sealed the report key under the row key of the former second token.
    let sealed = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(sealed.stdout.starts_with("report_keys"), "{}", sealed.stdout);

    // The new internal key is on one token, until the vendor's tools copy it.
    let stopped = site.run_with(&["rows", "new-key"], both[0].0, both[0].1);
    stopped.failure(1, &["copy the internal key of generation 2 to", "run the command again"]);
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

/// Nothing seals the segments before the former generation is destroyed.
#[tokio::test(flavor = "multi_thread")]
async fn segments_that_wait_for_a_position_count_under_the_new_generation() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    process.service("first").await;
    let generations = async || -> Vec<i32> {
        let sql = "SELECT DISTINCT get_byte(mac, 3) FROM audit_log_segments WHERE log = 2";
        let mut database = site.connect().await;
        sqlx::query_scalar(sql).fetch_all(&mut database).await.expect("the MACs")
    };
    assert_eq!(generations().await, [1]);
    site.run(&["rows", "new-key"]).success();
    assert_eq!(generations().await, [2]);
    site.run(&["audit", "init"]).success();
    let mut database = site.connect().await;
    within(PATIENCE, async || {
        let left = "SELECT count(*) FROM management_events e WHERE NOT EXISTS (
                        SELECT FROM audit_log_index i WHERE i.log = 2 AND i.record_id = e.id)";
        let left: i64 = sqlx::query_scalar(left).fetch_one(&mut database).await.expect("events");
        left == 0
    })
    .await;
    let invalid = process.admin().get("/admin/audit/management?action=row.invalid").await.ok();
    assert_eq!(invalid.json()["items"], json!([]));
}

/// A site whose process has ended, with a checkpoint of the log of changes.
async fn sealed_site() -> Site {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    process.service("first").await;
    checkpoint(&site).await;
    process.terminate();
    site
}

/// Otherwise these segments would count as foreign after the removal of the checkpoint.
#[tokio::test(flavor = "multi_thread")]
async fn segments_below_a_checkpoint_count_under_the_new_generation() {
    let site = sealed_site().await;
    site.run(&["rows", "new-key"]).success();
    let lost =
        "UPDATE audit_log_heads SET checkpoint = NULL, checkpoint_size = 0, checkpoint_at = NULL";
    as_owner(&site, lost).await;
    assert_eq!(site.run(&["rows", "remove-segments"]).success().line(), "0 segments are removed");
    site.run(&["audit", "init", "--new-origin"]).success();
    let foreign = "SELECT sum(cardinality(foreign_segments)) FROM audit_log_origins";
    let foreign = sqlx::query_scalar(foreign).fetch_one(&mut site.connect().await).await;
    let foreign: i64 = foreign.expect("them");
    assert_eq!(foreign, 0);
}

/// Waits until a checkpoint covers the log of changes, and returns it.
async fn checkpoint(site: &Site) -> String {
    let mut database = site.connect().await;
    let signed = "SELECT size > 0 AND checkpoint_size = size FROM audit_log_heads WHERE log = 2";
    within(PATIENCE, async || {
        sqlx::query_scalar(signed).fetch_one(&mut database).await.expect("the head")
    })
    .await;
    let note = "SELECT checkpoint FROM audit_log_heads WHERE log = 2";
    sqlx::query_scalar(note).fetch_one(&mut database).await.expect("a checkpoint")
}

/// The key that their MAC names is destroyed, and the sealed origin still says so.
#[tokio::test(flavor = "multi_thread")]
async fn accepted_forgeries_are_left_out_under_the_new_generation() {
    const FORGED: &str = "01900000-0000-7000-8000-000000000000";
    let site = sealed_site().await;
    let forge = format!(
        "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
         VALUES (2, '{FORGED}', '{{{FORGED}}}', sha256('x'), decode('00000001' || repeat('22', 32), 'hex'));
         SELECT seal_audit_segments(2::smallint, origin, size, root, sha256('y'), ARRAY['{FORGED}'::uuid], '{{}}', '{{}}', '{{}}')
           FROM audit_log_heads WHERE log = 2;
         DELETE FROM audit_log_origins; DELETE FROM revisions WHERE table_name = 'audit_log_origins'"
    );
    as_owner(&site, &forge).await;
    site.run(&["rows", "remove-segments"]).success();
    let begun = site.run(&["audit", "init", "--new-origin"]).success();
    let process = Process::start(&site).await;
    process.service("second").await;
    let note = checkpoint(&site).await;
    process.terminate();
    assert!(begun.stderr.contains(FORGED), "{}", begun.stderr);
    site.run(&["rows", "new-key"]).success();
    let note = site.write("note", &note);
    let key = begun.stdout.lines().find(|line| line.contains("/management+")).expect("a key");
    let verify = [
        "audit",
        "verify",
        "--database",
        "--key",
        key,
        "--checkpoint",
        note.to_str().expect("a path"),
    ];
    let verified = site.run(&verify).success();
    assert!(verified.line().starts_with("OK: "), "{}", verified.stdout);
}
