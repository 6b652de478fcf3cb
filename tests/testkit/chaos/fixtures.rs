//! The resources of a run: services, policies, keys, and the results that later requests use.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::RngExt as _;
use rand::rngs::SmallRng;
use serde_json::{Value, json};

use super::administrator::Administrator;
use super::history::{Application, Limit, Moment, Timeline};
use super::run_log::RunLog;

/// A limit that no run reaches.
const UNLIMITED: u32 = 1_000_000;

/// The limit of the last application.
const LIMIT: Limit = Limit { per_second: 6, burst: 12 };

/// The number of envelopes, ciphertexts and signatures to keep for later requests.
const KEPT: usize = 300;

/// The number of policies for all services. One more policy is restricted to the first application.
const POLICIES: usize = 5;

/// Clones share the state.
#[derive(Clone)]
pub struct Fixtures(Arc<Mutex<FixtureState>>);

#[derive(Default)]
pub struct FixtureState {
    /// The IDs of the calling services.
    pub applications: Vec<String>,
    pub api_keys: Vec<ApiKey>,
    pub policies: Vec<Policy>,
    pub keys: Vec<Key>,
    /// Destination services with the algorithms of their keys and policies.
    pub destinations: Vec<(String, &'static str, &'static str)>,
    pub sealed: VecDeque<Sealed>,
    pub encrypted: VecDeque<OperationResult>,
    pub signed: VecDeque<OperationResult>,
}

pub struct ApiKey {
    pub id: String,
    pub secret: String,
    pub application: usize,
    /// The end of its use. Clients use a revoked key for some time.
    pub used_until: Option<Moment>,
}

#[derive(Clone)]
pub struct Policy {
    pub id: String,
    pub number: String,
    pub destination: usize,
    pub role: PolicyRole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PolicyRole {
    /// Does not change.
    Unchanged,
    /// Is deactivated and activated repeatedly.
    Toggled,
    /// Is deleted and replaced by another policy.
    Replaced,
    /// Is deleted.
    Deleted,
    /// Allows only the first application.
    Restricted,
}

/// A key for operations. Every second key is disabled and activated repeatedly.
#[derive(Clone)]
pub struct Key {
    pub id: String,
    pub application: usize,
    pub is_for_signing: bool,
    pub is_toggled: bool,
}

/// An envelope and its plaintext.
#[derive(Clone)]
pub struct Sealed {
    pub jwe: String,
    /// The policy that the envelope is bound to.
    pub policy: usize,
    pub plaintext: String,
    pub destination: usize,
}

/// The result of an operation and its input.
#[derive(Clone)]
pub struct OperationResult {
    pub key: usize,
    pub data: String,
    /// The members of the result that the inverse operation requires.
    pub result: Value,
}

impl Fixtures {
    /// Creates all resources that a run requires at its start.
    pub async fn create(admin: &mut Administrator, run_log: &RunLog) -> Self {
        let fixtures = Self(Arc::default());
        let destinations = [("P-256", "ECDH-ES+A256KW"), ("RSA-2048", "RSA-OAEP-256")];
        for (algorithm, alg) in destinations {
            let service = json!({ "name": format!("destination of {algorithm}") });
            let id = text(&admin.must_create("/admin/services", &service).await, "id");
            admin.must_create("/admin/keys", &envelope_key(&id, algorithm)).await;
            fixtures.lock().destinations.push((id, algorithm, alg));
        }
        for name in ["one", "two", "three", "limited"] {
            fixtures.add_application(admin, run_log, name).await;
        }
        for number in 0..POLICIES {
            let role = [
                PolicyRole::Unchanged,
                PolicyRole::Toggled,
                PolicyRole::Unchanged,
                PolicyRole::Toggled,
                PolicyRole::Replaced,
            ][number % POLICIES];
            fixtures.new_policy(admin, run_log, number / 2 % 2, role).await;
        }
        fixtures.new_policy(admin, run_log, 0, PolicyRole::Restricted).await;
        fixtures
    }

    pub fn lock(&self) -> MutexGuard<'_, FixtureState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a calling service with its keys.
    async fn add_application(&self, admin: &mut Administrator, run_log: &RunLog, name: &str) {
        let limit = (name == "limited").then_some(LIMIT);
        let Limit { per_second, burst } =
            limit.unwrap_or(Limit { per_second: UNLIMITED, burst: UNLIMITED });
        let limits = json!({ "requestsPerSecond": per_second, "burst": burst });
        let service = json!({ "name": name, "tier": "enterprise", "rateLimit": limits });
        let id = text(&admin.must_create("/admin/services", &service).await, "id");
        let place = self.lock().applications.len();
        self.lock().applications.push(id.clone());
        let application = Application { id: id.clone(), limit };
        run_log.lock().history.applications.push(application);
        for (usage, algorithm) in [("data", "AES-256"), ("sig", "HMAC-SHA256")] {
            for is_toggled in [false, true] {
                let body = json!({
                    "serviceId": id, "name": usage, "use": usage, "algorithm": algorithm, "generate": true,
                });
                let created = admin.must_create("/admin/keys", &body).await;
                let mut entries = run_log.lock();
                let name = format!("{usage} key of {name}");
                entries.history.keys.push(Timeline::new(name));
                self.lock().keys.push(Key {
                    id: text(&created, "id"),
                    application: place,
                    is_for_signing: usage == "sig",
                    is_toggled,
                });
            }
        }
        for _ in 0..2 {
            self.new_api_key(admin, run_log, place).await;
        }
    }

    /// Creates another API key for an application, if possible.
    pub async fn new_api_key(
        &self,
        admin: &mut Administrator,
        run_log: &RunLog,
        application: usize,
    ) {
        let service = self.lock().applications[application].clone();
        let body = json!({ "name": "chaos", "type": "live", "serviceId": service });
        let Some(created) = admin.create("/admin/api-keys", &body).await else {
            return;
        };
        let mut entries = run_log.lock();
        let name = format!("API key of {application}");
        entries.history.api_keys.push(Timeline::new(name));
        self.lock().api_keys.push(ApiKey {
            id: text(&created, "id"),
            secret: text(&created, "secret"),
            application,
            used_until: None,
        });
    }

    /// Creates another policy, if possible.
    pub async fn new_policy(
        &self,
        admin: &mut Administrator,
        run_log: &RunLog,
        destination: usize,
        role: PolicyRole,
    ) {
        let (service, _, alg) = self.lock().destinations[destination].clone();
        let mut body = json!({ "name": "chaos", "destinationServiceId": service, "alg": alg,
            "allowedServiceIds": ["*"] });
        if role == PolicyRole::Restricted {
            body["allowedServiceIds"] = json!([self.lock().applications[0]]);
        }
        let Some(created) = admin.create("/admin/policies", &body).await else {
            return;
        };
        let mut entries = run_log.lock();
        let number = text(&created, "policyNumber");
        entries.history.policies.push(Timeline::new(number.clone()));
        self.lock().policies.push(Policy { id: text(&created, "id"), number, destination, role });
    }
}

impl FixtureState {
    /// An API key of the application: usually one in use, sometimes any.
    pub fn api_key(&self, rng: &mut SmallRng, application: usize, now: Moment) -> Option<usize> {
        let any = rng.random_bool(0.03);
        let is_used = |key: &ApiKey| key.used_until.is_none_or(|until| now < until) || any;
        let own = self.api_keys.iter().enumerate();
        let own = own.filter(|(_, key)| key.application == application && is_used(key));
        one_of(rng, own.map(|(which, _)| which))
    }

    pub fn key(&self, rng: &mut SmallRng, fits: impl Fn(&Key) -> bool) -> Option<usize> {
        let fitting = self.keys.iter().enumerate().filter(|(_, key)| fits(key));
        one_of(rng, fitting.map(|(which, _)| which))
    }

    pub fn policy(&self, rng: &mut SmallRng, fits: impl Fn(&Policy) -> bool) -> Option<usize> {
        let all = self.policies.iter().enumerate();
        let fitting = all.filter(|(_, policy)| fits(policy));
        one_of(rng, fitting.map(|(which, _)| which))
    }
}

/// Adds an item and removes the oldest one if the limit is reached.
pub fn keep<T>(kept: &mut VecDeque<T>, another: T) {
    if kept.len() >= KEPT {
        kept.pop_front();
    }
    kept.push_back(another);
}

pub fn one_of<T>(rng: &mut SmallRng, all: impl Iterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = all.collect();
    if all.is_empty() {
        return None;
    }
    Some(all.swap_remove(rng.random_range(0..all.len())))
}

pub fn envelope_key(service: &str, algorithm: &str) -> Value {
    json!({ "serviceId": service, "name": "envelopes", "algorithm": algorithm, "generate": true })
}

pub fn text(json: &Value, member: &str) -> String {
    let text = json[member].as_str();
    text.unwrap_or_else(|| panic!("no {member} in {json}")).to_owned()
}
