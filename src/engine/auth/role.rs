//! The roles of administrators.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::closed_set::ClosedSet;
use crate::resource::{FieldInput, Member, Value, list};
use formats::closed_set;
use formats::closed_set::NamedValue as _;
use formats::json::Text;
use formats::problem::Problems;

closed_set! {
    /// A role of administrators.
    #[derive(PartialOrd, Ord)]
    pub enum Role: "Role" {
        /// Manages everything, admin keys and their roles included.
        Owner = "owner",
        /// Manages and imports keys.
        Custodian = "custodian",
        /// Manages services, policies and the API keys of applications.
        PolicyAdmin = "policy-admin",
        /// Reads and exports the audit logs. Changes nothing.
        Auditor = "auditor",
    }
}

impl ClosedSet for Role {}

/// The roles of an admin key; other keys have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, sqlx::Type, ToSchema)]
#[serde(transparent)]
#[sqlx(transparent, no_pg_array)]
pub struct Roles(Vec<Role>);

impl Roles {
    /// Whether the set has a role of `allowed`.
    pub fn meet(&self, allowed: &[Role]) -> bool {
        self.0.iter().any(|role| allowed.contains(role))
    }

    /// Whether the set has no roles.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The roles in display order.
    pub fn iter(&self) -> impl Iterator<Item = Role> {
        self.0.iter().copied()
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        let mut roles: Vec<Role> = roles.into_iter().collect();
        roles.sort_unstable();
        roles.dedup();
        Self(roles)
    }
}

/// The list can be empty, because keys of applications show an empty one.
impl Value for Roles {
    const INPUT: FieldInput = FieldInput::AnyOf(Role::NAMES);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        if serde_json::from_str::<[&RawValue; 0]>(text.as_str()).is_ok() {
            return Member::Given(Self::default());
        }
        list::<Role>(text, field, problems).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_a_set() {
        let roles = Roles::from_iter([Role::Auditor, Role::Owner, Role::Auditor]);
        assert!(roles.iter().eq([Role::Owner, Role::Auditor]));
        assert!(roles.meet(&[Role::Auditor, Role::Custodian]));
        assert!(!roles.meet(&[Role::Custodian]));
        assert!(!Roles::default().meet(&Role::ALL));
    }
}
