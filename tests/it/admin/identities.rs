//! `/admin/identities`.

use serde_json::{Value, json};

use testkit::World;

const PATH: &str = "/admin/identities";

fn new(service: &str) -> Value {
    json!({
        "name": "cart",
        "serviceId": service,
        "match": { "issuer": "https://issuer.example", "subject": "cart" },
    })
}

#[tokio::test]
async fn an_identity_is_created_read_changed_and_deleted() {
    let world = World::new().await;
    let (admin, service) = (world.admin(), world.service("shop").await);
    let created = admin.post(PATH, new(&service)).await.created();
    let id = created.text("id");
    assert!(id.starts_with("idn_"));
    let path = format!("{PATH}/{id}");
    assert_eq!(created.header("location"), path);
    for (member, value) in [
        ("name", json!("cart")),
        ("serviceId", json!(service)),
        ("policyNumber", Value::Null),
        ("allowedOperations", Value::Null),
        ("match", json!({ "issuer": "https://issuer.example", "subject": "cart" })),
        ("status", json!("active")),
        ("lastUsedAt", Value::Null),
    ] {
        assert_eq!(created.json()[member], value, "{member}");
    }
    let read = admin.get(&path).await.ok();
    assert_eq!(read.json(), created.json());
    // A resource can be sent back as it was read.
    let same = admin.put(&path, read.json().clone()).await.ok();
    assert_eq!(same.header("etag"), read.header("etag"));

    let matching = json!({ "issuer": "https://other.example", "claims": { "/a/b": "c", "d": 1 } });
    let changes = json!({ "status": "disabled", "allowedOperations": ["sign"], "match": matching });
    let changed = admin.patch(&path, changes).await.ok();
    assert_eq!(changed.json()["status"], "disabled");
    assert_eq!(changed.json()["match"], matching);
    let outdated = admin.clone().with("if-match", read.header("etag"));
    let outdated = outdated.put(&path, json!({ "name": "x" })).await;
    outdated.refused(412, "PRECONDITION_FAILED");

    let listed = admin.get(&format!("{PATH}?serviceId={service}&status=disabled")).await.ok();
    assert_eq!(listed.json()["items"], json!([changed.json()]));
    for other in ["status=active", "name=car", "nameContains=x"] {
        let listed = admin.get(&format!("{PATH}?{other}")).await.ok();
        assert_eq!(listed.json()["items"], json!([]), "{other}");
    }

    admin.delete(&path).await.gone();
    for missing in [path.as_str(), "/admin/identities/idn_1", "/admin/identities/x"] {
        let missing = admin.get(missing).await;
        missing.refused(404, "IDENTITY_NOT_FOUND");
    }
    let events = admin.get(&format!("/admin/audit/management?resourceId={id}")).await.ok();
    let events = events.json()["items"].as_array().unwrap().clone();
    let actions: Vec<_> = events.iter().map(|event| event["action"].clone()).collect();
    assert_eq!(actions, ["delete", "update", "create"]);
    assert_eq!(events[0]["resource_type"], "identity");
    assert_eq!(events[1]["before"]["match"]["subject"], "cart");
    assert_eq!(events[1]["after"]["match"]["claims"]["d"], 1);
}

#[tokio::test]
async fn all_problems_are_reported_at_once() {
    let world = World::new().await;
    let (admin, service) = (world.admin(), world.service("shop").await);
    admin.post(PATH, json!({})).await.invalid(&[
        ("serviceId", "required"),
        ("name", "required"),
        ("match", "required"),
    ]);
    for (member, value, field, code) in [
        ("serviceId", json!("svc_01h455vb4pex5vsknk084sn02q"), "serviceId", "unknown"),
        ("policyNumber", json!("POL-999999"), "policyNumber", "unknown"),
        ("allowedOperations", json!([]), "allowedOperations", "length"),
        ("allowedOperations", json!(["open"]), "allowedOperations[0]", "unsupported"),
        ("status", json!("revoked"), "status", "unsupported"),
        ("match", json!({}), "match.issuer", "required"),
        ("match", json!({ "issuer": "a" }), "match.subject", "required"),
        ("match", json!({ "issuer": "a", "subject": 7 }), "match.subject", "type"),
        ("match", json!({ "issuer": "a", "claims": {} }), "match.claims", "length"),
        ("match", json!({ "issuer": "a", "claims": { "/~": "b" } }), "match.claims./~", "format"),
        ("match", json!({ "issuer": "a", "claims": { "b": 1.5 } }), "match.claims.b", "range"),
        (
            "match",
            json!({ "issuer": "a", "claims": { "b": 9_007_199_254_740_992_u64 } }),
            "match.claims.b",
            "range",
        ),
        ("match", json!({ "spiffeId": "spiffe://a.example" }), "match.spiffeId", "format"),
        ("match", json!({ "certificateSha256": "ab" }), "match.certificateSha256", "format"),
        (
            "match",
            json!({ "spiffeId": "spiffe://a.example/b", "subject": "c" }),
            "match.subject",
            "conflict",
        ),
        (
            "match",
            json!({ "issuer": "a", "subject": "b", "spiffeId": "spiffe://a.example/b" }),
            "match.spiffeId",
            "conflict",
        ),
    ] {
        let mut body = new(&service);
        body[member] = value;
        admin.post(PATH, body).await.invalid(&[(field, code)]);
    }
    let created = admin.post(PATH, new(&service)).await.created();
    let other = world.service("other").await;
    let moved = admin.put(created.header("location"), json!({ "serviceId": other })).await;
    moved.invalid(&[("serviceId", "conflict")]);
}

#[tokio::test]
async fn owners_and_policy_administrators_manage_identities() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let created = world.admin().post(PATH, new(&service)).await.created();
    let path = created.header("location");
    for role in ["custodian", "auditor"] {
        let other = world.administrator(&[role]).await;
        for answer in [
            other.get(PATH).await,
            other.get(path).await,
            other.post(PATH, new(&service)).await,
            other.put(path, json!({})).await,
            other.patch(path, json!({})).await,
            other.delete(path).await,
        ] {
            answer.refused(403, "FORBIDDEN");
        }
    }
    let policy_admin = world.administrator(&["policy-admin"]).await;
    policy_admin.get(PATH).await.ok();
    policy_admin.post(PATH, new(&service)).await.created();
    policy_admin.delete(path).await.gone();
}

#[tokio::test]
async fn a_service_and_a_policy_of_an_identity_are_not_deleted() {
    let world = World::new().await;
    let (admin, service) = (world.admin(), world.service("shop").await);
    let destination = world.service("destination").await;
    let policy = world.policy(&destination).await;
    let mut body = new(&service);
    body["policyNumber"] = json!(policy);
    let created = admin.post(PATH, body).await.created();
    for referred in [format!("/admin/services/{service}"), format!("/admin/policies/{policy}")] {
        let refused = admin.delete(&referred).await.refused(409, "CONFLICT");
        assert!(refused.body.contains("identity"), "{}", refused.body);
    }
    admin.delete(created.header("location")).await.gone();
    admin.delete(&format!("/admin/services/{service}")).await.gone();
    admin.delete(&format!("/admin/policies/{policy}")).await.gone();
}

#[tokio::test]
async fn an_identity_matches_tokens_or_certificates() {
    let world = World::new().await;
    let (admin, service) = (world.admin(), world.service("shop").await);
    for matching in [
        json!({ "spiffeId": "spiffe://example.org/shop/cart" }),
        json!({ "certificateSha256": format!("{:064x}", 7) }),
        json!({ "issuer": "https://issuer.example", "subject": "cart" }),
    ] {
        let mut body = new(&service);
        body["match"] = matching.clone();
        let created = admin.post(PATH, body).await.created();
        assert_eq!(created.json()["match"], matching);
        let path = created.header("location").to_owned();
        let other = json!({ "spiffeId": "spiffe://example.org/shop/till" });
        let changed = admin.patch(&path, json!({ "match": other })).await.ok();
        assert_eq!(changed.json()["match"], other);
    }
}
