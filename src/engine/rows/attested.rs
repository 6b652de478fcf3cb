//! The resources whose rows can be compared with events.

use serde_json::Value;

use crate::auth::{ApiKey, Service, WorkloadIdentity};
use crate::keys::Key;
use crate::management::Resource;
use crate::policy::Policy;
use crate::resource::Stored;

/// A resource each of whose changes is an event with its state.
pub(crate) trait Attested: Resource + Stored + Send + Unpin {
    /// Selects at most `$2` living resources after `$1`.
    const LIVING: &'static str = "WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2";

    /// The members that change without an event of the resource.
    const UNATTESTED: &'static [&'static str] = &[];

    /// Its members, as events have them.
    fn state(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

impl Attested for Service {}

impl Attested for Policy {}

impl Attested for Key {
    const LIVING: &'static str = "WHERE id > $1 ORDER BY id LIMIT $2";
}

impl Attested for ApiKey {
    const LIVING: &'static str = "WHERE id > $1 ORDER BY id LIMIT $2";
    // The status follows the time, and the number is that of another resource.
    const UNATTESTED: &'static [&'static str] = &["status", "policyNumber", "lastUsedAt"];
}

impl Attested for WorkloadIdentity {
    const UNATTESTED: &'static [&'static str] = &["policyNumber", "lastUsedAt"];
}

/// Runs a statement with `R` as each kind of resource whose rows are compared with events.
macro_rules! each_attested {
    ($R:ident => $run:expr) => {{
        each_attested!(@ $R, $run,
            $crate::auth::Service, $crate::policy::Policy, $crate::keys::Key, $crate::auth::ApiKey,
            $crate::auth::WorkloadIdentity);
    }};
    (@ $R:ident, $run:expr, $($kind:ty),*) => {$({
        type $R = $kind;
        $run;
    })*};
}

pub(crate) use each_attested;
