//! schemathesis sends valid and invalid requests to a running service. Each response must match the
//! document.
//!
//! This test sends a small fixed set of requests. `./dev verify api` runs longer with random ones.
//! `tests/outside/api` documents the exclusions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::routes::operations;
use super::tools;
use testkit::{Database, PATIENCE, within};
use testkit::{Process, Site};

/// The options for a small fixed set of requests, without a time limit.
const FEW: [&str; 6] =
    ["--phases", "examples,fuzzing,stateful", "--max-examples", "4", "--seed", "20300131"];

#[tokio::test(flavor = "multi_thread")]
async fn responses_match_the_document() {
    // Only admin keys need approval, so that the run can change other resources.
    let settings = "[audit.seal]\npublish = true\n[approvals]\nrequired = [\"api-key.admin\"]\n";
    let site = Site::on_kryoptic_over(Database::new().await, settings);
    site.initialize();
    site.run(&["audit", "init"]).success();
    let tester = ["--name", "tester", "--person", "tester"];
    let create = ["api-key", "create", "--type", "admin"];
    let tester = site.run(&[&create[..], &tester].concat()).success();
    let process = Process::start(&site).await;
    let (mut world, api_key) = create_resources(&process, tester.line()).await;
    // An example of the record that this event stands for has a proof.
    let admin = process.admin();
    let events = admin.get("/admin/audit/management").await.ok().json();
    let event = events["items"][0]["id"].clone();
    let proof = format!("/admin/audit/{}/proof", event.as_str().expect("an id"));
    within(PATIENCE, async || {
        let published = admin.get("/audit/log/management/checkpoint").await;
        let proof = admin.get(&proof).await;
        proof.json()["logIndex"].is_u64() && published.status == 200
    })
    .await;
    world["referred"]["rec"] = event;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/api");
    let answers = site.file("answers.json");
    let mut run = Command::new(tools().join("bin/schemathesis"));
    run.arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .args(["run", &process.url("/openapi.json")])
        .args(["--generation-database", "none"])
        // schemathesis writes files in its working folder.
        .current_dir(answers.parent().expect("a folder"))
        .env("SCHEMATHESIS_HOOKS", folder.join("hooks.py"))
        .env("SEALWARD_ADMIN_KEY", tester.line())
        .env("SEALWARD_API_KEY", &api_key)
        .env("SEALWARD_WORLD", world.to_string())
        .env("SEALWARD_ANSWERS", &answers);
    match longer() {
        Some(seconds) => run.args(["--max-time", &seconds]),
        None => run.args(FEW),
    };
    let output = run.output().expect("schemathesis runs");
    let details = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{details}{errors}");

    // The requests were authenticated, and each operation succeeded at least once.
    let answers = fs::read_to_string(answers).expect("read the response counts");
    let answers: BTreeMap<String, BTreeMap<u16, u64>> =
        serde_json::from_str(&answers).expect("counts");
    println!("{answers:?}\n{details}");
    for (_, _, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        // schemathesis reads the document before it counts responses.
        if id == "openapi" {
            continue;
        }
        let statuses = answers.get(id).unwrap_or_else(|| panic!("{id}: {answers:?}"));
        let succeeded = statuses.keys().any(|status| (200..300).contains(status));
        assert!(succeeded, "{id}: {statuses:?}");
    }
    let revoked = process.log().contains("revoked API key");
    assert!(!revoked, "the run revoked its own API key");
}

/// Creates the resources for the run and returns their IDs and an API key. `tester` is the admin key of the
/// run. A change of another administrator awaits each decision that it makes.
async fn create_resources(process: &Process, tester: &str) -> (Value, String) {
    let admin = process.admin();
    let post = async |path: &str, body: Value| admin.post(path, body).await.json();
    let id = |created: &Value| {
        let id = created["id"].as_str();
        id.unwrap_or_else(|| panic!("{created}")).to_owned()
    };
    let service = async |name: &str| {
        let service = json!({ "name": name, "publishKeys": true });
        id(&post("/admin/services", service).await)
    };
    let destination = service("referred").await;
    let policy = async |name: &str| {
        let policy = json!({ "name": name, "destinationServiceId": destination,
            "allowedServiceIds": ["*"] });
        post("/admin/policies", policy).await
    };
    let key = async |algorithm: &str| {
        let key = json!({ "serviceId": destination, "generate": true, "algorithm": algorithm });
        id(&post("/admin/keys", key).await)
    };
    let bound_to = policy("referred").await;
    let api_key = async |name: &str| {
        let api_key = json!({
            "name": name,
            "type": "live",
            "serviceId": destination,
            "policyNumber": bound_to["policyNumber"],
        });
        post("/admin/api-keys", api_key).await
    };
    let identity = async |name: &str| {
        let matching = json!({ "issuer": "https://issuer.example", "subject": name });
        let identity = json!({ "name": name, "serviceId": destination, "match": matching });
        id(&post("/admin/identities", identity).await)
    };
    for algorithm in ["RSA-2048", "P-256", "Ed25519"] {
        key(algorithm).await;
    }
    let symmetric = key("AES-256").await;
    let used = api_key("referred").await;
    let change = async |name: &str, key: Option<&str>| {
        let wanted = json!({ "name": name, "type": "admin", "roles": ["auditor"] });
        let change = match key {
            None => post("/admin/api-keys", wanted).await,
            Some(key) => process.client(key).post("/admin/api-keys", wanted).await.json(),
        };
        assert_eq!(change["status"], "pending", "{change}");
        id(&change)
    };
    let deleted = id(&policy("deleted").await);
    admin.delete(&format!("/admin/policies/{deleted}")).await.gone();
    let decided = json!({
        "restorePolicy": deleted,
        "approveChange": change("approved", None).await,
        "rejectChange": change("rejected", None).await,
        "withdrawChange": change("withdrawn", Some(tester)).await,
    });
    let referred = json!({
        "svc": destination, "pol": id(&bound_to), "key": symmetric, "ak": id(&used),
        "idn": identity("referred").await, "chg": change("referred", None).await,
    });
    let changed = json!({
        "svc": service("changed").await,
        "pol": id(&policy("changed").await),
        "key": key("AES-256").await,
        "ak": id(&api_key("changed").await),
        "idn": identity("changed").await,
    });
    let admins = admin.get("/admin/api-keys?type=admin").await.ok().json();
    let mut kept: Vec<&Value> = referred.as_object().expect("ids").values().collect();
    kept.push(&bound_to["policyNumber"]);
    kept.extend(admins["items"].as_array().expect("keys").iter().map(|key| &key["id"]));
    let secret = used["secret"].as_str().expect("a key").to_owned();
    let world = json!({
        "referred": referred, "changed": changed, "kept": kept, "decided": decided,
    });
    (world, secret)
}

#[expect(clippy::disallowed_methods, reason = "tests/outside/api/run sets this variable")]
fn longer() -> Option<String> {
    std::env::var("SEALWARD_TEST_API_SECONDS").ok()
}
