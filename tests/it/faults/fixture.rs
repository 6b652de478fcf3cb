//! The service in a process of its own, arranged so that all can be asked of it.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use super::load::{Action, Client, LIMIT, Load, Response};
use crate::process::{PATIENCE, Process, Site};
use crate::support::{Proxy, within};

/// Limits that no machine under load comes to.
const LONG_LIMITS: [(&str, &str); 4] = [
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "2min"),
    ("SEALWARD_AUDIT_DEADLINE", "1min"),
    ("SEALWARD_DATABASE_CONNECT_TIMEOUT", "1min"),
    ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
];

/// Limits that are short enough to be seen.
pub(super) const SHORT_LIMITS: [(&str, &str); 3] = [
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", LIMIT),
    ("SEALWARD_AUDIT_DEADLINE", "2s"),
    ("SEALWARD_DATABASE_CONNECT_TIMEOUT", "2s"),
];

/// A running service, and who may ask it.
pub(super) struct Fixture {
    pub(super) client: Client,
    process: Option<Process>,
    site: Site,
    before: String,
    variables: Vec<(String, String)>,
}

impl Fixture {
    /// Over a database of its own.
    pub(super) async fn open() -> Self {
        Self::at(Site::new().await, &[]).await
    }

    /// The same, hurried, and behind a proxy.
    pub(super) async fn behind_a_proxy() -> (Self, Proxy) {
        let site = Site::new().await;
        let (through, proxy) = Proxy::for_server(site.database()).await;
        let through = url(&through);
        let variables = [&SHORT_LIMITS[..], &[("SEALWARD_DATABASE_URL", &through)]].concat();
        let fixture = Self::at(site, &variables).await;
        (fixture, proxy)
    }

    /// With so many descriptors for its process.
    pub(super) async fn with_descriptors(descriptors: u64) -> Self {
        let before = format!("ulimit -S -n {descriptors}");
        Self::arranged(Site::new().await, &before, &[]).await
    }

    /// On this site, with these settings overridden by their variables.
    pub(super) async fn at(site: Site, variables: &[(&str, &str)]) -> Self {
        Self::arranged(site, ":", variables).await
    }

    async fn arranged(site: Site, before: &str, variables: &[(&str, &str)]) -> Self {
        let variables = [&LONG_LIMITS, variables].concat();
        let process = Process::start_after(before, &site, &variables).await;
        let limit = json!({ "requestsPerSecond": 100_000, "burst": 100_000 });
        let service = json!({ "tier": "enterprise", "rateLimit": limit });
        let service = made(&process, "/admin/services", service).await["id"].clone();
        let key = json!({ "serviceId": service, "algorithm": "P-256", "generate": true });
        made(&process, "/admin/keys", key).await;
        let policy = json!({ "destinationServiceId": service, "alg": "ECDH-ES+A256KW",
            "allowedServiceIds": [service] });
        let policy = made(&process, "/admin/policies", policy).await["policyNumber"].clone();
        let key = json!({ "type": "live", "serviceId": service, "policyNumber": policy });
        let key = made(&process, "/admin/api-keys", key).await;
        let mut client = Client {
            address: process.address().to_owned(),
            key: text(&key["secret"]),
            admin_key: site.admin_key().to_owned(),
            service: text(&service),
            envelope: Value::Null,
        };
        within(PATIENCE, async || {
            let id = rand::random::<u128>().to_string();
            let protected = client.ask(Action::Protect, &id).await.expect("an answer");
            let is_protected = protected.status == 200;
            if is_protected {
                client.envelope = protected.json()["jwe"].clone();
            }
            is_protected
        })
        .await;
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            client,
            process: Some(process),
            site,
            before: before.to_owned(),
            variables: variables.iter().map(owned).collect(),
        }
    }

    /// Somebody with a key of its own, made by this order.
    pub(super) async fn client_with(&self, order: Value) -> Client {
        let key = made(self.process(), "/admin/api-keys", order).await;
        Client {
            key: text(&key["secret"]),
            ..self.client.clone()
        }
    }

    pub(super) fn process(&self) -> &Process {
        self.process.as_ref().expect("it runs")
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    /// The process, to be ended; without it there is nobody to ask.
    pub(super) fn take_process(&mut self) -> Process {
        self.process.take().expect("it runs")
    }

    /// Starts the service again on the same site.
    pub(super) async fn restart(&mut self) {
        let variables = self.variables.iter();
        let variables: Vec<_> = variables.map(|(name, value)| (&**name, &**value)).collect();
        let process = Process::start_after(&self.before, &self.site, &variables).await;
        process.address().clone_into(&mut self.client.address);
        self.process = Some(process);
    }

    /// Clients who ask from now on.
    pub(super) fn load(&self) -> Load {
        Load::of(&self.client)
    }

    /// Each success of an application is recorded once as that, and nothing is recorded twice.
    pub(super) async fn assert_recorded_once(&self, responses: Vec<Response>) {
        let sql = "SELECT request_id, count(*), count(*) FILTER (WHERE response_status = 200) \
                   FROM crypto_operations_audit GROUP BY 1";
        let rows: Vec<(String, i64, i64)> = sqlx::query_as(sql)
            .fetch_all(&mut self.site.connect().await)
            .await
            .expect("the trail");
        let recorded: HashMap<_, _> = rows
            .into_iter()
            .map(|(id, all, successes)| (id, (all, successes)))
            .collect();
        for (id, (all, _)) in &recorded {
            assert_eq!(*all, 1, "{id} is recorded {all} times");
        }
        let mut successes = 0;
        for responses in responses
            .iter()
            .filter(|responses| responses.action.is_recorded())
        {
            let rows = recorded.get(&responses.id).copied().unwrap_or_default();
            if responses.status == 200 {
                assert_eq!(
                    rows,
                    (1, 1),
                    "{responses:?} is not recorded as it was answered"
                );
                successes += 1;
            }
        }
        assert!(successes > 0, "nobody was ever served");
    }

    /// A number among its metrics.
    pub(super) fn metric(&self, name: &str) -> f64 {
        let address = self.process().metrics_address().expect("an address");
        let page = ureq::get(format!("http://{address}/metrics")).call();
        let text = page.expect("metrics").body_mut().read_to_string();
        crate::support::Exposition::parse(&text.expect("text")).sum(name, &[])
    }

    /// A number of kibibytes among what the kernel tells of the process.
    pub(super) fn memory(&self, name: &str) -> u64 {
        let status = format!("/proc/{}/status", self.process().id());
        let status = std::fs::read_to_string(status).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line
            .expect("a line")
            .trim_matches([':', '\t', ' ', 'k', 'B']);
        number.parse().expect("a number")
    }

    /// Waits until it says that it is ready for traffic.
    pub(super) async fn is_ready(&self) {
        within(PATIENCE, async || {
            let request = axum::http::Request::get("/readyz").header("host", "it");
            let request = request.body(axum::body::Body::empty()).expect("a request");
            let answer = super::load::send(&self.client.address, request).await;
            answer.is_ok_and(|answer| answer.status == 200)
        })
        .await;
    }
}

/// What an administrator has made by this order, however often it takes: what a hurried service on a
/// machine under load has refused may have been made, and is wanted under another name then.
pub(super) async fn made(process: &Process, path: &str, mut order: Value) -> Value {
    let mut made = Value::Null;
    within(PATIENCE, async || {
        order["name"] = rand::random::<u128>().to_string().into();
        made = process.post(path, &order);
        let is_made = made["id"].is_string();
        assert!(
            is_made || made["error"]["code"] == "SERVICE_UNAVAILABLE",
            "{path}: {made}"
        );
        is_made
    })
    .await;
    made
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The address in the settings that these options are reached by; the password has its own place.
pub(super) fn url(options: &PgConnectOptions) -> String {
    use sqlx::ConnectOptions as _;
    let mut url = options.to_url_lossy();
    url.set_password(None).expect("an address with a user");
    url.to_string()
}
