//! The filters of the register.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Day, KeyEntry};
use crate::policy::PolicyNumber;
use formats::material::Algorithm;

/// What a report is asked for.
#[derive(Clone, Debug, Default)]
pub struct RegisterRequest {
    /// The last day whose uses count; none for yesterday.
    pub at: Option<Day>,
    /// The keys of the report.
    pub filter: RegisterFilter,
}

/// The keys that a register contains: those that match all members that are not null.
#[derive(Clone, Debug, Default, IntoParams, PartialEq, Eq, Serialize, ToSchema)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRegisterFilter)]
pub struct RegisterFilter {
    /// Keys with this algorithm.
    pub algorithm: Option<Algorithm>,
    /// Keys whose strength is below this number of bits.
    #[param(minimum = 1, maximum = 512)]
    pub strength_below: Option<u16>,
    /// Keys that this policy uses, also after its deletion.
    pub policy_number: Option<PolicyNumber>,
}

impl RegisterFilter {
    /// Whether the register contains a key. One whose row does not count is in each, because its members can be wrong.
    pub(super) fn includes(&self, key: &KeyEntry) -> bool {
        key.seal_valid == Some(false) || self.matches(key)
    }

    fn matches(&self, key: &KeyEntry) -> bool {
        self.algorithm.is_none_or(|algorithm| key.algorithm == algorithm)
            && self.strength_below.is_none_or(|bits| key.strength < bits)
            && self.policy_number.as_ref().is_none_or(|number| {
                key.policies.iter().any(|policy| policy.policy_number == *number)
            })
    }
}

impl std::fmt::Display for RegisterFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let algorithm = self.algorithm.map(|it| format!("algorithm={it}"));
        let strength = self.strength_below.map(|it| format!("strengthBelow={it}"));
        let policy = self.policy_number.as_ref().map(|it| format!("policyNumber={}", it.as_str()));
        let parts: Vec<String> = [algorithm, strength, policy].into_iter().flatten().collect();
        f.write_str(&parts.join("&"))
    }
}
