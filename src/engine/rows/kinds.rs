//! The kinds of sealed rows.

use crate::auth::{ApiKey, Emergency, Person, Service, Session, WorkloadIdentity};
use crate::keys::{ImportKeyRecord, Key};
use crate::ledger::{LogCosigner, LogKey, LogOrigin};
use crate::management::ResourceType;
use crate::management::changes::StoredChange;
use crate::policy::Policy;
use crate::resource::Stored as _;

/// Runs a statement with `R` as each kind of sealed row.
macro_rules! each_kind {
    ($R:ident => $run:expr) => {{
        each_kind!(@ $R, $run,
            $crate::auth::Service, $crate::auth::Emergency, $crate::policy::Policy, $crate::keys::Key,
            $crate::keys::ImportKeyRecord, $crate::auth::ApiKey, $crate::auth::WorkloadIdentity,
            $crate::auth::Person, $crate::auth::Session, $crate::management::changes::StoredChange,
            $crate::ledger::LogKey, $crate::ledger::LogCosigner, $crate::ledger::LogOrigin,
            $crate::report_key::ReportKey);
    }};
    (@ $R:ident, $run:expr, $($kind:ty),*) => {$({
        type $R = $kind;
        $run;
    })*};
}

pub(super) use each_kind;

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

pub(super) use each_attested;

/// The type of the resource in a row of this table.
pub(super) fn type_of(table: &str) -> ResourceType {
    match table {
        Service::TABLE => ResourceType::Service,
        Emergency::TABLE => ResourceType::Emergency,
        Policy::TABLE => ResourceType::Policy,
        Key::TABLE => ResourceType::Key,
        ApiKey::TABLE => ResourceType::ApiKey,
        WorkloadIdentity::TABLE => ResourceType::Identity,
        ImportKeyRecord::TABLE => ResourceType::ImportKey,
        Person::TABLE => ResourceType::Person,
        Session::TABLE => ResourceType::Dashboard,
        StoredChange::TABLE => ResourceType::Change,
        LogKey::TABLE | LogCosigner::TABLE | LogOrigin::TABLE => ResourceType::AuditLog,
        _ => ResourceType::Instance,
    }
}
