//! The resources that refer to another one, so that it cannot be deleted.

use super::{Error, ResourceType};

/// How many are named.
const NAMED: usize = 20;

/// The resources that refer to another one.
#[derive(Clone, Debug, Default)]
pub(super) struct Referrers {
    /// Their types with their names.
    pub(super) names: Vec<String>,
    /// How to remove references that are not obvious.
    pub(super) advice: Option<&'static str>,
}

impl Referrers {
    /// Fails if there is one. `of` is the type of the resource to which they refer.
    pub(super) fn check_none(self, of: ResourceType) -> Result<(), Error> {
        if self.names.is_empty() {
            return Ok(());
        }
        let named =
            self.names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let advice = self.advice.map(|advice| format!(": {advice}")).unwrap_or_default();
        let of = of.name();
        Err(Error::Conflict(format!("the {of} is still referred to by {named}{more}{advice}")))
    }
}
