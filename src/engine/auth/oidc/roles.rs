//! The roles of a person by their groups.

use crate::auth::{Role, Roles};
use crate::settings::RoleGroups;

/// The roles of a person in these groups.
pub(super) fn of_groups(map: &RoleGroups, groups: &[&str]) -> Roles {
    let has = |role: &Role| with_role(map, *role).iter().any(|it| groups.contains(&it.as_str()));
    Role::ALL.into_iter().filter(has).collect()
}

/// The roles that no group has.
pub fn without_groups(map: &RoleGroups) -> impl Iterator<Item = Role> {
    let all = Role::ALL.into_iter();
    all.filter(|role| with_role(map, *role).is_empty())
}

/// The groups that have `role`.
fn with_role(map: &RoleGroups, role: Role) -> &[String] {
    match role {
        Role::Owner => &map.owner,
        Role::Custodian => &map.custodian,
        Role::PolicyAdmin => &map.policy_admin,
        Role::Auditor => &map.auditor,
    }
}
