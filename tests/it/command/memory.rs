//! The memory of the process: its size, and that no payload remains in it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// Sends a request on a new connection.
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

/// The number of occurrences of `needle` in the writable memory of the process. `None` if this user
/// has no access.
fn count(process: u32, needle: &[u8]) -> Option<usize> {
    let memory = match File::open(format!("/proc/{process}/mem")) {
        Ok(memory) => memory,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            return None;
        }
    };
    let pages = File::open(format!("/proc/{process}/pagemap")).expect("its pages");
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).expect("its maps");
    let finder = memchr::memmem::Finder::new(needle);
    let writable = maps.lines().filter(|line| line.contains(" rw"));
    let found = writable.map(|line| {
        let (range, _) = line.split_once(' ').expect("a range");
        let (start, end) = range.split_once('-').expect("a range");
        let [start, end] = [start, end].map(|edge| u64::from_str_radix(edge, 16).expect("an edge"));
        let found = touched(&pages, start, end).into_iter().map(|range| {
            let length = range.end - range.start;
            let mut bytes = vec![0; usize::try_from(length).expect("a length")];
            // Some ranges cannot be read. They contain no payload.
            match memory.read_exact_at(&mut bytes, range.start) {
                Ok(()) => finder.find_iter(&bytes).count(),
                Err(_) => 0,
            }
        });
        found.sum::<usize>()
    });
    Some(found.sum())
}

/// The written ranges between two addresses. An allocator reserves far more.
fn touched(pages: &File, start: u64, end: u64) -> Vec<Range<u64>> {
    const ENTRY: u64 = 8;
    const PRESENT_OR_SWAPPED: u64 = 0b11 << 62;
    let page = rustix::param::page_size() as u64;
    let length = (end - start) / page * ENTRY;
    let mut entries = vec![0; usize::try_from(length).expect("a length")];
    if pages.read_exact_at(&mut entries, start / page * ENTRY).is_err() {
        // Ranges of the kernel have no pages.
        return Vec::new();
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (entry, address) in
        entries.chunks_exact(8).zip((start..end).step_by(rustix::param::page_size()))
    {
        let entry = u64::from_ne_bytes(entry.try_into().expect("eight bytes"));
        if entry & PRESENT_OR_SWAPPED == 0 {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if last.end == address => last.end += page,
            _ => ranges.push(address..address + page),
        }
    }
    ranges
}

/// A running process, a destination with one policy per key family, and an API key.
struct Fixture {
    service: Process,
    policies: [Value; 2],
    key: String,
    _site: Site,
}

impl Fixture {
    async fn open() -> Self {
        let site = Site::new().await;
        let service = Process::start(&site).await;
        let admin = service.admin();
        let destination = json!({ "name": "destination", "tier": "professional" });
        let destination = admin.post("/admin/services", destination).await.created();
        let destination = destination.text("id");
        for algorithm in ["RSA-2048", "P-256"] {
            service.key(&destination, "enc", algorithm).await;
        }
        let mut policies = [Value::Null, Value::Null];
        for (policy, alg) in policies.iter_mut().zip(["RSA-OAEP-256", "ECDH-ES+A256KW"]) {
            let body = json!({ "name": alg, "destinationServiceId": destination,
                "allowedServiceIds": [destination], "alg": alg });
            let created = admin.post("/admin/policies", body).await.created();
            *policy = json!(created.text("policyNumber"));
        }
        let key = json!({ "name": "key", "type": "live", "serviceId": destination });
        let key = admin.post("/admin/api-keys", key).await.created();
        let key = key.text("secret");
        drop(admin);
        Self { service, policies, key, _site: site }
    }

    fn ask(&self, path: &str, body: &str) -> Value {
        ask(&self.service, &self.key, path, body)
    }

    fn protect(&self, payload: &str, policy: &Value) -> Value {
        let body = format!(r#"{{"payload":{payload},"policyNumber":{policy}}}"#);
        self.ask("/api/v1/protect", &body)
    }

    fn unprotect(&self, jwe: &Value, policy: &Value) -> Value {
        let body = json!({ "jwe": jwe, "policyNumber": policy });
        self.ask("/api/v1/unprotect", &body.to_string())
    }
}

#[tokio::test]
async fn a_payload_is_wiped_from_memory() {
    let fixture = Fixture::open().await;
    let canary = format!("canary-{:032x}", rand::random::<u128>());
    for policy in &fixture.policies {
        // Short and long payloads, with and without escapes.
        for payload in [
            format!("{{\"a\":\"{canary}\"}}"),
            format!("[\"\\u0041\", \"{canary}\", \"{}\"]", canary.repeat(5_000)),
        ] {
            let protected = fixture.protect(&payload, policy);
            let opened = fixture.unprotect(&protected["jwe"], policy);
            assert!(opened["payload"].to_string().contains(&canary), "{opened}");
        }
    }
    let process = fixture.service.id();
    if count(process, canary.as_bytes()).is_none() {
        assert!(!rustix::process::geteuid().is_root());
        return;
    }
    // The log path proves that the search works.
    assert!(count(process, b"sealward").is_some_and(|found| found > 0));
    within(PATIENCE, async || count(process, canary.as_bytes()) == Some(0)).await;
}

/// While the connection is open, its read buffer keeps the last request.
#[tokio::test]
async fn a_request_is_wiped_when_its_connection_closes() {
    let fixture = Fixture::open().await;
    let canary = format!("canary-{:032x}", rand::random::<u128>());
    let body = format!(r#"{{"payload":"{canary}","policyNumber":{}}}"#, fixture.policies[1]);
    let (key, length) = (&fixture.key, body.len());
    let mut stream = TcpStream::connect(fixture.service.address()).expect("connect");
    for _ in 0..2 {
        write!(
            stream,
            "POST /api/v1/protect HTTP/1.1\r\nHost: it\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("ask");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut part = [0; 4_096];
            let read = stream.read(&mut part).expect("an answer");
            assert_ne!(read, 0, "the connection stays open");
            answer.extend_from_slice(&part[..read]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    drop(stream);
    let process = fixture.service.id();
    if count(process, canary.as_bytes()).is_none() {
        assert!(!rustix::process::geteuid().is_root());
        return;
    }
    for secret in [&canary, key] {
        within(PATIENCE, async || count(process, secret.as_bytes()) == Some(0)).await;
    }
}

/// 64 concurrent callers with envelopes of the maximum body size.
#[tokio::test]
async fn all_connections_in_use_take_less_than_400_mib() {
    const CALLERS: usize = 64;
    let fixture = Fixture::open().await;
    let policy = &fixture.policies[1];
    let text = "x".repeat(750 << 10);
    let payload = json!(text).to_string();
    let begin = Barrier::new(CALLERS);
    let opened = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                begin.wait();
                let protected = fixture.protect(&payload, policy);
                let answer = fixture.unprotect(&protected["jwe"], policy);
                if answer["payload"] == text.as_str() {
                    opened.fetch_add(1, Ordering::Relaxed);
                } else {
                    // A slow machine can exceed the time limit and return 503.
                    assert!(answer["error"]["code"].is_string());
                }
            });
        }
    });
    assert_ne!(opened.into_inner(), 0);
    let peak = kib(fixture.service.id(), "VmHWM:");
    assert!(peak < 400 << 10, "{peak} KiB");
}

#[tokio::test]
async fn a_batch_of_16_mib_takes_at_most_4_times_its_body_and_answer() {
    const ITEMS: usize = 500;
    let fixture = Fixture::open().await;
    let policy = &fixture.policies[1];
    let text = "x".repeat(32 << 10);
    let before = kib(fixture.service.id(), "VmRSS:");
    let taken = |path: &str, items: Vec<Value>| {
        let body = json!({ "items": items }).to_string();
        let answer = fixture.ask(path, &body);
        let peak = kib(fixture.service.id(), "VmHWM:");
        let items = answer["items"].as_array().expect("items").clone();
        assert!(items.iter().all(|item| item["status"] == 200), "{path}");
        let size = (body.len() + answer.to_string().len()) as u64 >> 10;
        let factor = (peak - before) as f64 / size as f64;
        println!("{path}: {before} KiB, then {peak} KiB; body and answer {size} KiB");
        assert!(factor < 4.0, "{path}: {factor:.2}");
        items
    };
    let item = json!({ "payload": text, "policyNumber": policy });
    let sealed = taken("/api/v1/protect/batch", vec![item; ITEMS]);
    let jwe = |item: &Value| json!({ "jwe": item["jwe"], "policyNumber": policy });
    let sealed = sealed.iter().map(jwe).collect();
    let opened = taken("/api/v1/unprotect/batch", sealed);
    assert!(opened.iter().all(|item| item["payload"] == text.as_str()));
}

/// A number of the status of the process, in KiB.
fn kib(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.expect("a number").trim().trim_end_matches(" kB");
    number.parse().expect("a number")
}
