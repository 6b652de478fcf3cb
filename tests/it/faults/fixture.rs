//! A service process with the resources for all actions.

use std::collections::HashMap;

use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use super::load::{Action, LIMIT, Load, LoadClient, Response};
use testkit::{Client, PATIENCE, Process, Proxy, Site, within};

/// Time limits that a loaded machine does not reach.
const LONG_LIMITS: [(&str, &str); 4] = [
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "2min"),
    ("SEALWARD_AUDIT_DEADLINE", "1min"),
    ("SEALWARD_DATABASE_CONNECT_TIMEOUT", "1min"),
    ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
];

/// Time limits that the tests reach.
pub(super) const SHORT_LIMITS: [(&str, &str); 2] =
    [("SEALWARD_LIMITS_REQUEST_TIMEOUT", LIMIT), ("SEALWARD_AUDIT_DEADLINE", "2s")];

/// A running service and its client.
pub(super) struct Fixture {
    pub(super) client: LoadClient,
    process: Option<Process>,
    site: Site,
    before: String,
    variables: Vec<(String, String)>,
}

impl Fixture {
    /// Starts a service with its own database.
    pub(super) async fn open() -> Self {
        Self::at(Site::new().await, &[]).await
    }

    /// Starts a service with short time limits and a proxy for its database.
    pub(super) async fn behind_a_proxy() -> (Self, Proxy) {
        Self::behind_a_proxy_with(&[]).await
    }

    /// The same with these settings overridden.
    pub(super) async fn behind_a_proxy_with(variables: &[(&str, &str)]) -> (Self, Proxy) {
        let site = Site::new().await;
        let (admitted_requests, proxy) = Proxy::for_server(site.database()).await;
        let admitted_requests = url(&admitted_requests);
        let variables =
            [&SHORT_LIMITS[..], &[("SEALWARD_DATABASE_URL", &admitted_requests)], variables]
                .concat();
        let fixture = Self::at(site, &variables).await;
        (fixture, proxy)
    }

    /// Starts a service with this descriptor limit.
    pub(super) async fn with_descriptors(descriptors: u64) -> Self {
        let before = format!("ulimit -S -n {descriptors}");
        Self::start(Site::new().await, &before, &[]).await
    }

    /// Starts a service on this site with these settings overridden.
    pub(super) async fn at(site: Site, variables: &[(&str, &str)]) -> Self {
        Self::start(site, ":", variables).await
    }

    async fn start(site: Site, before: &str, variables: &[(&str, &str)]) -> Self {
        let variables = [&LONG_LIMITS, variables].concat();
        let process = Process::start_after(before, &site, &variables).await;
        let limit = json!({ "requestsPerSecond": 100_000, "burst": 100_000 });
        let service = json!({ "tier": "enterprise", "rateLimit": limit });
        let service = create(&process, "/admin/services", service).await["id"].clone();
        let key = json!({ "serviceId": service, "algorithm": "P-256", "generate": true });
        create(&process, "/admin/keys", key).await;
        let policy = json!({ "destinationServiceId": service, "alg": "ECDH-ES+A256KW",
            "allowedServiceIds": [service] });
        let policy = create(&process, "/admin/policies", policy).await["policyNumber"].clone();
        let key = json!({ "type": "live", "serviceId": service, "policyNumber": policy });
        let key = create(&process, "/admin/api-keys", key).await;
        let mut client = LoadClient {
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

    /// The application of the load as a client.
    pub(super) fn application(&self) -> Client<'_> {
        self.process().client(&self.client.key)
    }

    /// A client with a new API key.
    pub(super) async fn client_with(&self, body: Value) -> Client<'_> {
        let key = create(self.process(), "/admin/api-keys", body).await;
        self.process().client(&text(&key["secret"]))
    }

    pub(super) fn process(&self) -> &Process {
        self.process.as_ref().expect("it runs")
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    /// Takes the process out of the fixture, for example to stop it.
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

    /// Starts clients.
    pub(super) fn load(&self) -> Load {
        Load::of(&self.client)
    }

    /// Asserts that each success of an application has exactly one record, and no request has two.
    pub(super) async fn assert_recorded_once(&self, responses: Vec<Response>) {
        let sql = "SELECT request_id, count(*), count(*) FILTER (WHERE response_status = 200) \
                   FROM crypto_operations_audit GROUP BY 1";
        let rows: Vec<(String, i64, i64)> = sqlx::query_as(sql)
            .fetch_all(&mut self.site.connect().await)
            .await
            .expect("the audit log");
        let recorded: HashMap<_, _> =
            rows.into_iter().map(|(id, all, successes)| (id, (all, successes))).collect();
        for (id, (all, _)) in &recorded {
            assert_eq!(*all, 1, "{id} is recorded {all} times");
        }
        let mut successes = 0;
        for response in responses.iter().filter(|response| response.action.is_recorded()) {
            let rows = recorded.get(&response.id).copied().unwrap_or_default();
            if response.status == 200 {
                assert_eq!(rows, (1, 1), "{response:?} does not match its record");
                successes += 1;
            }
        }
        assert!(successes > 0, "no request succeeded");
    }

    /// The value of a metric.
    pub(super) fn metric(&self, name: &str) -> f64 {
        self.process().metrics().sum(name, &[])
    }

    /// A value in KiB from the process status of the kernel.
    pub(super) fn memory(&self, name: &str) -> u64 {
        let status = format!("/proc/{}/status", self.process().id());
        let status = std::fs::read_to_string(status).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.expect("a line").trim_matches([':', '\t', ' ', 'k', 'B']);
        number.parse().expect("a number")
    }

    /// Waits until the service is ready.
    pub(super) async fn wait_until_ready(&self) {
        within(PATIENCE, async || {
            let ready = self.process().anonymous().get("/readyz").await;
            ready.status == 200
        })
        .await;
    }
}

/// Creates a resource as administrator. Repeats the request after 503 with a new name, because an
/// earlier attempt may have created the resource.
pub(super) async fn create(process: &Process, path: &str, mut body: Value) -> Value {
    let mut created = Value::Null;
    within(PATIENCE, async || {
        body["name"] = rand::random::<u128>().to_string().into();
        created = process.admin().post(path, body.clone()).await.json();
        let is_created = created["id"].is_string();
        assert!(
            is_created || created["error"]["code"] == "SERVICE_UNAVAILABLE",
            "{path}: {created}"
        );
        is_created
    })
    .await;
    created
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// The database URL of these options without the password, which has its own setting.
pub(super) fn url(options: &PgConnectOptions) -> String {
    use sqlx::ConnectOptions as _;
    let mut url = options.to_url_lossy();
    url.set_password(None).expect("an address with a user");
    url.to_string()
}
