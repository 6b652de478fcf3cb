//! schemathesis asks a service that really runs for everything that the document allows, and for
//! what it does not allow; whatever is answered is as the document says.
//!
//! Here it asks little, and always the same; `./dev verify api` asks for longer, each time something
//! else. `tests/api` says what is left out, and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::routes::operations;
use super::tools;
use crate::process::{Process, Site};

/// A few requests of each kind, always the same: how many seconds they take is the machine's affair.
const FEW: [&str; 6] = [
    "--phases",
    "examples,fuzzing,stateful",
    "--max-examples",
    "4",
    "--seed",
    "20300131",
];

#[tokio::test(flavor = "multi_thread")]
async fn responses_match_the_document() {
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
        None => run.args(FEW),
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
        // That was the first thing it asked for.
        if id == "openapi" {
            continue;
        }
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
    let post = |path: &str, body: Value| process.post(path, &body);
    let id = |made: &Value| {
        let id = made["id"].as_str();
        id.unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let service = |name: &str| {
        let service = json!({ "name": name, "publishKeys": true });
        id(&post("/admin/services", service))
    };
    let destination = service("referred");
    let policy = |name: &str| {
        let policy = json!({ "name": name, "destinationServiceId": destination,
            "allowedServiceIds": ["*"] });
        post("/admin/policies", policy)
    };
    let key = |algorithm: &str| {
        let key = json!({ "serviceId": destination, "generate": true, "algorithm": algorithm });
        id(&post("/admin/keys", key))
    };
    let bound_to = policy("referred");
    let api_key = |name: &str| {
        let api_key = json!({
            "name": name,
            "type": "live",
            "serviceId": destination,
            "policyNumber": bound_to["policyNumber"],
        });
        post("/admin/api-keys", api_key)
    };
    let [_, _, _, symmetric] = ["RSA-2048", "P-256", "Ed25519", "AES-256"].map(key);
    let used = api_key("referred");
    let referred = json!({
        "svc": destination, "pol": id(&bound_to), "key": symmetric, "ak": id(&used),
    });
    let changed = json!({
        "svc": service("changed"),
        "pol": id(&policy("changed")),
        "key": key("AES-256"),
        "ak": id(&api_key("changed")),
    });
    let admins = process.get("/admin/api-keys?type=admin");
    let mut kept: Vec<&Value> = referred.as_object().expect("ids").values().collect();
    kept.extend([&admins["items"][0]["id"], &bound_to["policyNumber"]]);
    let secret = used["secret"].as_str().expect("a key").to_owned();
    let world = json!({ "referred": referred, "changed": changed, "kept": kept });
    (world, secret)
}

#[expect(clippy::disallowed_methods, reason = "what tests/api/run was told")]
fn longer() -> Option<String> {
    std::env::var("SEALWARD_TEST_API_SECONDS").ok()
}
