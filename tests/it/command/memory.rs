//! What is left in the memory of the process once a payload has been answered: nothing.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Process, Site};
use crate::support::within;

/// Sends one request on a connection of its own, which is closed when this is over.
fn ask(service: &Process, key: &str, path: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(service.address()).expect("connect");
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: it\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("ask");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// How often `needle` stands in the writable memory of the process; `None` where this user may not
/// look, which is how it should be.
fn count(process: u32, needle: &[u8]) -> Option<usize> {
    let memory = match File::open(format!("/proc/{process}/mem")) {
        Ok(memory) => memory,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            return None;
        }
    };
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).expect("its maps");
    let finder = memchr::memmem::Finder::new(needle);
    let writable = maps.lines().filter(|line| line.contains(" rw"));
    let found = writable.map(|line| {
        let (range, _) = line.split_once(' ').expect("a range");
        let (start, end) = range.split_once('-').expect("a range");
        let [start, end] = [start, end].map(|edge| u64::from_str_radix(edge, 16).expect("an edge"));
        let mut bytes = vec![0; usize::try_from(end - start).expect("a length")];
        // Some ranges are there and cannot be read; a payload is in none of them.
        match memory.read_exact_at(&mut bytes, start) {
            Ok(()) => finder.find_iter(&bytes).count(),
            Err(_) => 0,
        }
    });
    Some(found.sum())
}

#[tokio::test]
async fn a_payload_leaves_nothing_behind() {
    let site = Site::new().await;
    let admin = site.admin_key().to_owned();
    let service = Process::start(&site).await;
    let make = |path: &str, body: Value| ask(&service, &admin, path, &body.to_string());
    let destination = make("/admin/services", json!({ "name": "destination" }))["id"].clone();
    for algorithm in ["RSA-2048", "P-256"] {
        let key = json!({ "serviceId": destination, "name": "key", "algorithm": algorithm, "generate": true });
        assert_eq!(make("/admin/keys", key)["status"], "active");
    }
    let numbers = ["RSA-OAEP-256", "ECDH-ES+A256KW"].map(|alg| {
        let policy = json!({ "name": alg, "destinationServiceId": destination, "alg": alg });
        make("/admin/policies", policy)["policyNumber"].clone()
    });
    let key = json!({ "name": "key", "type": "live", "serviceId": destination });
    let key = make("/admin/api-keys", key)["secret"]
        .as_str()
        .expect("a key")
        .to_owned();

    let canary = format!("canary-{:032x}", rand::random::<u128>());
    for number in numbers {
        // Short and long, as a value and behind an escape.
        for payload in [
            format!("{{\"a\":\"{canary}\"}}"),
            format!("[\"\\u0041\", \"{canary}\", \"{}\"]", canary.repeat(5_000)),
        ] {
            let body = format!(r#"{{"payload":{payload},"policyNumber":{number}}}"#);
            let protected = ask(&service, &key, "/api/v1/protect", &body);
            let body = json!({ "jwe": protected["jwe"], "policyNumber": number }).to_string();
            let opened = ask(&service, &key, "/api/v1/unprotect", &body);
            assert!(opened["payload"].to_string().contains(&canary), "{opened}");
        }
    }
    let process = service.id();
    if count(process, canary.as_bytes()).is_none() {
        assert!(!rustix::process::geteuid().is_root());
        return;
    }
    // The log proves that the search finds what is there.
    assert!(count(process, b"sealward").is_some_and(|found| found > 0));
    within(Duration::from_secs(5), async || {
        count(process, canary.as_bytes()) == Some(0)
    })
    .await;
}
