//! The latency of one service while another one sends as much as its tier allows.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::Table;
use crate::cases::KIB;
use crate::generator::{Request, paced};
use crate::instance::Instance;
use crate::measure::Measured;
use crate::rounds::Baselines;
use testkit::Site;

/// The duration of one measurement: 800 requests of the measured service.
const SPAN: Duration = Duration::from_secs(10);

/// The measured service sends 80 requests per second, below the limit of its tier.
const MEASURED: (usize, u32) = (4, 20);

/// The other service sends 500 requests per second, the limit of its tier; or as many as the service
/// answers on these connections.
const OTHER: (usize, u32) = (50, 10);
const LARGE: (usize, u32) = (8, 62);

/// A service with an API key that is bound to a policy.
struct Tenant<'a> {
    instance: &'a Instance,
    key: String,
}

pub(super) async fn fairness() -> Table {
    let mut table = Table::new("Fairness", "The other service sends");
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let instance = Instance::start(&site).await;
    let processes = baselines.with(instance.process.id());
    let (one, other) = (
        Tenant::create(&instance, "standard").await,
        Tenant::create(&instance, "professional").await,
    );
    let text = Value::from("x".repeat(KIB - 2));
    let numbers = format!("[{}1e1]", "1e1,".repeat(KIB * KIB / 4 - 32));
    let measured = [
        ("protect", one.protect(&text)),
        ("unprotect", one.unprotect(&text)),
        ("livez", one.livez()),
    ];
    let long = Value::from("x".repeat(KIB * KIB - 512));
    let loads = [
        ("nothing", None),
        ("unprotect, 500/s", Some((other.unprotect(&text), OTHER))),
        ("protect of 1 MiB", Some((other.protect(&long), LARGE))),
        ("hash of 1 MiB of `1e1`", Some((other.hash(&numbers), LARGE))),
    ];
    for (load, sent) in &loads {
        for (what, request) in &measured {
            let (connections, rate) = MEASURED;
            let measure = || processes.paced(request, connections, rate, SPAN);
            table.add(load, what, beside(sent.as_ref(), measure));
        }
    }
    table
}

/// Takes a measurement while the other service sends.
fn beside(sent: Option<&(Request, (usize, u32))>, measure: impl FnOnce() -> Measured) -> Measured {
    let Some((request, (connections, rate))) = sent else {
        return measure();
    };
    thread::scope(|scope| {
        // The burst of the tier ends before the measurement does.
        let sending = scope.spawn(|| paced(request, *connections, *rate, SPAN));
        let measured = measure();
        let load = sending.join().expect("the other service");
        eprintln!("the other service: {:.0}/s, {:?}", load.rate, load.statuses);
        measured
    })
}

impl<'a> Tenant<'a> {
    async fn create(instance: &'a Instance, tier: &str) -> Self {
        let admin = instance.process.admin();
        let create = async |path: &str, body: Value, member: &str| {
            admin.post(path, body).await.created().text(member)
        };
        let service = json!({ "name": format!("{tier} tier"), "tier": tier });
        let service = create("/admin/services", service, "id").await;
        let key = json!({ "serviceId": service, "name": tier, "algorithm": "RSA-2048", "generate": true });
        create("/admin/keys", key, "id").await;
        let policy = json!({ "name": tier, "destinationServiceId": service, "allowedServiceIds": [service] });
        let policy = create("/admin/policies", policy, "policyNumber").await;
        let key =
            json!({ "name": tier, "type": "live", "serviceId": service, "policyNumber": policy });
        let key = create("/admin/api-keys", key, "secret").await;
        Self { instance, key }
    }

    fn request(&self, path: &str, body: String) -> Request {
        Request {
            url: self.instance.process.url(path),
            key: Some(self.key.clone()),
            body: Some(body),
            items: 1,
        }
    }

    fn protect(&self, payload: &Value) -> Request {
        let body = json!({ "payload": payload });
        self.request("/api/v1/protect", body.to_string())
    }

    fn unprotect(&self, payload: &Value) -> Request {
        let body = json!({ "payload": payload });
        let protected = self.instance.ask("/api/v1/protect", &self.key, &body);
        let body = json!({ "jwe": protected["jwe"] });
        self.request("/api/v1/unprotect", body.to_string())
    }

    /// The hash of a value in its canonical form.
    fn hash(&self, data: &str) -> Request {
        let head = r#"{"operation":"hash","payload":{"algorithm":"SHA-256","data":"#;
        self.request("/api/v1/operations", format!("{head}{data}}}}}"))
    }

    fn livez(&self) -> Request {
        Request { url: self.instance.process.url("/livez"), key: None, body: None, items: 1 }
    }
}
