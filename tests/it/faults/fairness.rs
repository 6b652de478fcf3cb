//! One service sends much or large, and other clients are served meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use faulty_token::Fault;
use serde_json::{Value, json};

use crate::process::{Process, Site};
use crate::support::{Exposition, PATIENCE, within};

/// The operations of a burst.
const BURST: usize = 12;

/// Sends an operation and waits for its success.
fn operate(url: &str, key: &str, body: &str) {
    let request = ureq::post(url).header("authorization", format!("Bearer {key}"));
    let answer = request
        .header("content-type", "application/json")
        .send(body);
    assert_eq!(answer.expect("an answer").status(), 200);
}

/// A service with a key for data, and its API key.
fn application(process: &Process, name: &str) -> String {
    let create = |path: &str, body: Value, member: &str| {
        let created = process.post(path, &body);
        created[member].as_str().expect("a resource").to_owned()
    };
    let service = create("/admin/services", json!({ "name": name }), "id");
    let key =
        json!({ "serviceId": service, "name": name, "algorithm": "AES-256", "generate": true });
    create("/admin/keys", key, "id");
    let key = json!({ "name": name, "type": "live", "serviceId": service });
    create("/admin/api-keys", key, "secret")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_one_service_delays_its_own_operations_first() {
    let site = Site::with_faults().await;
    let variables = [
        ("SEALWARD_HSM_WORKERS", "1"),
        ("SEALWARD_HSM_DEADLINE", "1min"),
        ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
    ];
    let process = Process::start_with(&site, &variables).await;
    let (busy, other) = (
        application(&process, "busy"),
        application(&process, "other"),
    );
    let url = process.url("/api/v1/operations");
    let body = json!({ "operation": "encrypt",
        "payload": { "data": "x", "algorithm": "AES-256-GCM" } });
    let body = body.to_string();
    let slow = Fault::Delay(Duration::from_millis(500));
    site.faults().rules(&[slow.on("C_Encrypt")]);
    let answered = Arc::new(AtomicUsize::new(0));
    let burst: Vec<_> = (0..BURST)
        .map(|_| {
            let (url, key, body) = (url.clone(), busy.clone(), body.clone());
            let answered = answered.clone();
            thread::spawn(move || {
                operate(&url, &key, &body);
                answered.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let metrics = process.metrics_address().expect("an address");
    let queued = async || {
        let page = ureq::get(format!("http://{metrics}/metrics")).call();
        let text = page.expect("metrics").body_mut().read_to_string();
        Exposition::parse(&text.expect("text")).sum("sealward_token_queue_operations", &[])
    };
    within(PATIENCE, async || queued().await >= 8.0).await;
    operate(&url, &other, &body);
    let waiting = BURST - answered.load(Ordering::Relaxed);
    assert!(waiting >= 4, "{waiting} operations of the burst wait");
    for request in burst {
        request.join().expect("a success");
    }
}

/// The service has one thread for requests. If a large value stayed on it, no other request would be
/// answered meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_value_does_not_delay_other_requests() {
    let site = Site::new().await;
    let process = Process::start_with(&site, &[("TOKIO_WORKER_THREADS", "1")]).await;
    let (key, url) = (
        application(&process, "busy"),
        process.url("/api/v1/operations"),
    );
    let numbers = format!("[{}1e1]", "1e1,".repeat(255 * 1024));
    let body =
        format!(r#"{{"operation":"hash","payload":{{"algorithm":"SHA-256","data":{numbers}}}}}"#);
    let large = thread::spawn(move || {
        let began = Instant::now();
        operate(&url, &key, &body);
        began.elapsed()
    });
    let mut longest = Duration::ZERO;
    while !large.is_finished() {
        let began = Instant::now();
        let alive = ureq::get(process.url("/livez")).call();
        assert_eq!(alive.expect("an answer").status(), 200);
        longest = longest.max(began.elapsed());
    }
    let large = large.join().expect("a success");
    assert!(longest < large / 2, "{longest:?} beside {large:?}");
}
