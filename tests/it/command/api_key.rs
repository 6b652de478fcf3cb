//! `sealward api-key`, which needs no existing API key.

use serde_json::json;

use testkit::{Process, Site};

const CREATE: [&str; 2] = ["api-key", "create"];

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_printed_once_and_valid_immediately() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (admin, service) = (process.admin(), process.service("billing").await);
    let service = service.as_str();
    let policy = json!({ "name": "p", "policyNumber": "P-1", "destinationServiceId": service,
        "allowedServiceIds": [service] });
    admin.post("/admin/policies", policy).await.created();

    let arguments = ["--type", "live", "--name", "till", "--service", service];
    let bound = ["--policy", "P-1", "--expires", "2100-01-01T00:00:00Z", "--json"];
    let created = site.run(&[&CREATE[..], &arguments, &bound].concat());
    let mut created = created.success().json();
    let members = created.as_object_mut().expect("an object");
    let secret = members.remove("secret").expect("the key itself");
    assert!(secret.as_str().is_some_and(|key| key.starts_with("sk_live_")));
    assert_eq!(
        (&created["policyNumber"], &created["expiresAt"]),
        (&json!("P-1"), &json!("2100-01-01T00:00:00.000Z"))
    );
    let path = format!("/admin/api-keys/{}", created["id"].as_str().expect("an id"));
    assert_eq!(admin.get(&path).await.ok().json(), created);

    // The event names the command.
    let events = admin.get("/admin/audit/management?resourceType=api_key");
    let events = events.await.ok().json();
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
    assert_eq!((&created["roles"], &created["person"]), (&json!(["owner"]), &json!(null)));
    let certificate = "0f".repeat(32);
    let bound = ["--certificate-sha256", certificate.as_str()];
    let created = create(&bound).success().json();
    assert_eq!(created["certificateSha256"], json!(certificate));
    create(&["--certificate-sha256", "0f"]).failure(2, &["64 hexadecimal digits"]);
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
    create(&[&live[..], &service].concat())
        .failure(1, &["serviceId", "serviceId: must be the id of an existing service"]);
    let past = ["--type", "admin", "--name", "n", "--expires", "2001-01-01T00:00:00Z"];
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

#[tokio::test]
async fn keys_are_listed_without_their_secrets_and_revoked() {
    let site = Site::new().await;
    let create = |name: &str| {
        let admin = ["--type", "admin", "--name", name, "--json"];
        let created = site.run(&[&CREATE[..], &admin].concat());
        created.success().json()
    };
    let (first, second) = (create("first"), create("second"));
    let id = |created: &serde_json::Value| created["id"].as_str().expect("an id").to_owned();
    let list = |more: &[&str]| {
        let listed = site.run(&[&["api-key", "list"][..], more].concat());
        listed.success().stdout
    };
    let shown = list(&[]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(lines[0].starts_with(&id(&first)) && lines[0].ends_with("  first"));
    assert!(lines[0].contains("  admin  active "), "{shown}");
    let secret = first["secret"].as_str().expect("the key itself");
    assert!(!shown.contains(secret));

    site.run(&["api-key", "revoke", &id(&first)]).success();
    site.run(&["api-key", "revoke", &id(&first)]).success();
    let json = list(&["--json", "--status", "revoked"]);
    let only: serde_json::Value = serde_json::from_str(json.trim()).expect("one JSON object");
    assert_eq!(only["id"], first["id"]);
    assert_eq!(only["secret"], json!(null));
    assert_eq!(list(&["--type", "live"]), "");

    // The last owner key stays.
    let last = site.run(&["api-key", "revoke", &id(&second)]);
    last.failure(1, &["the last active one with the role owner"]);
    site.run(&["api-key", "revoke", "ak_01h455vb4pex5vsknk084sn02q"]).failure(1, &["API key"]);
    site.run(&["api-key", "revoke", "none"]).failure(2, &["<ID>"]);
}

/// A login of the database can give another key the name of this one.
#[tokio::test]
async fn the_list_marks_a_row_that_does_not_count_and_has_no_control_character() {
    let site = Site::new().await;
    site.run(&["api-key", "create", "--type", "admin", "--name", "first"]).success();
    let listed = || site.run(&["api-key", "list"]).success().stdout;
    assert!(listed().contains("  active   "), "{}", listed());
    let forge = "UPDATE api_keys SET name = E'\\x1b[1A\\nak_x'";
    sqlx::query(forge).execute(&mut site.connect().await).await.expect("a name");
    assert!(listed().contains("  invalid  "), "{}", listed());
    assert!(listed().ends_with("  \u{fffd}[1A\u{fffd}ak_x\n"), "{}", listed());
}
