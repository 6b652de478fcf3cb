//! Pinned client certificates.

use serde_json::json;

use super::{CART, Site, unauthenticated};

#[tokio::test]
async fn only_the_pinned_certificate_authenticates() {
    let site = Site::new().await;
    let issued = site.clients.client();
    let matching = json!({ "certificateSha256": issued.sha256() });
    let id = site.identity(matching).await;
    assert_eq!(site.caller(&issued).await, id);
    unauthenticated(site.ask(&site.clients.client(), &[]).await);
    let body = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    site.hash(&issued, &body.to_string()).await.ok();
    let list = site.world.admin().get("/admin/audit").await.ok();
    let record = &list.json()["items"][0];
    assert_eq!(record["identity_id"], json!(id));
    assert_eq!(record["token_subject"], json!(issued.sha256()));
}

#[tokio::test]
async fn a_pinned_certificate_must_lead_to_the_client_ca() {
    let site = Site::new().await;
    let issued = site.one.workload(&[CART]);
    site.identity(json!({ "certificateSha256": issued.sha256() })).await;
    assert!(site.connects(&issued).await);
    unauthenticated(site.ask(&issued, &[]).await);
}

#[tokio::test]
async fn a_revoked_pinned_certificate_is_refused() {
    let site = Site::new().await;
    let issued = site.clients.client();
    site.identity(json!({ "certificateSha256": issued.sha256() })).await;
    assert!(site.connects(&issued).await);
    site.revoke(&[&issued], &[]);
    assert!(!site.connects(&issued).await);
}

#[tokio::test]
async fn a_fingerprint_is_read_as_openssl_prints_it() {
    let site = Site::new().await;
    let issued = site.clients.client();
    let digits = issued.sha256().to_uppercase();
    let pairs: Vec<String> =
        digits.as_bytes().chunks(2).map(|pair| String::from_utf8(pair.to_vec()).unwrap()).collect();
    let id = site.identity(json!({ "certificateSha256": pairs.join(":") })).await;
    let path = format!("/admin/identities/{id}");
    let read = site.world.admin().get(&path).await.ok();
    let expected = json!({ "certificateSha256": issued.sha256() });
    assert_eq!(read.json()["match"], expected);
    assert_eq!(site.caller(&issued).await, id);
}
