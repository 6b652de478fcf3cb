//! `/admin/emergency`.

use super::answer::{Accepted, Current};
use super::extract::{CreateBody, DecisionBody};
use crate::error::ApiError;
use crate::error_code::errors;
use engine::management::emergency::{self, Emergency, FreezeRequest, UnfreezeRequest};
use engine::management::{Authorized, Expected, FreezeEverything, ReadResources};

type Freeze = CreateBody<FreezeRequest>;
type Unfreeze = DecisionBody<UnfreezeRequest>;

/// Reads the switch that freezes everything.
#[utoipa::path(get, path = "", operation_id = "readEmergency")]
pub(crate) async fn read(
    context: Authorized<ReadResources>,
) -> Result<Current<Emergency>, ApiError> {
    Ok(Current(emergency::read(&context).await?))
}

/// Freezes everything: every operation of every service is refused.
///
/// Look-ups and the health of the service go on. While everything is frozen, this changes nothing.
#[utoipa::path(
    post,
    path = "",
    operation_id = "freezeEverything",
    request_body = Freeze
)]
pub(crate) async fn freeze(
    context: Authorized<FreezeEverything>,
    CreateBody(request): Freeze,
) -> Result<Current<Emergency>, ApiError> {
    Ok(Current(emergency::freeze(&context, request).await?))
}

/// Ends the freeze of everything.
///
/// Services that are frozen by themselves stay it. While nothing is frozen, this changes nothing.
#[utoipa::path(
    post,
    path = "",
    operation_id = "unfreezeEverything",
    request_body = Unfreeze,
    responses(Accepted<'static>, errors::Conflict)
)]
pub(crate) async fn unfreeze(
    context: Authorized<FreezeEverything>,
    DecisionBody(request): Unfreeze,
) -> Result<Current<Emergency>, ApiError> {
    Ok(Current(emergency::unfreeze(&context, &Expected::Any, request).await?))
}
