//! Other programs verify the signatures of reports and accept the bill of materials.

use formats::binary::to_base64url;
use serde_json::{Value, json};

use super::peer::Peer;
use crate::admin::reports::reporting_world;

#[tokio::test(flavor = "multi_thread")]
async fn jose_verifies_reports() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let key = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    world.admin().post("/admin/keys", key).await.created();
    let keys = world.admin().get("/admin/reports/jwks").await.ok().json();
    let jwk = keys["keys"][0].clone();
    let mut jose = Peer::jose();
    for path in ["/admin/reports/keys", "/admin/reports/cbom"] {
        let report = world.admin().get(path).await.ok();
        let payload = to_base64url(report.body.as_bytes());
        let jws = report.header("x-report-signature").replace("..", &format!(".{payload}."));
        let request = json!({ "do": "verify", "alg": "ES256", "jwk": jwk, "jws": jws });
        assert_eq!(jose.ask(&request), Value::String(report.body), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_schema_accepts_the_bill_of_materials() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    for (usage, algorithm) in [
        ("enc", "RSA-2048"),
        ("enc", "P-384"),
        ("sig", "P-256"),
        ("sig", "Ed25519"),
        ("sig", "HMAC-SHA256"),
        ("data", "AES-128"),
    ] {
        let key = json!({ "serviceId": service, "generate": true, "use": usage,
            "algorithm": algorithm, "expiresAt": "2099-01-01T00:00:00Z" });
        world.admin().post("/admin/keys", key).await.created();
    }
    let bill = world.admin().get("/admin/reports/cbom").await.ok();
    assert_eq!(bill.header("content-type"), "application/vnd.cyclonedx+json");
    let mut cyclonedx = Peer::cyclonedx();
    let answer = cyclonedx.ask(&json!({ "bom": bill.body }));
    assert_eq!(answer, json!({ "error": null }));

    let bill = bill.json();
    let names: Vec<&str> = bill["components"]
        .as_array()
        .expect("components")
        .iter()
        .filter_map(|component| component["name"].as_str())
        .collect();
    for name in ["RSA-2048", "P-384", "HMAC-SHA256", "TLS 1.3", "TLS 1.2", "X25519MLKEM768"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let wrong = cyclonedx.ask(&json!({ "bom": bill.to_string().replace("protocol", "program") }));
    assert_ne!(wrong, json!({ "error": null }), "the schema is checked");
}
