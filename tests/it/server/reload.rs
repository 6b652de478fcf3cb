//! Renewal of certificates in a running service, and invalid certificate files.

use std::fs;

use axum::Router;
use axum::routing::get;
use rustls::pki_types::CertificateDer;

use super::site::{Serving, Site};
use testkit::{Authority, HOST, PATIENCE, SecureClient, certificate, pulse, within};

fn router() -> Router {
    Router::new().route("/", get(async || "here"))
}

/// The server certificate of a new connection.
async fn server_certificate(site: &Site, serving: &Serving) -> CertificateDer<'static> {
    let client = SecureClient::trusting(&site.authority);
    client.connect(serving.address).await.unwrap().certificate
}

#[tokio::test]
async fn changed_files_are_loaded_and_open_connections_stay() {
    let site = Site::new();
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let reloading = tokio::spawn(sealward::server::keep_current(Some(tls), pulse()));
    let client = SecureClient::trusting(&site.authority);
    let mut open = client.connect(serving.address).await.unwrap();
    open.get("/").await.unwrap().ok();

    let renewed = site.authority.server(HOST);
    site.renew(&renewed);
    let expected = certificate(&renewed.certificate);
    within(PATIENCE, async || server_certificate(&site, &serving).await == expected).await;
    assert_ne!(open.certificate, expected);
    open.get("/").await.unwrap().ok();
    reloading.abort();
}

#[tokio::test]
async fn a_renewed_revocation_list_applies_immediately() {
    let clients = Authority::new();
    let issued = clients.client();
    let site = Site::new().with_client_authority(&clients);
    let site = site.with_list(&clients.revocation_list(&[]));
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let reloading = tokio::spawn(sealward::server::keep_current(Some(tls.clone()), pulse()));
    let client = SecureClient::with_certificate(&site.authority, &issued);
    let mut open = client.connect(serving.address).await.unwrap();
    open.get("/").await.unwrap().ok();
    let valid = clients.client();
    let others = SecureClient::with_certificate(&site.authority, &valid);
    let mut kept = others.connect(serving.address).await.unwrap();
    let is_accepted = async || match client.connect(serving.address).await {
        Ok(mut connection) => connection.get("/").await.is_ok(),
        Err(_) => false,
    };
    assert!(is_accepted().await);
    let site = site.with_list(&clients.revocation_list(&[&issued]));
    within(PATIENCE, async || !is_accepted().await).await;
    // An open connection ends with its certificate; others stay.
    within(PATIENCE, async || open.get("/").await.is_err()).await;
    kept.get("/").await.unwrap().ok();

    let list = site.client_crl.as_ref().unwrap();
    fs::write(list, clients.expired_revocation_list(&[])).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    let expected = format!("http.tls.client_crl: {} expired at 2021-", list.display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(!is_accepted().await, "the previous list must stay in use");
    reloading.abort();
}

#[tokio::test]
async fn mismatched_files_change_nothing() {
    let site = Site::new();
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let before = server_certificate(&site, &serving).await;
    let files = site.files();
    let issued = site.authority.server(HOST);
    fs::write(&files.certificate, &issued.certificate).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.starts_with("http.tls.key: "), "{error}");
    assert!(error.contains("must be the key of the certificate in"), "{error}");
    assert_eq!(server_certificate(&site, &serving).await, before);
    fs::write(&files.key, &issued.key).unwrap();
    tls.reload().unwrap();
    assert_eq!(server_certificate(&site, &serving).await, certificate(&issued.certificate));
}

#[test]
fn errors_of_a_file_name_its_setting() {
    let clients = Authority::new();
    let site = Site::new().with_client_authority(&clients);
    let site = site.with_list(&clients.revocation_list(&[]));
    let files = site.files();
    let client_ca = files.client_ca.clone().unwrap();
    let client_crl = files.client_crl.clone().unwrap();
    let all = [&files.certificate, &files.key, &client_ca, &client_crl];
    let valid = all.map(|file| fs::read(file).unwrap());
    let expired = site.authority.server_between(HOST, [2001, 2002]);
    let future = site.authority.server_between(HOST, [2901, 2902]);
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let damaged = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let invalid_list = damaged.replace("CERTIFICATE", "X509 CRL");
    let expired_list = clients.expired_revocation_list(&[]);
    let cases: [(&str, &std::path::Path, Option<&str>, &str); 14] = [
        ("certificate", &files.certificate, None, "cannot be read: "),
        ("certificate", &files.certificate, Some(""), "must contain a certificate in PEM"),
        ("certificate", &files.certificate, Some(damaged), "cannot be used: it is no X.509"),
        (
            "certificate",
            &files.certificate,
            Some(&expired.certificate),
            "expired at 2002-01-01T00:00:00.000Z: renew",
        ),
        (
            "certificate",
            &files.certificate,
            Some(&future.certificate),
            "is not valid before 2901-01-01T00:00:00.000Z: is the clock",
        ),
        ("key", &files.key, None, "cannot be read: "),
        ("key", &files.key, Some(encrypted), "without a passphrase"),
        ("key", &files.key, Some(&expired.key), "must be the key of the certificate in"),
        ("client_ca", &client_ca, Some("nothing"), "must contain a certificate in PEM"),
        ("client_ca", &client_ca, Some(damaged), "cannot be used: "),
        ("client_crl", &client_crl, None, "cannot be read: "),
        (
            "client_crl",
            &client_crl,
            Some(damaged),
            "must contain a certificate revocation list in PEM",
        ),
        ("client_crl", &client_crl, Some(&invalid_list), "cannot be used: "),
        (
            "client_crl",
            &client_crl,
            Some(&expired_list),
            "expired at 2021-01-01T00:00:00.000Z: fetch",
        ),
    ];
    for (setting, file, content, text) in cases {
        match content {
            Some(content) => fs::write(file, content).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        let error = site.tls().err().unwrap().to_string();
        let expected = format!("http.tls.{setting}: {} ", file.display());
        assert!(
            error.starts_with(&expected) && error.contains(text),
            "{error:?}, not {expected:?} {text:?}"
        );
        for (file, content) in all.iter().zip(&valid) {
            fs::write(file, content).unwrap();
        }
        site.tls().unwrap();
    }
}
