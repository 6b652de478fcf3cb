//! Makes the proposal of a change.

use std::time::Duration;

use serde_json::Value;

use super::call::{StoredRequest, Verb};
use super::proposal::{ChangeStatus, Proposal, Proposer, Target};
use crate::change_kind::ChangeKind;
use crate::ids::ChangeId;
use crate::management::{Event, ResourceType};
use crate::revision::Revision;
use crate::settings::Approvals;
use formats::clock::Timestamp;

/// How long a change can be approved.
const OPEN: Duration = Duration::from_secs(72 * 60 * 60);

/// Members of a new resource that it gets only when it is created.
const OF_CREATION: [&str; 3] = ["id", "createdAt", "updatedAt"];

/// Those of these kinds that need approval, each once, in display order.
pub(in crate::management) fn needed(
    approvals: &Approvals,
    kinds: &[ChangeKind],
) -> Vec<ChangeKind> {
    let all = ChangeKind::ALL.into_iter();
    all.filter(|kind| kinds.contains(kind) && approvals.require(*kind)).collect()
}

impl Proposal {
    /// The proposal of a use case, whose change `event` records.
    pub(in crate::management) fn of(
        (id, now): (ChangeId, Timestamp),
        approvals: &Approvals,
        proposed_by: Proposer,
        call: &StoredRequest,
        kinds: Vec<ChangeKind>,
        event: &Event,
    ) -> Self {
        let (before, mut after) = event.states();
        if let (None, Some(Value::Object(members))) = (&before, &mut after) {
            members.retain(|name, _| !OF_CREATION.contains(&name.as_str()));
        }
        let latest = now.plus(OPEN);
        Self {
            id,
            summary: summary(call, &kinds, before.as_ref().or(after.as_ref())),
            action: kinds,
            resource_type: call.resource_type,
            resource_id: None,
            required: required(approvals, &proposed_by),
            proposed_by,
            proposed_at: now,
            expires_at: call.usable_until.map_or(latest, |end| end.min(latest)),
            approvals: Vec::new(),
            rejection: None,
            status: ChangeStatus::Pending,
            before,
            after,
            seal_valid: None,
            approver_ids: Vec::new(),
            target: event.state_before().map(|(id, revision)| Target { id, revision }),
            revision: Revision::FIRST,
        }
    }
}

/// How many people must approve what this author proposes.
pub(super) fn required(approvals: &Approvals, proposed_by: &Proposer) -> i32 {
    i32::from(approvals.approvers) + i32::from(proposed_by.person.is_none())
}

fn summary(call: &StoredRequest, kinds: &[ChangeKind], state: Option<&Value>) -> String {
    let verb = match call.verb {
        Verb::Create if kinds.contains(&ChangeKind::KeyImport) => "Import",
        Verb::Create if kinds.contains(&ChangeKind::KeyAdopt) => "Adopt",
        Verb::Create => "Create",
        Verb::Update => "Change",
        Verb::Delete => "Delete",
        Verb::Restore => "Restore",
        Verb::Unlock => "Unlock",
    };
    let noun = if call.resource_type == ResourceType::ApiKey {
        "API key".to_owned()
    } else {
        call.resource_type.name().replace('_', " ")
    };
    if call.resource_type == ResourceType::Emergency {
        return "Unfreeze all services".to_owned();
    }
    match state.and_then(|state| state.get("name")?.as_str()) {
        Some(name) => format!("{verb} the {noun} {QUOTE}{name}\u{201d}"),
        None => format!("{verb} a {noun}"),
    }
}

/// What precedes the name of the resource in a summary, and nothing else in it.
const QUOTE: char = '\u{201c}';

/// A summary for readers who may not see the name of the resource.
pub(super) fn without_name(summary: &str) -> String {
    let before = summary.split(QUOTE).next().unwrap_or_default();
    before.trim_end().to_owned()
}
