//! One service sends much or large, and other clients are served meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use faulty_token::Fault;
use serde_json::json;

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// The operations of a burst.
const BURST: usize = 12;

/// Sends an operation and waits for its success.
fn operate(url: &str, key: &str, body: &str) {
    let request = ureq::post(url).header("authorization", format!("Bearer {key}"));
    let answer = request.header("content-type", "application/json").send(body);
    assert_eq!(answer.expect("an answer").status(), 200);
}

/// Operations that are sent at the same time.
struct Burst {
    requests: Vec<JoinHandle<()>>,
    answered: Arc<AtomicUsize>,
}

impl Burst {
    fn send(url: &str, key: &str, body: &str, size: usize) -> Self {
        let answered = Arc::new(AtomicUsize::new(0));
        let request = |_| {
            let [url, key, body] = [url, key, body].map(ToOwned::to_owned);
            let answered = answered.clone();
            thread::spawn(move || {
                operate(&url, &key, &body);
                answered.fetch_add(1, Ordering::Relaxed);
            })
        };
        Self { requests: (0..size).map(request).collect(), answered }
    }

    /// The number of operations without an answer.
    fn waiting(&self) -> usize {
        self.requests.len() - self.answered.load(Ordering::Relaxed)
    }

    /// Waits until all succeed.
    fn end(self) {
        for request in self.requests {
            request.join().expect("a success");
        }
    }
}

/// A service with a key for data, and its API key.
async fn application(process: &Process, name: &str) -> String {
    let application = process.application(name).await;
    let service = application.service.expect("a service");
    process.key(&service, "data", "AES-256").await;
    application.key.expect("a key")
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
    let (busy, other) = (application(&process, "busy").await, application(&process, "other").await);
    let url = process.url("/api/v1/operations");
    let body = json!({ "operation": "encrypt",
        "payload": { "data": "x", "algorithm": "AES-256-GCM" } });
    let body = body.to_string();
    let slow = Fault::Delay(Duration::from_millis(500));
    site.faults().rules(&[slow.on("C_Encrypt")]);
    let burst = Burst::send(&url, &busy, &body, BURST);
    let queued = || process.metrics().sum("sealward_token_queue_operations", &[]);
    within(PATIENCE, async || queued() >= 8.0).await;
    operate(&url, &other, &body);
    assert!(burst.waiting() >= 4, "{}", burst.waiting());
    burst.end();
}

/// The service has one thread for requests. If large values stayed on it, they would not wait in the queue,
/// and the metrics could not be read meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_large_values_delays_its_own_service_first() {
    let site = Site::new().await;
    let variables = [("TOKIO_WORKER_THREADS", "1"), ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0")];
    let process = Process::start_with(&site, &variables).await;
    let (busy, other) = (application(&process, "busy").await, application(&process, "other").await);
    let url = process.url("/api/v1/operations");
    let numbers = format!("[{}1e1]", "1e1,".repeat(48 * 1024));
    let body =
        format!(r#"{{"operation":"hash","payload":{{"algorithm":"SHA-256","data":{numbers}}}}}"#);
    // Half of the processors make canonical forms.
    let at_once = thread::available_parallelism().map_or(1, |count| count.get().div_ceil(2));
    let size = at_once * BURST;
    let burst = Burst::send(&url, &busy, &body, size);
    let queued = || process.metrics().sum("sealward_large_body_queue_jobs", &[]);
    let most = u32::try_from(size - at_once * 4).expect("a small number");
    within(PATIENCE, async || queued() >= f64::from(most)).await;
    operate(&url, &other, &body);
    assert!(burst.waiting() >= at_once * 4, "{}", burst.waiting());
    burst.end();
}
