//! The security events.

use serde::Serialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit::clean;
use crate::auth::Administrator;
use crate::auth::oidc::Logout;
use crate::ids::{Id, Named};
use crate::management::{Action, Event, ResourceType};
use crate::seals::{Deviation, Flaw, RowName};
use crate::segments::Log;

/// A read of an audit log, with the details that its event records.
#[derive(Clone, Debug, Serialize)]
pub struct LogRead<'a> {
    /// The log.
    pub log: Log,
    /// The media type of an export.
    pub format: Option<&'a str>,
    /// The selected records.
    #[serde(flatten)]
    pub selection: Selection,
}

/// The records that a read selects.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The records that match this filter.
    Filter(Value),
    /// The record with this ID.
    Record(Value),
}

impl Selection {
    /// The records that match the members of `filter` that are set.
    pub fn filter(filter: &impl Serialize) -> Self {
        let mut filter = json!(filter);
        if let Value::Object(members) = &mut filter {
            members.retain(|_, value| !value.is_null());
        }
        Self::Filter(filter)
    }

    pub fn record<K: Named>(id: Id<K>) -> Self {
        Self::Record(json!(id))
    }
}

/// A management request, as the event of its refusal names it.
#[derive(Clone, Copy, Debug)]
pub struct RefusedRequest<'a> {
    pub method: &'a str,
    /// The route; none if no route matches.
    pub route: Option<&'a str>,
    /// The status of the response.
    pub status: u16,
}

/// The most segments that an event names.
const NAMED: usize = 100;

impl Event {
    /// An administrator signed in to the dashboard.
    pub fn signed_in(administrator: &Administrator) -> Self {
        Self::of_session(Action::SignIn, administrator)
    }

    pub fn signed_out(administrator: &Administrator) -> Self {
        Self::of_session(Action::SignOut, administrator)
    }

    /// The provider ended this number of sessions.
    pub fn logged_out(logout: &Logout, sessions: u64) -> Self {
        let subject = logout.subject.as_deref().map(clean);
        let details = json!({ "subject": subject, "sessions": sessions });
        Self::of_security(Action::SignOut, ResourceType::Dashboard, &details)
    }

    /// A sign-in failed; `reason` is the one in the log.
    pub fn sign_in_failed(reason: &str) -> Self {
        let details = json!({ "reason": clean(reason) });
        Self::of_security(Action::SignInFailed, ResourceType::Dashboard, &details)
    }

    /// A management request was refused.
    pub fn refused(request: RefusedRequest<'_>) -> Self {
        let RefusedRequest { method, route, status } = request;
        let details = json!({ "method": clean(method), "route": route, "status": status });
        Self::of_security(Action::Refuse, ResourceType::Request, &details)
    }

    /// Requests without credentials that were only counted.
    pub(super) fn refused_in_total(requests: u64) -> Self {
        let details = json!({ "requests": requests });
        Self::of_security(Action::Refuse, ResourceType::Request, &details)
    }

    /// An audit log was read or exported.
    pub(super) fn log_read(read: &LogRead<'_>) -> Self {
        let action = match read.format {
            Some(_) => Action::Export,
            None => Action::Read,
        };
        Self::of_security(action, ResourceType::AuditLog, &json!(read))
    }

    /// The tamper-evident logs have these public keys instead of the earlier ones.
    pub(super) fn initialized(before: &[String], after: &[String], foreign: &[Uuid]) -> Self {
        let (action, before) = match before {
            [] => (Action::Create, None),
            keys => (Action::Update, to_raw_value(&json!({ "keys": keys })).ok()),
        };
        let after = match foreign {
            [] => json!({ "keys": after }),
            foreign => {
                let first: Vec<String> = foreign.iter().take(NAMED).map(Uuid::to_string).collect();
                json!({ "keys": after, "foreignSegments": first, "foreignSegmentCount": foreign.len() })
            }
        };
        Self { before, ..Self::of_security(action, ResourceType::AuditLog, &after) }
    }

    /// An instance started.
    pub fn started() -> Self {
        Self::of_instance(Action::Start)
    }

    /// An instance stopped.
    pub fn stopped() -> Self {
        Self::of_instance(Action::Stop)
    }

    /// A token changed its state.
    pub(super) fn of_token(action: Action, label: &str, reason: Option<&str>) -> Self {
        let details = json!({ "label": label, "reason": reason });
        Self::of_security(action, ResourceType::Token, &details)
    }

    /// The PIN of a token was refused at the start.
    pub fn pin_refused(reason: &str) -> Self {
        let details = json!({ "reason": reason });
        Self::of_security(Action::PinRefused, ResourceType::Token, &details)
    }

    /// A row of the database does not count.
    pub(crate) fn row_invalid(resource_type: ResourceType, row: RowName, flaw: Flaw) -> Self {
        let details = json!({ "table": row.table, "flaw": flaw });
        Self::of_row(Action::RowInvalid, resource_type, row, &details)
    }

    /// A row of the database is not as its last event says.
    pub(crate) fn row_deviates(resource_type: ResourceType, deviation: &Deviation) -> Self {
        let Deviation { row, difference, members } = deviation;
        let details = json!({ "table": row.table, "difference": difference, "members": members });
        Self::of_row(Action::RowDeviates, resource_type, *row, &details)
    }

    /// An operator sealed a row as it is, with this state. None of a row that events do not attest, and of
    /// one that is gone.
    pub(crate) fn row_sealed(
        resource_type: ResourceType,
        row: RowName,
        state: Option<&Value>,
    ) -> Self {
        let details = json!({ "table": row.table, "state": state });
        Self::of_row(Action::RowSealed, resource_type, row, &details)
    }

    /// This generation of the row key seals.
    pub(crate) fn row_key_renewed(generation: u32) -> Self {
        let details = json!({ "generation": generation });
        Self::of_security(Action::RowKeyRenewed, ResourceType::Token, &details)
    }

    fn of_row(action: Action, resource_type: ResourceType, row: RowName, details: &Value) -> Self {
        let event = Self::of_security(action, resource_type, details);
        Self { resource_id: Some(row.id), ..event }
    }

    fn of_instance(action: Action) -> Self {
        let details = json!({ "version": env!("CARGO_PKG_VERSION") });
        Self::of_security(action, ResourceType::Instance, &details)
    }

    fn of_session(action: Action, administrator: &Administrator) -> Self {
        match administrator.api_key_id() {
            Some(key) => Self {
                resource_id: Some(key.uuid()),
                ..Self::of_security(action, ResourceType::ApiKey, &json!({}))
            },
            None => {
                let details = json!({ "roles": administrator.roles() });
                Self::of_security(action, ResourceType::Dashboard, &details)
            }
        }
    }

    fn of_security(action: Action, resource_type: ResourceType, details: &Value) -> Self {
        Self { after: to_raw_value(details).ok(), ..Self::bare(action, resource_type) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_little_of_the_text_of_a_client() {
        let long = "A".repeat(60_000);
        let request = RefusedRequest { method: &long, route: None, status: 403 };
        for event in [Event::refused(request), Event::sign_in_failed(&long)] {
            let details = event.after.unwrap();
            assert!(details.get().len() < 1_000, "{}", details.get().len());
        }
    }
}
