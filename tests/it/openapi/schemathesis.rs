//! schemathesis asks a service that really runs for everything that the document allows, and for
//! what it does not allow; whatever is answered is as the document says.
//!
//! Here it asks for some seconds, and always the same; `./dev verify api` asks for longer, each
//! time something else. `tests/api` says what it leaves out, and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::routes::operations;
use super::tools;
use crate::process::{Process, Site};

/// What it takes here, on a machine that has nothing else to do, is about half of it.
const SECONDS: &str = "40";
const SEED: &str = "20300131";

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_asked_is_answered_as_documented() {
    let site = Site::on_kryoptic().await;
    let process = Process::start(&site).await;
    let (world, api_key) = furnish(&process);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api");
    let answers = site.file("answers.json");
    let mut run = Command::new(tools().join("bin/schemathesis"));
    run.arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .args(["run", &process.url("/openapi.json")])
        .args(["--generation-database", "none"])
        // It leaves files where it runs.
        .current_dir(answers.parent().expect("a folder"))
        .env("SCHEMATHESIS_HOOKS", folder.join("hooks.py"))
        .env("SEALWARD_ADMIN_KEY", site.admin_key())
        .env("SEALWARD_API_KEY", &api_key)
        .env("SEALWARD_WORLD", world.to_string())
        .env("SEALWARD_ANSWERS", &answers);
    match longer() {
        Some(seconds) => run.args(["--max-time", &seconds]),
        None => run.args(["--max-time", SECONDS, "--seed", SEED, "--max-examples", "5"]),
    };
    let output = run.output().expect("schemathesis runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{complaint}");

    // It was let in, and it found what it asked for.
    let answers = fs::read_to_string(answers).expect("what was answered");
    let answers: BTreeMap<String, BTreeMap<u16, u64>> =
        serde_json::from_str(&answers).expect("counts");
    println!("{answers:?}\n{told}");
    for (_, _, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        let statuses = answers
            .get(id)
            .unwrap_or_else(|| panic!("{id}: {answers:?}"));
        let succeeded = statuses.keys().any(|status| (200..300).contains(status));
        assert!(succeeded, "{id}: {statuses:?}");
    }
    let revoked = process.log().contains("revoked API key");
    assert!(!revoked, "it has locked itself out");
}

/// What there is to ask for; and the key of an application.
fn furnish(process: &Process) -> (Value, String) {
    let id = |made: &Value| {
        let id = made["id"].as_str();
        id.unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let post = |path: &str, body: Value| process.post(path, &body);
    let make = |name: &str| {
        let service = json!({ "name": name, "publishKeys": true });
        let service = id(&post("/admin/services", service));
        let policy = json!({ "name": name, "destinationServiceId": service });
        let policy = post("/admin/policies", policy);
        let key = |algorithm: &str| {
            let key = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
            id(&post("/admin/keys", key))
        };
        let keys = ["RSA-2048", "P-256", "Ed25519", "AES-256"].map(key);
        let api_key = json!({
            "name": name,
            "type": "live",
            "serviceId": service,
            "policyNumber": policy["policyNumber"],
        });
        let api_key = post("/admin/api-keys", api_key);
        let [.., key] = keys;
        let world = json!({
            "svc": service, "pol": id(&policy), "key": key, "ak": id(&api_key),
        });
        let secret = api_key["secret"].as_str().expect("a key").to_owned();
        (world, secret)
    };
    let (referred, api_key) = make("referred");
    let (changed, _) = make("changed");
    let admins = process.get("/admin/api-keys?type=admin");
    let mut kept: Vec<&Value> = referred.as_object().expect("ids").values().collect();
    kept.push(&admins["items"][0]["id"]);
    let world = json!({ "referred": referred, "changed": changed, "kept": kept });
    (world, api_key)
}

#[expect(clippy::disallowed_methods, reason = "what tests/api/run was told")]
fn longer() -> Option<String> {
    std::env::var("SEALWARD_TEST_API_SECONDS").ok()
}
