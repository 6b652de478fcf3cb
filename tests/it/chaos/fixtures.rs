//! Who and what takes part in a run: services that ask, policies, keys, and what was made with them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::RngExt as _;
use rand::rngs::SmallRng;
use serde_json::{Value, json};

use super::administrator::Administrator;
use super::history::{Application, Limit, Moment, Timeline};
use super::run_log::RunLog;

/// More than any run asks for.
const UNLIMITED: u32 = 1_000_000;

/// Of the last application.
const LIMIT: Limit = Limit {
    per_second: 6,
    burst: 12,
};

/// Envelopes, ciphertexts and signatures that are kept for later requests.
const KEPT: usize = 300;

/// Policies for anyone; one more is for the first application alone.
const POLICIES: usize = 5;

/// Clones share it.
#[derive(Clone)]
pub(crate) struct Fixtures(Arc<Mutex<FixtureState>>);

#[derive(Default)]
pub(crate) struct FixtureState {
    /// The ids of the services that ask.
    pub(crate) applications: Vec<String>,
    pub(crate) api_keys: Vec<ApiKey>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) keys: Vec<Key>,
    /// Services that envelopes are for, with the algorithm of their keys.
    pub(crate) destinations: Vec<(String, &'static str, &'static str)>,
    pub(crate) sealed: VecDeque<Sealed>,
    pub(crate) encrypted: VecDeque<Made>,
    pub(crate) signed: VecDeque<Made>,
}

pub(crate) struct ApiKey {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) application: usize,
    /// Until when it is asked with; revoked ones for a while still.
    pub(crate) used_until: Option<Moment>,
}

#[derive(Clone)]
pub(crate) struct Policy {
    pub(crate) id: String,
    pub(crate) number: String,
    pub(crate) destination: usize,
    pub(crate) role: PolicyRole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyRole {
    /// Stays as it is.
    Steady,
    /// Is switched off and on.
    Toggled,
    /// Is deleted, and another made in its place.
    Replaced,
    /// Was deleted.
    Deleted,
    /// Is for the first application alone.
    Restricted,
}

/// A key for operations; every second one is switched off and on.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) application: usize,
    pub(crate) is_for_signing: bool,
    pub(crate) is_toggled: bool,
}

/// An envelope, and what must come out of it.
#[derive(Clone)]
pub(crate) struct Sealed {
    pub(crate) jwe: String,
    pub(crate) plaintext: String,
    pub(crate) destination: usize,
}

/// What an operation gave, and from what.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) key: usize,
    pub(crate) data: String,
    /// The members of the result that the reverse operation takes.
    pub(crate) result: Value,
}

impl Fixtures {
    /// Has everything made that a run begins with.
    pub(crate) async fn create(admin: &mut Administrator, run_log: &RunLog) -> Self {
        let fixtures = Self(Arc::default());
        let destinations = [("P-256", "ECDH-ES+A256KW"), ("RSA-2048", "RSA-OAEP-256")];
        for (algorithm, alg) in destinations {
            let service = json!({ "name": format!("destination of {algorithm}") });
            let id = text(&admin.must_make("/admin/services", &service).await, "id");
            admin
                .must_make("/admin/keys", &envelope_key(&id, algorithm))
                .await;
            fixtures.lock().destinations.push((id, algorithm, alg));
        }
        for name in ["one", "two", "three", "limited"] {
            fixtures.add_application(admin, run_log, name).await;
        }
        for number in 0..POLICIES {
            let role = [
                PolicyRole::Steady,
                PolicyRole::Toggled,
                PolicyRole::Steady,
                PolicyRole::Toggled,
                PolicyRole::Replaced,
            ][number % POLICIES];
            fixtures
                .new_policy(admin, run_log, number / 2 % 2, role)
                .await;
        }
        fixtures
            .new_policy(admin, run_log, 0, PolicyRole::Restricted)
            .await;
        fixtures
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, FixtureState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A service that asks, with its keys.
    async fn add_application(&self, admin: &mut Administrator, run_log: &RunLog, name: &str) {
        let limit = (name == "limited").then_some(LIMIT);
        let Limit { per_second, burst } = limit.unwrap_or(Limit {
            per_second: UNLIMITED,
            burst: UNLIMITED,
        });
        let limits = json!({ "requestsPerSecond": per_second, "burst": burst });
        let service = json!({ "name": name, "tier": "enterprise", "rateLimit": limits });
        let id = text(&admin.must_make("/admin/services", &service).await, "id");
        let place = self.lock().applications.len();
        self.lock().applications.push(id.clone());
        let application = Application {
            id: id.clone(),
            limit,
        };
        run_log.lock().history.applications.push(application);
        for (usage, algorithm) in [("data", "AES-256"), ("sig", "HMAC-SHA256")] {
            for is_toggled in [false, true] {
                let order = json!({
                    "serviceId": id, "name": usage, "use": usage, "algorithm": algorithm, "generate": true,
                });
                let made = admin.must_make("/admin/keys", &order).await;
                let mut entries = run_log.lock();
                let name = format!("{usage} key of {name}");
                entries.history.keys.push(Timeline::new(name));
                self.lock().keys.push(Key {
                    id: text(&made, "id"),
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

    /// Another API key for an application, unless it cannot be made.
    pub(crate) async fn new_api_key(
        &self,
        admin: &mut Administrator,
        run_log: &RunLog,
        application: usize,
    ) {
        let service = self.lock().applications[application].clone();
        let order = json!({ "name": "chaos", "type": "live", "serviceId": service });
        let Some(made) = admin.make("/admin/api-keys", &order).await else {
            return;
        };
        let mut entries = run_log.lock();
        let name = format!("API key of {application}");
        entries.history.api_keys.push(Timeline::new(name));
        self.lock().api_keys.push(ApiKey {
            id: text(&made, "id"),
            secret: text(&made, "secret"),
            application,
            used_until: None,
        });
    }

    /// Another policy, unless it cannot be made.
    pub(crate) async fn new_policy(
        &self,
        admin: &mut Administrator,
        run_log: &RunLog,
        destination: usize,
        role: PolicyRole,
    ) {
        let (service, _, alg) = self.lock().destinations[destination].clone();
        let mut order = json!({ "name": "chaos", "destinationServiceId": service, "alg": alg });
        if role == PolicyRole::Restricted {
            order["allowedServiceIds"] = json!([self.lock().applications[0]]);
        }
        let Some(made) = admin.make("/admin/policies", &order).await else {
            return;
        };
        let mut entries = run_log.lock();
        let number = text(&made, "policyNumber");
        entries.history.policies.push(Timeline::new(number.clone()));
        self.lock().policies.push(Policy {
            id: text(&made, "id"),
            number,
            destination,
            role,
        });
    }
}

impl FixtureState {
    /// An API key of that application: one that is in use, or now and then any there ever was.
    pub(crate) fn api_key(
        &self,
        dice: &mut SmallRng,
        application: usize,
        now: Moment,
    ) -> Option<usize> {
        let any = dice.random_bool(0.03);
        let is_used = |key: &ApiKey| key.used_until.is_none_or(|until| now < until) || any;
        let own = self.api_keys.iter().enumerate();
        let own = own.filter(|(_, key)| key.application == application && is_used(key));
        one_of(dice, own.map(|(which, _)| which))
    }

    pub(crate) fn key(&self, dice: &mut SmallRng, fits: impl Fn(&Key) -> bool) -> Option<usize> {
        let fitting = self.keys.iter().enumerate().filter(|(_, key)| fits(key));
        one_of(dice, fitting.map(|(which, _)| which))
    }

    pub(crate) fn policy(
        &self,
        dice: &mut SmallRng,
        fits: impl Fn(&Policy) -> bool,
    ) -> Option<usize> {
        let all = self.policies.iter().enumerate();
        let fitting = all.filter(|(_, policy)| fits(policy));
        one_of(dice, fitting.map(|(which, _)| which))
    }
}

/// Keeps something for later requests, in place of the oldest where there is enough.
pub(crate) fn keep<T>(kept: &mut VecDeque<T>, another: T) {
    if kept.len() >= KEPT {
        kept.pop_front();
    }
    kept.push_back(another);
}

pub(crate) fn one_of<T>(dice: &mut SmallRng, all: impl Iterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = all.collect();
    if all.is_empty() {
        return None;
    }
    Some(all.swap_remove(dice.random_range(0..all.len())))
}

pub(crate) fn envelope_key(service: &str, algorithm: &str) -> Value {
    json!({ "serviceId": service, "name": "envelopes", "algorithm": algorithm, "generate": true })
}

pub(crate) fn text(json: &Value, member: &str) -> String {
    let text = json[member].as_str();
    text.unwrap_or_else(|| panic!("no {member} in {json}"))
        .to_owned()
}
