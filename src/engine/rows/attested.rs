//! The resources whose rows can be compared with events.

use serde_json::{Value, json};

use crate::auth::{
    ApiKey, IdentityStatus, Person, PersonStatus, Service, ServiceStatus, WorkloadIdentity,
};
use crate::keys::{Key, KeyStatus};
use crate::management::Resource;
use crate::policy::Policy;
use crate::resource::Stored;

/// A resource each of whose changes is an event with its state.
pub(crate) trait Attested: Resource + Stored + Send + Unpin {
    /// Selects at most `$2` living resources after `$1`.
    const LIVING: &'static str = "WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2";

    /// Selects the living resource `$1`.
    const LIVING_ONE: &'static str = "WHERE id = $1 AND deleted_at IS NULL";

    /// The members that change without an event of the resource.
    const UNATTESTED: &'static [&'static str] = &[];

    /// Its state before the first event, for resources that can begin without one.
    fn unrecorded() -> Option<Value> {
        None
    }

    /// The members that an entry of `revisions` changes, each with its value; none for a time.
    const LOSSES: &'static [(&'static str, Option<&'static str>)] = &[];

    /// Whether a resource in this state has lost what an entry of `revisions` can take away.
    fn has_lost(state: &Value) -> bool;

    /// What an event says that the resource lost. The login of the service can add an event with other members.
    fn lost(event: &Value) -> impl Iterator<Item = (String, Value)> {
        Self::LOSSES.iter().filter_map(|(name, value)| {
            let said = event.get(name).filter(|said| match value {
                Some(value) => *said == value,
                None => said.is_string(),
            });
            Some(((*name).to_owned(), said?.clone()))
        })
    }

    /// Whether a difference of these members can be a loss.
    fn can_lose(members: &[String]) -> bool {
        members.iter().all(|member| Self::LOSSES.iter().any(|(name, _)| name == member))
    }

    /// Its members, as events have them.
    fn state(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

impl Attested for Service {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(ServiceStatus::Frozen.name()))];

    fn has_lost(state: &Value) -> bool {
        state["status"] == ServiceStatus::Frozen.name()
    }
}

impl Attested for Policy {
    fn has_lost(_: &Value) -> bool {
        false
    }
}

impl Attested for Key {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(KeyStatus::Disabled.name()))];
    const LIVING: &'static str = "WHERE id > $1 ORDER BY id LIMIT $2";
    const LIVING_ONE: &'static str = "WHERE id = $1";

    fn has_lost(state: &Value) -> bool {
        let can_lose = [KeyStatus::Active, KeyStatus::Retired];
        !can_lose.iter().any(|status| state["status"] == status.name())
    }
}

impl Attested for ApiKey {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] = &[("revokedAt", None)];
    const LIVING: &'static str = "WHERE id > $1 ORDER BY id LIMIT $2";
    const LIVING_ONE: &'static str = "WHERE id = $1";
    // The status follows the time, and the number is that of another resource.
    const UNATTESTED: &'static [&'static str] = &["status", "policyNumber", "lastUsedAt"];

    fn has_lost(state: &Value) -> bool {
        !state["revokedAt"].is_null()
    }
}

impl Attested for WorkloadIdentity {
    const UNATTESTED: &'static [&'static str] = &["policyNumber", "lastUsedAt"];

    fn has_lost(state: &Value) -> bool {
        state["status"] == IdentityStatus::Disabled.name()
    }
}

/// Sign-ins change people without an event.
impl Attested for Person {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(PersonStatus::Locked.name())), ("lockedAt", None)];
    const LIVING: &'static str = "WHERE id > $1 ORDER BY id LIMIT $2";
    const LIVING_ONE: &'static str = "WHERE id = $1";
    const UNATTESTED: &'static [&'static str] =
        &["name", "roles", "lastSeenAt", "apiKeyIds", "updatedAt"];

    fn unrecorded() -> Option<Value> {
        Some(json!({ "status": PersonStatus::Active.name(), "lockedAt": null }))
    }

    fn has_lost(state: &Value) -> bool {
        state["status"] == PersonStatus::Locked.name()
    }
}

/// Runs a statement with `R` as each kind of resource whose rows are compared with events.
macro_rules! each_attested {
    ($R:ident => $run:expr) => {{
        each_attested!(@ $R, $run,
            $crate::auth::Service, $crate::policy::Policy, $crate::keys::Key, $crate::auth::ApiKey,
            $crate::auth::WorkloadIdentity, $crate::auth::Person);
    }};
    (@ $R:ident, $run:expr, $($kind:ty),*) => {$({
        type $R = $kind;
        $run;
    })*};
}

pub(crate) use each_attested;
