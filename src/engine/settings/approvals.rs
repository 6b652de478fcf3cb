//! Settings of the approval of changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change_kind::ChangeKind;

/// Changes that another person must approve. Only these settings can turn approvals off.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Approvals {
    /// The kinds of change that need approval: `key.import`, `key.adopt`, `key.activate`,
    /// `key.destroy`, `policy.open`, `credential.open`, `api-key.admin`. A list that is not empty
    /// always includes `api-key.admin`. Default: no change needs approval.
    #[schemars(with = "Vec<String>")]
    pub required: Vec<ChangeKind>,
    /// How many other people must approve a change: 1 to 10. A change that a credential without a
    /// person proposes needs one more.
    pub approvers: u8,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { required: Vec::new(), approvers: 1 }
    }
}

impl Approvals {
    /// Whether changes of this kind need approval.
    pub fn require(&self, kind: ChangeKind) -> bool {
        let is_on = !self.required.is_empty();
        self.required.contains(&kind) || (is_on && kind == ChangeKind::ApiKeyAdmin)
    }

    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if !(1..=10).contains(&self.approvers) {
            found.push("approvals.approvers must be 1 to 10".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_not_empty_includes_admin_keys() {
        let off = Approvals::default();
        assert!(ChangeKind::ALL.iter().all(|kind| !off.require(*kind)));
        let on = Approvals { required: vec![ChangeKind::PolicyOpen], ..off };
        let required = ChangeKind::ALL.into_iter().filter(|kind| on.require(*kind));
        assert!(required.eq([ChangeKind::PolicyOpen, ChangeKind::ApiKeyAdmin]));
    }
}
