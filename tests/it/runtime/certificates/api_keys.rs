//! API keys that require a client certificate.

use serde_json::json;

use super::{CALLER, CART, Site, caller, unauthenticated};

#[tokio::test]
async fn an_api_key_can_require_a_certificate() {
    let site = Site::with(|auth, _| auth.certificates = false).await;
    let issued = site.clients.client();
    let application =
        site.world.application("billing").with("certificateSha256", json!(issued.sha256())).await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    let headers = [("authorization", bearer.as_str())];
    let answer = site.ask(&issued, &headers).await.ok();
    assert_eq!(caller(&answer), application.key_id.clone().unwrap());
    unauthenticated(site.ask(&site.clients.client(), &headers).await);
    unauthenticated(site.ask(&site.one.workload(&[CART]), &headers).await);
    // A request without TLS has no certificate.
    unauthenticated(application.get(CALLER).await);
    unauthenticated(application.get("/api/v1/health").await);
    // By a proxy, the certificate of the client counts.
    let certificate = issued.header();
    let forwarded = [headers[0], ("client-cert", certificate.as_str())];
    site.ask_by_proxy(&forwarded).await.ok();
    unauthenticated(site.ask_by_proxy(&headers).await);
    // Without the requirement, the key works on every connection.
    let path = application.key_path();
    let none = json!({ "certificateSha256": null });
    site.world.admin().patch(&path, none).await.ok();
    application.get(CALLER).await.ok();
}

#[tokio::test]
async fn a_required_certificate_must_lead_to_the_client_ca() {
    let site = Site::new().await;
    let issued = site.one.workload(&[CART]);
    let application =
        site.world.application("billing").with("certificateSha256", json!(issued.sha256())).await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    let answer = site.ask(&issued, &[("authorization", &bearer)]).await;
    unauthenticated(answer);
}

#[tokio::test]
async fn an_admin_key_can_require_a_certificate() {
    let site = Site::new().await;
    let issued = site.clients.client();
    let body = json!({ "name": "Ada", "type": "admin", "certificateSha256": issued.sha256() });
    let created = site.world.admin().post("/admin/api-keys", body).await;
    let created = created.created();
    assert_eq!(created.json()["certificateSha256"], json!(issued.sha256()));
    let secret = created.text("secret");
    let without = site.world.client(&secret).get("/admin/services").await;
    unauthenticated(without);
    let wrong = json!({ "name": "Bob", "type": "admin", "certificateSha256": "ab" });
    let wrong = site.world.admin().post("/admin/api-keys", wrong).await;
    wrong.invalid(&[("certificateSha256", "format")]);
}
