//! `sealward serve`: its start, what keeps it from starting, its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use super::binary::{Ended, Site};

/// A started service; killed if a test leaves it.
pub(super) struct Running {
    child: Child,
    pub(super) address: String,
}

impl Running {
    pub(super) fn start(site: &Site) -> Self {
        let mut child = site
            .command(&["serve"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the service");
        // Nobody reads the log after this: a service must not depend on its log being read.
        let log = BufReader::new(child.stderr.take().expect("its log"));
        let mut address = None;
        for line in log.lines() {
            let line = line.expect("a line of the log");
            let line: serde_json::Value = serde_json::from_str(&line).expect("a log line is JSON");
            if line["message"] == "ready" {
                address = line["address"].as_str().map(str::to_owned);
                break;
            }
        }
        Self {
            child,
            address: address.expect("the service became ready"),
        }
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    fn status_of(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connect");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n"
        )
        .expect("ask");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.lines().next().expect("a status").to_owned()
    }

    fn told_to_end(mut self) -> Option<i32> {
        let id = i32::try_from(self.child.id()).expect("a process id");
        let id = rustix::process::Pid::from_raw(id).expect("a process id");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("send SIGTERM");
        self.child.wait().expect("its end").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn it_becomes_ready_and_ends_well_when_told_to() {
    let site = Site::new().await;
    let running = Running::start(&site);
    assert_eq!(running.status_of("/livez"), "HTTP/1.1 200 OK");
    assert_eq!(running.status_of("/readyz"), "HTTP/1.1 200 OK");
    assert_eq!(running.status_of("/nowhere"), "HTTP/1.1 404 Not Found");
    assert_eq!(running.told_to_end(), Some(0));
}

#[tokio::test]
async fn two_that_migrate_at_once_do_not_disturb_each_other() {
    let site = Site::new().await;
    let start = || {
        site.command(&["migrate"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("start")
    };
    let (one, other) = (start(), start());
    for child in [one, other] {
        Ended::from(child.wait_with_output().expect("its end")).well();
    }
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let site = Site::new().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    site.run_with(&["serve"], "SEALWARD_HTTP_LISTEN", &address)
        .badly(1, &["http.listen", &address, "another program"]);
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_named() {
    let site = Site::new().await;
    site.run_with(
        &["serve"],
        "SEALWARD_DATABASE_URL",
        "postgres://nobody@127.0.0.1:1/nothing",
    )
    .badly(1, &["database.url", "127.0.0.1:1/nothing", "is it running"]);
    site.run_with(
        &["serve"],
        "SEALWARD_DATABASE_URL",
        "mysql://nobody@127.0.0.1/nothing",
    )
    .badly(78, &["database.url", "not a Postgres URL"]);
}

#[tokio::test]
async fn a_refused_pin_tells_the_supervisor_not_to_try_again() {
    let site = Site::new().await;
    std::fs::write(site.pin_file(), "not the PIN").expect("write a PIN");
    site.run(&["serve"])
        .badly(78, &["hsm.tokens.pin", "tried once"]);
}
