//! The filter of a list of changes.

use utoipa::IntoParams;

use super::proposal::ChangeStatus;
use crate::change_kind::ChangeKind;

/// The filter of a list of changes.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ChangeFilter {
    /// Changes with this status.
    pub status: Option<ChangeStatus>,
    /// Changes of this kind.
    pub action: Option<ChangeKind>,
}
