//! `GET /api/v1/caller`.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::for_application;
use engine::auth::RateLimit;
use engine::ids::{CredentialId, ServiceId};
use engine::operation::Operations;
use engine::policy::PolicyNumber;

/// The caller, as its credential identifies it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CallerIdentity {
    service_id: ServiceId,
    credential: Credential,
    /// The policy that is bound to the credential.
    #[schema(required = true)]
    policy_number: Option<PolicyNumber>,
    /// The operations that the credential allows; null if it allows all of them.
    #[schema(required = true)]
    allowed_operations: Option<Operations>,
    rate_limit: RateLimit,
}

#[derive(Serialize, ToSchema)]
struct Credential {
    r#type: CredentialType,
    id: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CredentialType {
    ApiKey,
    Identity,
}

/// Returns the identity, the permissions and the rate limit of the caller.
///
/// Counts towards the rate limit of the caller. The audit log does not record it.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readCaller",
    responses((status = 200, description = "The caller.", body = CallerIdentity))
)]
pub(crate) async fn read(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    for_application(&app, request, async |application| {
        let policy = app.protection.bound_policy(&application).await?;
        Ok(Json(CallerIdentity {
            service_id: application.service_id(),
            credential: Credential {
                r#type: match application.credential_id() {
                    CredentialId::ApiKey(_) => CredentialType::ApiKey,
                    CredentialId::Identity(_) => CredentialType::Identity,
                },
                id: application.credential_id().to_string(),
            },
            policy_number: policy.map(|policy| policy.policy_number.clone()),
            allowed_operations: application.allowed_operations(),
            rate_limit: application.rate_limit(),
        }))
    })
    .await
}
