//! The service in a process of its own, arranged so that all can be asked of it.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use super::crowd::{Crowd, LIMIT, Told, Visitor, Wish};
use crate::process::{Process, Site};
use crate::support::{Proxy, within};

/// Limits that are short enough to be seen.
const SHORT: [(&str, &str); 4] = [
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", LIMIT),
    ("SEALWARD_AUDIT_DEADLINE", "2s"),
    ("SEALWARD_DATABASE_CONNECT_TIMEOUT", "2s"),
    ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
];

/// A running service, and who may ask it.
pub(super) struct House {
    pub(super) visitor: Visitor,
    process: Option<Process>,
    site: Site,
    before: String,
    variables: Vec<(String, String)>,
}

impl House {
    /// Over a database of its own.
    pub(super) async fn open() -> Self {
        Self::at(Site::new().await, &[]).await
    }

    /// The same behind a proxy.
    pub(super) async fn behind_a_proxy() -> (Self, Proxy) {
        let site = Site::new().await;
        let (through, proxy) = Proxy::in_front_of(site.database()).await;
        let through = url(&through);
        let house = Self::at(site, &[("SEALWARD_DATABASE_URL", &through)]).await;
        (house, proxy)
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
        let variables = [&SHORT, variables].concat();
        let process = Process::start_after(before, &site, &variables).await;
        let made = |path: &str, order: &Value| {
            let made = process.post(path, order);
            assert!(made["id"].is_string(), "{path}: {made}");
            made
        };
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let limit = json!({ "requestsPerSecond": 100_000, "burst": 100_000 });
        let service = json!({ "name": "busy", "tier": "enterprise", "rateLimit": limit });
        let service = text(&made("/admin/services", &service)["id"]);
        let key =
            json!({ "serviceId": service, "name": "key", "algorithm": "P-256", "generate": true });
        made("/admin/keys", &key);
        let policy =
            json!({ "name": "policy", "destinationServiceId": service, "alg": "ECDH-ES+A256KW" });
        let policy = made("/admin/policies", &policy)["policyNumber"].clone();
        let key =
            json!({ "name": "key", "type": "live", "serviceId": service, "policyNumber": policy });
        let key = text(&made("/admin/api-keys", &key)["secret"]);
        let mut visitor = Visitor {
            address: process.address().to_owned(),
            key,
            admin_key: site.admin_key().to_owned(),
            service,
            envelope: Value::Null,
        };
        let protected = visitor.ask(Wish::Protect, "the first").await;
        visitor.envelope = protected.expect("an answer").ok().json()["jwe"].clone();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            visitor,
            process: Some(process),
            site,
            before: before.to_owned(),
            variables: variables.iter().map(owned).collect(),
        }
    }

    pub(super) fn process(&self) -> &Process {
        self.process.as_ref().expect("it runs")
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    /// The process, to be ended; without it there is nobody to ask.
    pub(super) fn vacate(&mut self) -> Process {
        self.process.take().expect("it runs")
    }

    /// Starts the service again on the same site.
    pub(super) async fn reopen(&mut self) {
        let variables = self.variables.iter();
        let variables: Vec<_> = variables.map(|(name, value)| (&**name, &**value)).collect();
        let process = Process::start_after(&self.before, &self.site, &variables).await;
        process.address().clone_into(&mut self.visitor.address);
        self.process = Some(process);
    }

    /// Clients who ask from now on.
    pub(super) fn crowd(&self) -> Crowd {
        Crowd::of(&self.visitor)
    }

    /// Each success of an application is recorded once as that, and nothing is recorded twice.
    pub(super) async fn accounts_for(&self, told: Vec<Told>) {
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
        for told in told.iter().filter(|told| told.wish.is_recorded()) {
            let rows = recorded.get(&told.id).copied().unwrap_or_default();
            if told.status == 200 {
                assert_eq!(rows, (1, 1), "{told:?} is not recorded as it was answered");
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
        within(crate::process::PATIENCE, async || {
            let request = axum::http::Request::get("/readyz").header("host", "it");
            let request = request.body(axum::body::Body::empty()).expect("a request");
            let answer = super::crowd::send(&self.visitor.address, request).await;
            answer.is_ok_and(|answer| answer.status == 200)
        })
        .await;
    }
}

/// The address in the settings that these options are reached by; the password has its own place.
pub(super) fn url(options: &PgConnectOptions) -> String {
    use sqlx::ConnectOptions as _;
    let mut url = options.to_url_lossy();
    url.set_password(None).expect("an address with a user");
    url.to_string()
}
