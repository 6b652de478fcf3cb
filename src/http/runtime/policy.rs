//! `GET /api/v1/policies/{policyNumber}`.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::for_application;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::auth::Frozen;
use engine::ids::PolicyId;
use engine::keys::PublishedJwk;
use engine::management::ResourceType;
use engine::policy::{EnvelopeHeaders, FailureMode, KeyOwnership, PolicyNumber, PolicyStatus};
use engine::protection::PolicyToProtect;
use formats::envelope::{Alg, Enc};

/// The part of a policy that applications can read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PolicySummary {
    id: PolicyId,
    policy_number: PolicyNumber,
    status: PolicyState,
    failure_mode: FailureMode,
    key_ownership: KeyOwnership,
    alg: Alg,
    enc: Enc,
    context_required: bool,
    require_binding: bool,
    #[schema(required = true)]
    headers: Option<EnvelopeHeaders>,
    /// The public key of new envelopes; null if the destination has no active key for `alg`, or if something
    /// is frozen.
    #[schema(required = true)]
    key: Option<PublishedJwk>,
}

/// Whether a policy protects for the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum PolicyState {
    Active,
    Inactive,
    /// Its destination, or everything, is frozen.
    Frozen,
}

impl PolicyState {
    fn of(status: PolicyStatus, frozen: Option<Frozen>) -> Self {
        match (frozen, status) {
            (Some(Frozen::Everything | Frozen::Destination), _) => Self::Frozen,
            (Some(Frozen::Caller) | None, PolicyStatus::Active) => Self::Active,
            (Some(Frozen::Caller) | None, PolicyStatus::Inactive) => Self::Inactive,
        }
    }
}

/// Returns a policy under which the caller can protect, with the public key of its destination.
///
/// Counts towards the rate limit of the caller. The audit log does not record it.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readProtectionPolicy",
    params(("policyNumber" = PolicyNumber, Path)),
    responses(
        (status = 200, description = "The policy.", body = PolicySummary),
        errors::PolicyNotFound,
        errors::OperationNotAllowed
    )
)]
pub(crate) async fn read(
    State(App(app)): State<App>,
    number: Result<Path<String>, PathRejection>,
    request: Request,
) -> impl IntoResponse {
    for_application(&app, request, async |application| {
        // A segment that cannot be decoded is answered like an unknown number.
        let Path(number) = number.map_err(|_| ApiError::Missing(ResourceType::Policy))?;
        let found = app.protection.policy_to_protect(&application, &number);
        let PolicyToProtect { policy, frozen, key } = found.await?;
        Ok(Json(PolicySummary {
            id: policy.id,
            policy_number: policy.policy_number.clone(),
            status: PolicyState::of(policy.status, frozen),
            failure_mode: policy.failure_mode,
            key_ownership: policy.key_ownership,
            alg: policy.alg,
            enc: policy.enc,
            context_required: policy.context_required,
            require_binding: policy.require_binding,
            headers: policy.headers.clone(),
            key,
        }))
    })
    .await
}
