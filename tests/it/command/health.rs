//! `sealward health` and the listener of probes.

use std::fs;

use engine::web_client::client;

use testkit::{Authority, OwnPort, PATIENCE};
use testkit::{Exit, Process, Site};

const LISTEN: &str = "SEALWARD_HTTP_LISTEN";
const PROBE_LISTEN: &str = "SEALWARD_HTTP_PROBE_LISTEN";

/// Runs `sealward health` with settings overridden by their variables.
fn health(site: &Site, variables: &[(&str, &str)]) -> Exit {
    let mut command = site.command(&["health"]);
    let output = command.envs(variables.iter().copied()).output();
    output.expect("run the binary").into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ready_instance_is_found_by_the_settings_or_a_url() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let found = health(&site, &[(LISTEN, process.address())]).success();
    assert_eq!(found.line(), "ready");
    site.run(&["health", "--url", &process.url("/")]).success();
}

#[tokio::test]
async fn an_instance_that_does_not_answer_or_invalid_settings_fail_with_1() {
    let site = Site::new().await;
    let port = OwnPort::new();
    let address = port.address().to_string();
    health(&site, &[(LISTEN, &address)]).failure(1, &[&address, "/readyz"]);
    health(&site, &[(LISTEN, "here")]).failure(1, &["invalid"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_over_tls_is_found_by_the_settings_and_verified_by_a_url() {
    let site = Site::new().await;
    let authority = Authority::new();
    let process = Process::start_over_tls(&site, &authority).await;
    let files = authority.server("localhost").write(site.folder());
    let [certificate, key] = files.each_ref().map(|file| file.to_str().expect("a path of text"));
    health(
        &site,
        &[
            (LISTEN, process.address()),
            ("SEALWARD_HTTP_TLS_CERTIFICATE", certificate),
            ("SEALWARD_HTTP_TLS_KEY", key),
        ],
    )
    .success();
    let ca = site.write("ca.pem", &authority.certificate());
    let ca = ca.to_str().expect("a path of text");
    let url = process.url("");
    site.run(&["health", "--url", &url, "--ca", ca]).success();
    site.run(&["health", "--url", &url]).failure(1, &["/readyz"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_need_no_client_certificate_on_their_own_listener() {
    let site = Site::new().await;
    let authority = Authority::new();
    let files = authority.server("localhost").write(site.folder());
    let ca = site.write("clients.pem", &authority.certificate());
    let [certificate, key] = files.each_ref().map(|file| file.to_str().expect("a path of text"));
    let tls = [
        ("SEALWARD_HTTP_TLS_CERTIFICATE", certificate),
        ("SEALWARD_HTTP_TLS_KEY", key),
        ("SEALWARD_HTTP_TLS_CLIENT_CA", ca.to_str().expect("text")),
    ];
    health(&site, &tls).failure(1, &["http.tls.client_ca requires http.probe_listen"]);

    let with_probes = [&tls[..], &[(PROBE_LISTEN, "127.0.0.1:0")]].concat();
    let process = Process::start_with(&site, &with_probes).await;
    let probes = process.probes_address().expect("the address of probes");
    let here = [&tls[..], &[(PROBE_LISTEN, &probes)]].concat();
    health(&site, &here).success();

    let status = |path: &str| {
        let answered = client(None, PATIENCE).get(format!("http://{probes}{path}"));
        answered.call().expect("an answer").status().as_u16()
    };
    assert_eq!((status("/livez"), status("/readyz")), (200, 200));
    for other in ["/api/v1/health", "/admin/keys", "/metrics", "/dashboard"] {
        assert_eq!(status(other), 404, "{other}");
    }
    fs::remove_file(ca).expect("remove the CA");
}
