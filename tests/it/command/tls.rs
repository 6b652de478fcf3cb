//! `sealward serve` with TLS, and refused starts.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use testkit::{Authority, HOST, PATIENCE, Scratch, SecureClient, certificate, within};
use testkit::{Exit, Process, Site};

const CERTIFICATE: &str = "SEALWARD_HTTP_TLS_CERTIFICATE";
const KEY: &str = "SEALWARD_HTTP_TLS_KEY";

/// The settings that name a certificate and its key.
fn tls_variables(files: &[PathBuf; 2]) -> [(&'static str, &str); 2] {
    let [certificate, key] = files.each_ref().map(|file| file.to_str().expect("a path of text"));
    [(CERTIFICATE, certificate), (KEY, key)]
}

#[tokio::test]
async fn sighup_loads_a_renewed_certificate_and_keeps_connections() {
    let site = Site::new().await;
    let authority = Authority::new();
    let folder = Scratch::new();
    let first = authority.server(HOST);
    let files = first.write(folder.path());
    let process = Process::start_with(&site, &tls_variables(&files)).await;
    let address = process.address().parse().unwrap();
    let client = SecureClient::trusting(&authority);
    let mut open = client.connect(address).await.unwrap();
    open.get("/livez").await.unwrap().ok();

    let count = |words: &str| process.log().matches(words).count();
    // Nothing has changed, so only the signal causes the reload.
    process.signal(Signal::HUP);
    within(PATIENCE, async || count("the certificate is loaded") == 1).await;

    // A key without its certificate.
    fs::write(&files[1], authority.server(HOST).key).unwrap();
    process.signal(Signal::HUP);
    within(PATIENCE, async || count("keeping the previous certificate") > 0).await;
    assert!(count("must be the key of the certificate in") > 0);
    let shown = client.connect(address).await.unwrap().certificate;
    assert_eq!(shown, certificate(&first.certificate));

    let renewed = authority.server(HOST);
    renewed.write(folder.path());
    process.signal(Signal::HUP);
    within(PATIENCE, async || {
        let shown = client.connect(address).await.unwrap().certificate;
        shown == certificate(&renewed.certificate)
    })
    .await;
    open.get("/livez").await.unwrap().ok();
    drop(open);
    // This thread closes the connections in the meantime.
    let ended = tokio::task::spawn_blocking(|| process.terminate());
    assert_eq!(ended.await.unwrap(), Some(0));
}

#[tokio::test]
async fn invalid_files_prevent_the_start() {
    let site = Site::new().await;
    let authority = Authority::new();
    let folder = Scratch::new();
    let files = authority.server(HOST).write(folder.path());
    fs::write(&files[1], authority.server(HOST).key).unwrap();
    let mut command = site.command(&["serve"]);
    let ended = command.envs(tls_variables(&files)).output().unwrap();
    Exit::from(ended).failure(
        78,
        &["http.tls.key", "certificate-key.pem must be the key of the certificate in"],
    );
}

#[tokio::test]
async fn temporary_errors_exit_with_a_code_that_allows_restarts() {
    let site = Site::new().await;
    let authority = Authority::new();
    let folder = Scratch::new();
    let files = authority.server(HOST).write(folder.path());
    let serve = || {
        let ended = site.command(&["serve"]).envs(tls_variables(&files)).output();
        Exit::from(ended.unwrap())
    };
    let expired = authority.server_between(HOST, [2001, 2002]);
    expired.write(folder.path());
    serve().failure(1, &["http.tls.certificate", "expired at 2002-"]);
    let future = authority.server_between(HOST, [2901, 2902]);
    future.write(folder.path());
    serve().failure(1, &["http.tls.certificate", "is not valid before 2901-"]);
    fs::remove_file(&files[0]).unwrap();
    serve().failure(1, &["http.tls.certificate", "cannot be read"]);
}

#[tokio::test]
async fn plain_http_is_local_unless_allowed() {
    let site = Site::new().await;
    for command in ["check-config", "serve"] {
        site.run_with(&[command], "SEALWARD_HTTP_LISTEN", "0.0.0.0:8443").failure(
            78,
            &[
                "http.listen = \"0.0.0.0:8443\" is reachable from other machines without TLS",
                "set http.tls.certificate and http.tls.key",
                "http.allow_plain = true",
            ],
        );
    }
    let check_config = |name: &str, value: &str| {
        let mut command = site.command(&["check-config"]);
        command.env("SEALWARD_HTTP_LISTEN", "0.0.0.0:8443").env(name, value);
        Exit::from(command.output().unwrap())
    };
    check_config("SEALWARD_HTTP_ALLOW_PLAIN", "true").success();
    check_config(KEY, "/key").failure(78, &["http.tls.certificate"]);
    check_config("SEALWARD_HTTP_TLS_CLIENT_CRL", "/list")
        .failure(78, &["http.tls.client_crl requires http.tls.client_ca"]);
}
