//! `sealward change` with a running service.

use std::fs;

use serde_json::{Value, json};

use testkit::{Exit, Process, Site};

/// A running process where changes of policies need approval.
struct Office {
    process: Process,
    site: Site,
}

impl Office {
    async fn new() -> Self {
        let site = Site::new().await;
        let required = "[approvals]\nrequired = [\"policy.open\"]\n";
        let settings = site.default_settings() + required;
        fs::write(site.settings(), settings).expect("write the settings");
        let process = Process::start(&site).await;
        Self { process, site }
    }

    /// Creates the admin key of a person on the machine and writes it to a file.
    fn key_of(&self, person: &str) {
        let named = ["--name", "laptop", "--person", person];
        let create = ["api-key", "create", "--type", "admin"];
        let created = self.site.run(&[&create[..], &named].concat()).success();
        self.site.write(person, created.line());
    }

    /// Proposes a policy with an admin key without a person, which needs two approvals.
    async fn propose(&self, name: &str) -> Value {
        let service = self.process.service(name).await;
        let policy = json!({ "name": name, "destinationServiceId": service,
            "allowedServiceIds": ["*"] });
        let admin = self.process.admin();
        let change = admin.post("/admin/policies", policy).await.json();
        assert_eq!(change["status"], "pending", "{change}");
        change
    }

    /// Runs `sealward change` as this person.
    fn change(&self, person: &str, arguments: &[&str]) -> Exit {
        let (url, key) = (self.process.url(""), self.site.file(person));
        let connection = ["--url", &url, "--admin-key-file", key.to_str().expect("a path")];
        self.site.run(&[&["change"], arguments, &connection].concat())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_to_this_machine_uses_no_proxy() {
    let office = Office::new().await;
    office.key_of("ada");
    let (url, key) = (office.process.url(""), office.site.file("ada"));
    // Nothing listens on this port.
    let proxy = "http://127.0.0.1:9";
    let mut command = office.site.command(&["change", "list", "--url", &url]);
    let output = command
        .arg("--admin-key-file")
        .arg(key)
        .envs(["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, proxy)))
        .output();
    Exit::from(output.expect("run the binary")).success();
}

fn id(change: &Value) -> &str {
    change["id"].as_str().expect("an id")
}

#[tokio::test(flavor = "multi_thread")]
async fn people_read_and_approve_a_change() {
    let office = Office::new().await;
    for person in ["ada", "bob"] {
        office.key_of(person);
    }
    let change = office.propose("payments").await;
    let line = format!(
        "{}  pending    0 of 2  no person (first)  Create the policy “payments”",
        id(&change)
    );
    let line = line.replace("first", change["proposedBy"]["name"].as_str().expect("a name"));
    let listed = office.change("ada", &["list", "--status", "pending"]).success();
    assert_eq!(listed.line(), line);
    let shown = office.change("ada", &["show", id(&change)]).success().stdout;
    for expected in
        ["Kind         policy.open\n", "Approvals    0 of 2\n", "name: none -> \"payments\"\n"]
    {
        assert!(shown.contains(expected), "{shown}");
    }
    let shown = office.change("ada", &["show", id(&change), "--json"]).success();
    assert_eq!(shown.json(), change);

    let first = office.change("ada", &["approve", id(&change)]).success();
    assert!(first.line().contains("  pending    1 of 2  "), "{first:?}");
    let again = office.change("ada", &["approve", id(&change)]);
    again.failure(1, &["403: You have approved the change"]);
    let arguments = ["approve", id(&change), "--comment", "as agreed", "--json"];
    let applied = office.change("bob", &arguments).success().json();
    assert_eq!(applied["status"], "applied");
    assert_eq!(applied["approvals"][1]["person"], "bob");
    assert_eq!(applied["approvals"][1]["comment"], "as agreed");
    let pending = office.change("ada", &["list", "--status", "pending"]).success();
    assert_eq!(pending.stdout, "");
    let all = office.change("ada", &["list", "--json"]).success();
    assert_eq!(all.json(), applied);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_rejects_a_change() {
    let office = Office::new().await;
    office.key_of("ada");
    let change = office.propose("payments").await;
    let arguments = ["reject", id(&change), "--comment", "not now", "--json"];
    let rejected = office.change("ada", &arguments).success().json();
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(rejected["rejection"]["comment"], "not now");
    let decided = office.change("ada", &["approve", id(&change)]);
    decided.failure(1, &["409: The change is rejected"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_a_person_decides_nothing() {
    let office = Office::new().await;
    office.site.write("machine", office.site.admin_key());
    let change = office.propose("payments").await;
    let refused = office.change("machine", &["approve", id(&change)]);
    refused.failure(1, &["403: Only a credential with a person can decide about changes"]);
    let missing = "chg_01h455vb4pex5vsknk084sn02q";
    let missing = office.change("machine", &["show", missing]);
    missing.failure(1, &["404: "]);
    let malformed = office.change("machine", &["show", "payments"]);
    malformed.failure(2, &["payments"]);
}
