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
use engine::keys::PublishedJwk;
use engine::management::ResourceType;
use engine::policy::{FailureMode, KeyOwnership, PolicyNumber, PolicyStatus};
use formats::envelope::{Alg, Enc};

/// The part of a policy that applications can read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PolicySummary {
    policy_number: PolicyNumber,
    status: PolicyStatus,
    failure_mode: FailureMode,
    key_ownership: KeyOwnership,
    alg: Alg,
    enc: Enc,
    context_required: bool,
    /// The public key of new envelopes; null if the destination has no active key for `alg`.
    #[schema(required = true)]
    key: Option<PublishedJwk>,
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
        let (policy, key) = found.await?;
        Ok(Json(PolicySummary {
            policy_number: policy.policy_number.clone(),
            status: policy.status,
            failure_mode: policy.failure_mode,
            key_ownership: policy.key_ownership,
            alg: policy.alg,
            enc: policy.enc,
            context_required: policy.context_required,
            key,
        }))
    })
    .await
}
