//! Certificates of SPIFFE workloads.

use axum::body::Body;
use axum::http::Request;
use rcgen::KeyUsagePurpose;
use serde_json::{Value, json};

use super::{CALLER, CART, Site, caller, unauthenticated};
use testkit::{Authority, HOST, PATIENCE, within};

#[tokio::test]
async fn a_certificate_authenticates_as_the_identity_with_its_spiffe_id() {
    let site = Site::new().await;
    let id = site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    let answer = site.ask(&issued, &[]).await.ok();
    assert_eq!(answer.text("serviceId"), site.service);
    assert_eq!(answer.json()["credential"], json!({ "type": "identity", "id": id }));
    // A renewed certificate is the same workload.
    assert_eq!(site.caller(&site.one.workload(&[CART])).await, id);
}

#[tokio::test]
async fn the_audit_record_names_the_identity_and_the_spiffe_id() {
    let site = Site::new().await;
    let id = site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    let body = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    site.hash(&issued, &body.to_string()).await.ok();
    let list = site.world.admin().get("/admin/audit").await.ok();
    let record = &list.json()["items"][0];
    assert_eq!(record["identity_id"], json!(id));
    assert_eq!(record["token_subject"], CART);
    assert_eq!(record["api_key_id"], Value::Null);
    assert_eq!(record["application_id"], json!(site.service));
}

#[tokio::test]
async fn a_certificate_needs_exactly_one_uri_of_its_own_trust_domain() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let two = "spiffe://two.example/shop/cart";
    site.identity(json!({ "spiffeId": two })).await;
    assert_eq!(site.ask(&site.two.workload(&[two]), &[]).await.status, 200);
    let signing = site.one.workload_with(&[CART], |params| {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    });
    for (name, issued) in [
        ("two URIs", site.one.workload(&[CART, "https://a.example/"])),
        ("the URI twice", site.one.workload(&[CART, CART])),
        ("no URI", site.one.workload(&[])),
        ("the CA of another trust domain", site.two.workload(&[CART])),
        ("the client CA", site.clients.workload(&[CART])),
        ("another workload", site.one.workload(&["spiffe://one.example/shop/cart2"])),
        ("a workload below it", site.one.workload(&["spiffe://one.example/shop/cart/1"])),
        ("another case", site.one.workload(&["spiffe://one.example/shop/Cart"])),
        ("an unknown trust domain", site.one.workload(&["spiffe://three.example/shop/cart"])),
        ("a port", site.one.workload(&["spiffe://one.example:443/shop/cart"])),
        ("a key that signs certificates", signing),
    ] {
        let answer = site.ask(&issued, &[]).await;
        assert_eq!(answer.status, 401, "{name}");
        unauthenticated(answer);
    }
}

#[tokio::test]
async fn untrusted_expired_and_revoked_certificates_are_refused_in_the_handshake() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let expired = site.one.workload_with(&[CART], |params| {
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    });
    assert!(!site.connects(&Authority::new().workload(&[CART])).await);
    assert!(!site.connects(&expired).await);
    let (kept, revoked) = (site.one.workload(&[CART]), site.one.workload(&[CART]));
    assert!(site.connects(&revoked).await);
    site.revoke(&[], &[&revoked]);
    assert!(!site.connects(&revoked).await);
    assert_eq!(site.ask(&kept, &[]).await.status, 200);
    // A trust domain without a revocation list is not affected.
    assert!(site.connects(&site.two.workload(&[])).await);
}

#[tokio::test]
async fn an_open_connection_ends_with_its_certificate() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    let client = testkit::SecureClient::with_certificate(&site.server, &issued);
    let mut open = client.connect(site.address).await.unwrap();
    open.get(CALLER).await.unwrap().ok();
    site.revoke(&[], &[&issued]);
    within(PATIENCE, async || open.get(CALLER).await.is_err()).await;
}

#[tokio::test]
async fn a_certificate_alone_counts_only_if_it_is_on() {
    let site = Site::with(|auth, _| auth.certificates = false).await;
    site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    assert!(site.connects(&issued).await);
    unauthenticated(site.ask(&issued, &[]).await);
    // An API key on the same connection works.
    let application = site.world.application("other").await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    site.ask(&issued, &[("authorization", &bearer)]).await.ok();
}

#[tokio::test]
async fn where_authorization_is_present_only_it_authenticates() {
    let site = Site::new().await;
    let id = site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    assert_eq!(site.caller(&issued).await, id);
    let application = site.world.application("other").await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    let by_key = site.ask(&issued, &[("authorization", &bearer)]).await.ok();
    assert_eq!(caller(&by_key), application.key_id.clone().unwrap());
    for headers in [
        vec![("authorization", "Bearer x")],
        vec![("authorization", "Basic x")],
        vec![("authorization", "")],
        vec![("authorization", "Bearer e30.e30.c2ln")],
        vec![("authorization", bearer.as_str()), ("authorization", bearer.as_str())],
    ] {
        unauthenticated(site.ask(&issued, &headers).await);
    }
}

#[tokio::test]
async fn a_certificate_that_several_identities_match_is_refused() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    site.ask(&issued, &[]).await.ok();
    let second = site.identity(json!({ "spiffeId": CART })).await;
    unauthenticated(site.ask(&issued, &[]).await);
    // A disabled identity still matches.
    let path = format!("/admin/identities/{second}");
    let admin = site.world.admin();
    let disabled = json!({ "status": "disabled" });
    admin.patch(&path, disabled).await.ok();
    unauthenticated(site.ask(&issued, &[]).await);
    admin.delete(&path).await.gone();
    site.ask(&issued, &[]).await.ok();
}

#[tokio::test]
async fn a_disabled_identity_is_refused_on_all_instances() {
    let site = Site::new().await;
    let id = site.identity(json!({ "spiffeId": CART })).await;
    let issued = site.one.workload(&[CART]);
    let (auth, http) = site.settings.clone();
    let second = site.world.another_with_certificates(auth, http).await;
    let elsewhere = second.served(Some(site.tls.clone())).await;
    let status = async |address| {
        let request = Request::get(format!("https://{HOST}{CALLER}"));
        let request = request.body(Body::empty()).unwrap();
        let answer = site.send(address, &issued, request).await.unwrap();
        answer.status.as_u16()
    };
    assert_eq!(status(elsewhere).await, 200);
    assert_eq!(status(site.address).await, 200);
    let path = format!("/admin/identities/{id}");
    let admin = site.world.admin();
    admin.put(&path, json!({ "status": "disabled" })).await.ok();
    assert_eq!(status(site.address).await, 401);
    within(PATIENCE, async || status(elsewhere).await == 401).await;
    admin.put(&path, json!({ "status": "active" })).await.ok();
    assert_eq!(status(site.address).await, 200);
}

#[tokio::test]
async fn malformed_json_is_refused_before_the_certificate() {
    let site = Site::new().await;
    let issued = site.one.workload(&[CART]);
    let malformed = site.hash(&issued, "{").await;
    malformed.refused(400, "INVALID_REQUEST");
    unauthenticated(site.hash(&issued, "{}").await);
    site.identity(json!({ "spiffeId": CART })).await;
    site.hash(&issued, "{}").await.refused(400, "INVALID_REQUEST");
}

#[tokio::test]
async fn a_workload_is_no_administrator() {
    let site = Site::new().await;
    site.identity(json!({ "spiffeId": CART })).await;
    let request = Request::get(format!("https://{HOST}/admin/services"));
    let request = request.body(Body::empty()).unwrap();
    let issued = site.one.workload(&[CART]);
    let answer = site.send(site.address, &issued, request).await.unwrap();
    answer.refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn trust_domains_alone_do_not_require_certificates() {
    let site = Site::new().await;
    let files = engine::settings::TlsFiles {
        certificate: site.folder.path().join("certificate.pem"),
        key: site.folder.path().join("certificate-key.pem"),
        client_ca: None,
        client_crl: None,
        spiffe: site.settings.0.spiffe.clone(),
    };
    let tls = sealward::server::Tls::load(formats::clock::Clock::system(), files).unwrap();
    let address = site.world.served(Some(tls)).await;
    let id = site.identity(json!({ "spiffeId": CART })).await;
    let application = site.world.application("other").await;
    let bearer = format!("Bearer {}", application.key.as_deref().unwrap());
    let request = || Request::get(format!("https://{HOST}{CALLER}"));
    let client = testkit::SecureClient::trusting(&site.server);
    let mut without = client.connect(address).await.unwrap();
    let by_key = request().header("authorization", &bearer);
    let by_key = without.send(by_key.body(Body::empty()).unwrap()).await;
    by_key.unwrap().ok();
    unauthenticated(without.get(CALLER).await.unwrap());
    let by_certificate = request().body(Body::empty()).unwrap();
    let issued = site.one.workload(&[CART]);
    let answer = site.send(address, &issued, by_certificate).await.unwrap();
    assert_eq!(caller(&answer.ok()), id);
}
