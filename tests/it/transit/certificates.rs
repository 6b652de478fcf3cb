//! Client certificates as the only credential.

use std::fs;

use axum::body::Body;
use axum::http::{Method, Request};
use engine::settings::{Auth, Http, TlsFiles};
use formats::clock::Clock;
use sealward::server::Tls;
use serde_json::{Value, json};

use testkit::{Authority, HOST, Scratch, SecureClient, World};

#[tokio::test]
async fn a_certificate_authenticates_without_a_token() {
    let [server, clients] = [(); 2].map(|()| Authority::new());
    let folder = Scratch::new();
    let [certificate, key] = server.server(HOST).write(folder.path());
    let client_ca = folder.path().join("clients");
    fs::write(&client_ca, clients.certificate()).unwrap();
    let files = TlsFiles {
        certificate,
        key,
        client_ca: Some(client_ca),
        client_crl: None,
        spiffe: Vec::new(),
    };
    let tls = Tls::load(Clock::system(), files).unwrap();
    let auth = Auth { certificates: true, ..Auth::default() };
    let world = World::with_certificates(Clock::system(), auth, Http::default()).await;
    let address = world.served(Some(tls)).await;
    let service = world.service("shop").await;
    let issued = clients.client();
    let identity = json!({ "name": "cart", "serviceId": service, "match": { "certificateSha256": issued.sha256() } });
    world.admin().post("/admin/identities", identity).await.created();
    let key =
        json!({ "serviceId": service, "name": "orders", "algorithm": "AES-256", "generate": true });
    world.admin().post("/admin/keys", key).await.created();

    let send = async |path: &str, token: Option<&str>, body: Value| {
        let mut connection =
            SecureClient::with_certificate(&server, &issued).connect(address).await.unwrap();
        let mut request =
            Request::builder().method(Method::PUT).uri(format!("https://{HOST}/v1/{path}"));
        if let Some(token) = token {
            request = request.header("x-vault-token", token);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        connection.send(request).await.unwrap()
    };
    let sealed =
        send("transit/encrypt/orders", None, json!({ "plaintext": "aGVsbG8=" })).await.ok().json();
    let body = json!({ "ciphertext": sealed["data"]["ciphertext"] });
    let opened = send("transit/decrypt/orders", None, body).await.ok().json();
    assert_eq!(opened["data"], json!({ "plaintext": "aGVsbG8=" }));
    // A token is the stronger credential, also a wrong one.
    let answer = send("transit/encrypt/orders", Some("nonsense"), json!({ "plaintext": "" })).await;
    super::refused(&answer, 403, &["permission denied"]);
    let answer = send("auth/token/renew-self", None, json!({})).await;
    super::refused(&answer, 400, &["a client certificate has no token to renew"]);
    let answer = send("auth/cert/login", None, json!({ "name": "web" })).await;
    assert_eq!(answer.status, 400);
}
