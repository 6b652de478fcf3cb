//! `/admin/reports`.

mod forgeries;
mod successors;
mod uses;

use engine::change_kind::ChangeKind;
use engine::ledger::Renewal;
use engine::report_key;
use engine::reports::{NotVerified, ReportKeys};
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};

use crate::ledger::{initialize, sealed_world};
use testkit::{Answer, World, pool, token};

/// A service with audit logs and a key for reports.
pub(crate) async fn reporting_world() -> World {
    let world = sealed_world().await;
    make_report_key(&world).await;
    world
}

/// What `sealward init` does about the key of reports.
async fn make_report_key(world: &World) -> bool {
    let time = (&Clock::system(), &Entropy::system());
    let made = report_key::initialize(&pool(world.as_application()), &token().await, time).await;
    made.expect("a key")
}

/// The report in JSON.
pub(crate) async fn register(world: &World, query: &str) -> Value {
    world.admin().get(&format!("/admin/reports/keys{query}")).await.ok().json()
}

async fn csv(world: &World) -> Answer {
    world.admin().with("accept", "text/csv").get("/admin/reports/keys").await.ok()
}

/// The entry of a key.
fn entry<'r>(report: &'r Value, key: &str) -> &'r Value {
    let mut keys = report["keys"].as_array().expect("keys").iter();
    keys.find(|entry| entry["keyId"] == key).expect("the key")
}

fn ids(report: &Value) -> Vec<&str> {
    let keys = report["keys"].as_array().expect("keys").iter();
    let of_services = keys.filter(|key| !key["serviceId"].is_null());
    of_services.map(|key| key["keyId"].as_str().expect("an id")).collect()
}

async fn generate(world: &World, service: &str, algorithm: &str) -> String {
    let body = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
    world.admin().post("/admin/keys", body).await.created().text("id")
}

/// The keys that an auditor keeps.
async fn trusted(world: &World) -> ReportKeys {
    let keys = world.admin().get("/admin/reports/jwks").await.ok().body;
    ReportKeys::parse(&keys).expect("keys")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_reported_with_its_policies_and_its_maker() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let caller = world.service("portal").await;
    let first = generate(&world, &service, "RSA-2048").await;
    let second = generate(&world, &service, "RSA-3072").await;
    let policy = json!({ "name": "cards", "destinationServiceId": service,
        "allowedServiceIds": [caller] });
    let policy = world.admin().post("/admin/policies", policy).await.created();
    let number = policy.text("policyNumber");

    let report = register(&world, "").await;
    let old = entry(&report, &first);
    let created = world.admin().get(&format!("/admin/keys/{first}")).await.ok().json();
    assert_eq!(
        *old,
        json!({
            "keyId": first, "serviceId": service, "serviceName": "billing",
            "name": created["name"], "version": null, "use": "enc", "algorithm": "RSA-2048",
            "strength": 112, "quantumStatus": "vulnerable", "origin": "generated",
            "status": "retired", "hasPrivate": true, "tokens": old["tokens"], "extractable": false,
            "thumbprint": created["thumbprint"], "createdAt": created["createdAt"],
            "activatedAt": created["activatedAt"], "lastProtectedAt": null, "lastOpenedAt": null,
            "usesIn30Days": 0, "expiresAt": null, "rotationDays": null, "rotatesAt": null,
            "successor": second, "destroyAt": null,
            "policies": [{ "policyNumber": number, "status": "active", "deleted": false,
                "alg": "RSA-OAEP-256", "enc": "A256GCM",
                "destinationServiceId": service, "allowedServiceIds": [caller] }],
            "createdBy": { "actor": "first", "person": null }, "approvedBy": [],
        })
    );
    assert_eq!(entry(&report, &second)["successor"], Value::Null);
    assert_eq!(entry(&report, &second)["strength"], 128);
    let own: Vec<&Value> = report["keys"]
        .as_array()
        .expect("keys")
        .iter()
        .filter(|key| key["serviceId"].is_null())
        .map(|key| &key["name"])
        .collect();
    assert_eq!(own.len(), 2, "{own:?}");
    for name in ["signatures of reports", "checkpoints of the audit logs"] {
        assert!(own.contains(&&json!(name)), "{own:?}");
    }

    let deleted = policy.header("location").to_owned();
    world.admin().delete(&deleted).await.gone();
    let report = register(&world, "").await;
    assert_eq!(entry(&report, &first)["policies"][0]["deleted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_people_who_created_and_approved_a_key_are_named() {
    let open = reporting_world().await;
    let strict = open.requiring(&[ChangeKind::KeyActivate], 1).await;
    let service = open.service("billing").await;
    let mut secrets = Vec::new();
    for person in ["ada", "bob"] {
        let body = json!({ "name": "laptop", "type": "admin", "roles": ["owner"],
            "person": person });
        secrets.push(open.admin().post("/admin/api-keys", body).await.created().text("secret"));
    }
    let [ada, bob] = [strict.client(&secrets[0]), strict.client(&secrets[1])];
    let key = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let proposed = ada.post("/admin/keys", key).await;
    assert_eq!(proposed.status, 202);
    let change = proposed.header("location").to_owned();
    let applied = bob.post_nothing(&format!("{change}/approve")).await.ok();

    let report = register(&open, "").await;
    let key = entry(&report, &applied.text("resourceId"));
    assert_eq!(key["createdBy"], json!({ "actor": "laptop", "person": "ada" }));
    assert_eq!(key["approvedBy"], json!(["bob"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_at_one_checkpoint_are_the_same_bytes_and_signed() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    generate(&world, &service, "P-256").await;
    world.admin().get("/admin/reports/keys").await.ok();
    let keys = trusted(&world).await;
    for (path, accept) in [
        ("/admin/reports/keys", "application/json"),
        ("/admin/reports/keys", "text/csv"),
        ("/admin/reports/cbom", "application/json"),
    ] {
        let admin = world.admin().with("accept", accept);
        let [one, two] = [admin.get(path).await.ok(), admin.get(path).await.ok()];
        assert_eq!(one.body, two.body, "{path}");
        for report in [&one, &two] {
            let signature = report.header("x-report-signature");
            keys.verify(report.body.as_bytes(), signature).expect(path);
            let changed = report.body.replacen("billing", "filling", 1);
            assert_ne!(changed, report.body);
            let refused = keys.verify(changed.as_bytes(), signature);
            assert_eq!(refused, Err(NotVerified::Changed), "{path}");
        }
        world.service(&format!("after {path} {accept}")).await;
        let later = admin.get(path).await.ok();
        assert_ne!(later.body, one.body, "the checkpoint of {path} advances with each change");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_in_the_checkpoint_of_the_report_that_shows_it() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    for _ in 0..5 {
        let key = generate(&world, &service, "P-256").await;
        let report = register(&world, "").await;
        entry(&report, &key);
        let path = format!("/admin/audit/management?resourceId={key}&action=create");
        let events = world.admin().get(&path).await.ok().json();
        let index = events["items"][0]["log_index"].as_u64().expect("a sealed event");
        let size = report["checkpoints"]["management"]["size"].as_u64().expect("a size");
        assert!(index < size, "{index} {size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_select_keys_and_unknown_names_are_refused() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let weak = generate(&world, &service, "RSA-2048").await;
    let strong = generate(&world, &service, "P-384").await;
    let policy = json!({ "name": "cards", "destinationServiceId": service,
        "allowedServiceIds": ["*"], "alg": "ECDH-ES+A256KW" });
    let number = world.admin().post("/admin/policies", policy).await.created().text("policyNumber");
    for (query, expected) in [
        ("?algorithm=RSA-2048".to_owned(), vec![&weak]),
        ("?strengthBelow=128".to_owned(), vec![&weak]),
        ("?strengthBelow=112".to_owned(), vec![]),
        ("?strengthBelow=193".to_owned(), vec![&weak, &strong]),
        (format!("?policyNumber={number}"), vec![&strong]),
        (format!("?policyNumber={number}&algorithm=RSA-2048"), vec![]),
    ] {
        let report = register(&world, &query).await;
        assert_eq!(ids(&report), expected, "{query}");
    }
    let report = register(&world, "?strengthBelow=128").await;
    let filter = json!({ "algorithm": null, "strengthBelow": 128, "policyNumber": null });
    assert_eq!(report["filter"], filter);

    let today = format!("at={}", &Clock::system().now().to_string()[..10]);
    for (query, field, code) in [
        ("algorithm=RSA-1024", "algorithm", "unsupported"),
        ("strengthBelow=0", "strengthBelow", "range"),
        ("strengthBelow=weak", "strengthBelow", "format"),
        ("policyNumber=POL-999999", "policyNumber", "unknown"),
        ("at=2026-02-30", "at", "format"),
        (today.as_str(), "at", "range"),
        ("strength=128", "strength", "unknown"),
    ] {
        for path in ["keys", "cbom"] {
            let answer = world.admin().get(&format!("/admin/reports/{path}?{query}")).await;
            answer.invalid(&[(field, code)]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_of_the_table_are_never_formulas() {
    let world = reporting_world().await;
    let service = world.service("=1+1").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256",
        "name": "@SUM(A1), \"x\"" });
    let key = world.admin().post("/admin/keys", body).await.created().text("id");
    let table = csv(&world).await;
    let line = table.body.lines().find(|line| line.starts_with(&key)).expect("the key");
    assert!(line.contains(",\"'=1+1\",\"'@SUM(A1), \"\"x\"\"\","), "{line}");
    let head = table.body.lines().next().expect("a head");
    assert!(head.starts_with("keyId,serviceId,serviceName,name,version,use,algorithm,strength,"));
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(table.header("content-disposition"), "attachment; filename=\"keys.csv\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_needs_a_key_and_the_audit_logs() {
    let world = World::new().await;
    let refused = world.admin().get("/admin/reports/keys").await.refused(409, "CONFLICT");
    assert!(refused.message().contains("sealward init"), "{}", refused.message());
    assert!(make_report_key(&world).await);
    assert!(!make_report_key(&world).await, "one key is enough");
    let refused = world.admin().get("/admin/reports/keys").await.refused(409, "CONFLICT");
    assert!(refused.message().contains("sealward audit init"), "{}", refused.message());
    initialize(&world, Renewal::default()).await;
    world.admin().get("/admin/reports/keys").await.ok();
}
