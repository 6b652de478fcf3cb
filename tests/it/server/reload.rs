//! Certificates that are renewed while the service runs, and those that cannot be used.

use std::fs;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rustls::pki_types::CertificateDer;

use super::site::{Serving, Site};
use crate::support::{Authority, HOST, SecureClient, certificate, within};

const PATIENCE: Duration = Duration::from_secs(60);

fn router() -> Router {
    Router::new().route("/", get(async || "here"))
}

/// The certificate that a new connection is shown.
async fn shown(site: &Site, serving: &Serving) -> CertificateDer<'static> {
    let client = SecureClient::trusting(&site.authority);
    client.connect(serving.address).await.unwrap().certificate
}

#[tokio::test]
async fn changed_files_are_loaded_and_open_connections_stay() {
    let site = Site::new();
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let keeping = tokio::spawn(sealward::server::keep_current(Some(tls)));
    let client = SecureClient::trusting(&site.authority);
    let mut open = client.connect(serving.address).await.unwrap();
    open.get("/").await.unwrap().ok();

    let renewed = site.authority.server(HOST);
    site.renew(&renewed);
    let expected = certificate(&renewed.certificate);
    within(PATIENCE, async || shown(&site, &serving).await == expected).await;
    assert_ne!(open.certificate, expected);
    open.get("/").await.unwrap().ok();
    keeping.abort();
}

#[tokio::test]
async fn a_renewed_revocation_list_applies_immediately() {
    let clients = Authority::new();
    let papers = clients.client();
    let site = Site::new().for_clients_of(&clients);
    let site = site.with_list(&clients.revoking(&[]));
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let keeping = tokio::spawn(sealward::server::keep_current(Some(tls.clone())));
    let client = SecureClient::showing(&site.authority, &papers);
    let mut open = client.connect(serving.address).await.unwrap();
    open.get("/").await.unwrap().ok();
    let honest = clients.client();
    let others = SecureClient::showing(&site.authority, &honest);
    let mut kept = others.connect(serving.address).await.unwrap();
    let comes_in = async || match client.connect(serving.address).await {
        Ok(mut connection) => connection.get("/").await.is_ok(),
        Err(_) => false,
    };
    assert!(comes_in().await);
    let site = site.with_list(&clients.revoking(&[&papers]));
    within(PATIENCE, async || !comes_in().await).await;
    // An open connection ends with its certificate; others stay.
    within(PATIENCE, async || open.get("/").await.is_err()).await;
    kept.get("/").await.unwrap().ok();

    let list = site.client_crl.as_ref().unwrap();
    fs::write(list, clients.revoking_long_ago(&[])).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    let expected = format!("http.tls.client_crl: {} expired at 2021-", list.display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(!comes_in().await, "the list of before stays in use");
    keeping.abort();
}

#[tokio::test]
async fn mismatched_files_change_nothing() {
    let site = Site::new();
    let tls = site.tls().unwrap();
    let serving = Serving::start(tls.clone(), router()).await;
    let before = shown(&site, &serving).await;
    let files = site.files();
    let papers = site.authority.server(HOST);
    fs::write(&files.certificate, &papers.certificate).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.starts_with("http.tls.key: "), "{error}");
    assert!(
        error.contains("must be the key of the certificate in"),
        "{error}"
    );
    assert_eq!(shown(&site, &serving).await, before);
    fs::write(&files.key, &papers.key).unwrap();
    tls.reload().unwrap();
    assert_eq!(
        shown(&site, &serving).await,
        certificate(&papers.certificate)
    );
}

#[test]
fn errors_of_a_file_name_its_setting() {
    let clients = Authority::new();
    let site = Site::new().for_clients_of(&clients);
    let site = site.with_list(&clients.revoking(&[]));
    let files = site.files();
    let client_ca = files.client_ca.clone().unwrap();
    let client_crl = files.client_crl.clone().unwrap();
    let all = [&files.certificate, &files.key, &client_ca, &client_crl];
    let sound = all.map(|file| fs::read(file).unwrap());
    let over = site.authority.server_between(HOST, [2001, 2002]);
    let ahead = site.authority.server_between(HOST, [2901, 2902]);
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let damaged = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let no_list = damaged.replace("CERTIFICATE", "X509 CRL");
    let long_ago = clients.revoking_long_ago(&[]);
    let cases: [(&str, &std::path::Path, Option<&str>, &str); 14] = [
        ("certificate", &files.certificate, None, "cannot be read: "),
        (
            "certificate",
            &files.certificate,
            Some(""),
            "must contain a certificate in PEM",
        ),
        (
            "certificate",
            &files.certificate,
            Some(damaged),
            "cannot be used: it is no X.509",
        ),
        (
            "certificate",
            &files.certificate,
            Some(&over.certificate),
            "expired at 2002-01-01T00:00:00.000Z: renew",
        ),
        (
            "certificate",
            &files.certificate,
            Some(&ahead.certificate),
            "is not valid before 2901-01-01T00:00:00.000Z: is the clock",
        ),
        ("key", &files.key, None, "cannot be read: "),
        ("key", &files.key, Some(locked), "without a passphrase"),
        (
            "key",
            &files.key,
            Some(&over.key),
            "must be the key of the certificate in",
        ),
        (
            "client_ca",
            &client_ca,
            Some("nothing"),
            "must contain a certificate in PEM",
        ),
        ("client_ca", &client_ca, Some(damaged), "cannot be used: "),
        ("client_crl", &client_crl, None, "cannot be read: "),
        (
            "client_crl",
            &client_crl,
            Some(damaged),
            "must contain a certificate revocation list in PEM",
        ),
        (
            "client_crl",
            &client_crl,
            Some(&no_list),
            "cannot be used: ",
        ),
        (
            "client_crl",
            &client_crl,
            Some(&long_ago),
            "expired at 2021-01-01T00:00:00.000Z: fetch",
        ),
    ];
    for (setting, file, content, told) in cases {
        match content {
            Some(content) => fs::write(file, content).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        let error = site.tls().unwrap_err().to_string();
        let expected = format!("http.tls.{setting}: {} ", file.display());
        assert!(
            error.starts_with(&expected) && error.contains(told),
            "{error:?}, not {expected:?} {told:?}"
        );
        for (file, content) in all.iter().zip(&sound) {
            fs::write(file, content).unwrap();
        }
        site.tls().unwrap();
    }
}
