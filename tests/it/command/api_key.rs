//! `sealward api-key create`, which needs no existing API key.

use serde_json::json;

use crate::process::{Process, Site};

const CREATE: [&str; 2] = ["api-key", "create"];

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_printed_once_and_valid_immediately() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let created = process.post("/admin/services", &json!({ "name": "billing" }));
    let service = created["id"].as_str().expect("an id");
    let policy = json!({ "name": "p", "policyNumber": "P-1", "destinationServiceId": service,
        "allowedServiceIds": [service] });
    process.post("/admin/policies", &policy);

    let arguments = ["--type", "live", "--name", "till", "--service", service];
    let bound = [
        "--policy",
        "P-1",
        "--expires",
        "2100-01-01T00:00:00Z",
        "--json",
    ];
    let created = site.run(&[&CREATE[..], &arguments, &bound].concat());
    let mut created = created.success().json();
    let members = created.as_object_mut().expect("an object");
    let secret = members.remove("secret").expect("the key itself");
    assert!(
        secret
            .as_str()
            .is_some_and(|key| key.starts_with("sk_live_"))
    );
    assert_eq!(
        (&created["policyNumber"], &created["expiresAt"]),
        (&json!("P-1"), &json!("2100-01-01T00:00:00.000Z"))
    );
    let path = format!("/admin/api-keys/{}", created["id"].as_str().expect("an id"));
    assert_eq!(process.get(&path), created);

    // The event names the command.
    let events = process.get("/admin/audit/management?resourceType=api_key");
    let actors = events["items"].as_array().expect("events");
    let by_command = |event: &serde_json::Value| event["actor"] == "cli";
    assert_eq!(actors.len(), 2, "the first admin key is one, too");
    assert!(actors.iter().all(by_command), "{events}");
}

#[tokio::test]
async fn an_admin_key_gets_its_roles_and_person() {
    let site = Site::new().await;
    let create = |more: &[&str]| {
        let admin = ["--type", "admin", "--name", "n", "--json"];
        site.run(&[&CREATE[..], &admin, more].concat())
    };
    let roles = ["--role", "custodian", "--role", "auditor"];
    let created = create(&[&roles[..], &["--person", "alice"]].concat());
    let created = created.success().json();
    assert_eq!(created["roles"], json!(["custodian", "auditor"]));
    assert_eq!(created["person"], json!("alice"));
    let created = create(&[]).success().json();
    assert_eq!(
        (&created["roles"], &created["person"]),
        (&json!(["owner"]), &json!(null))
    );
    create(&["--role", "root"]).failure(2, &["owner, custodian, policy-admin, auditor"]);
    create(&["--person", ""]).failure(1, &["person"]);
}

#[tokio::test]
async fn errors_name_their_member() {
    let site = Site::new().await;
    let create = |more: &[&str]| site.run(&[&CREATE[..], more].concat());
    create(&["--type", "live", "--name", "till"]).failure(1, &["serviceId"]);
    create(&["--type", "admin", "--name", ""]).failure(1, &["name"]);
    let service = ["--service", "svc_01h455vb4pex5vsknk084sn02q"];
    let live = ["--type", "live", "--name", "till"];
    create(&[&live[..], &service].concat()).failure(
        1,
        &[
            "serviceId",
            "serviceId: must be the id of an existing service",
        ],
    );
    let past = [
        "--type",
        "admin",
        "--name",
        "n",
        "--expires",
        "2001-01-01T00:00:00Z",
    ];
    create(&past).failure(1, &["expiresAt"]);
    create(&["--type", "root", "--name", "n"]).failure(2, &["live, test"]);
    create(&["--type", "admin"]).failure(2, &["--name"]);
    site.run_with(
        &["api-key", "create", "--type", "admin", "--name", "n"],
        "SEALWARD_DATABASE_URL",
        "postgres://unknown@127.0.0.1:1/nothing",
    )
    .failure(1, &["database.url", "127.0.0.1:1/nothing"]);
}
