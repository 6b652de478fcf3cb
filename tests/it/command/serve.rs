//! `sealward serve`: start, refused starts, shutdown.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::Value;

use testkit::{Exit, Process, Site};
use testkit::{PATIENCE, within};

fn status_of(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connect");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n").expect("ask");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.lines().next().expect("a status").to_owned()
}

#[tokio::test]
async fn the_process_becomes_ready_and_exits_after_sigterm() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let status_of = |path| status_of(process.address(), path);
    assert_eq!(status_of("/livez"), "HTTP/1.1 200 OK");
    // The probe of the database has a time limit of one second, which a loaded machine can exceed.
    within(PATIENCE, async || status_of("/readyz") == "HTTP/1.1 200 OK").await;
    assert_eq!(status_of("/nowhere"), "HTTP/1.1 404 Not Found");
    assert_eq!(process.terminate(), Some(0));
    assert_eq!(events(&site).await, ["start instance", "stop instance"]);
}

/// The security events, oldest first.
async fn events(site: &Site) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT action || ' ' || resource_type FROM management_events
          WHERE api_key_id IS NULL AND action <> 'create' ORDER BY id",
    )
    .fetch_all(&mut site.connect().await)
    .await
    .expect("the events")
}

#[tokio::test]
async fn requests_succeed_while_the_log_is_not_read() {
    let site = Site::new().await;
    let mut service =
        site.command(&["serve"]).stderr(Stdio::piped()).spawn().expect("start the service");
    let log = BufReader::new(service.stderr.take().expect("its log"));
    let address = log.lines().find_map(|line| {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let is_ready = line["message"] == "ready";
        is_ready.then(|| line["address"].as_str().expect("an address").to_owned())
    });
    // The log pipe is closed. A refusal writes a log line.
    let address = address.expect("the service became ready");
    for _ in 0..3 {
        let status = status_of(&address, "/admin/services");
        assert_eq!(status, "HTTP/1.1 401 Unauthorized");
    }
    service.kill().expect("the process still runs");
    service.wait().expect("its end");
}

#[tokio::test]
async fn concurrent_migrations_do_not_conflict() {
    let site = Site::new().await;
    let start = || site.command(&["migrate"]).stderr(Stdio::piped()).spawn().expect("start");
    let (one, other) = (start(), start());
    for child in [one, other] {
        Exit::from(child.wait_with_output().expect("its end")).success();
    }
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let site = Site::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    site.run_with(&["serve"], "SEALWARD_HTTP_LISTEN", &address)
        .failure(1, &["http.listen", &address, "another program"]);
}

#[tokio::test]
async fn an_unavailable_database_is_reported() {
    let site = Site::new().await;
    site.run_with(&["serve"], "SEALWARD_DATABASE_URL", "postgres://unknown@127.0.0.1:1/nothing")
        .failure(1, &["database.url", "127.0.0.1:1/nothing", "start Postgres"]);
    site.run_with(&["serve"], "SEALWARD_DATABASE_URL", "mysql://unknown@127.0.0.1/nothing")
        .failure(78, &["database.url", "must be a Postgres URL"]);
}

#[tokio::test]
async fn a_refused_pin_exits_with_a_code_that_prevents_restarts() {
    let site = Site::new().await;
    std::fs::write(site.pin_file(), "not the PIN").expect("write a PIN");
    site.run(&["serve"]).failure(78, &["hsm.tokens.pin", "tried once"]);
    assert_eq!(events(&site).await, ["pin_refused token"]);
}
