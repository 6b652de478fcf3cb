//! `GET /api/v1/health`.

use std::net::IpAddr;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use hsm::{TokenState, TokenStatus};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::app::{App, AppState};
use crate::caller::unauthenticated;
use crate::database_monitor::DatabaseState;
use crate::error::ApiError;
use engine::auth::{Credentials, Denied};
use engine::ids::KeyId;
use engine::ledger::SealState;
use engine::ledger::forward::ForwardState;
use engine::ratelimit::Counting;
use engine::receive::{AdminCaller, access_token_of_person};
use engine::web::{LoggedCaller, client_address, credentials, write_rate_limit};
use formats::clock::Timestamp;

/// Time limit for authentication: without the database, a remembered caller is enough.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_millis(500);

/// The state, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = HealthStatus)]
enum HealthStatus {
    Ok,
    Degraded,
    Unavailable,
}

#[derive(Serialize, ToSchema)]
struct Health {
    status: HealthStatus,
    version: &'static str,
    timestamp: Timestamp,
    checks: Checks,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthChecks)]
struct Checks {
    database: DatabaseHealth,
    hsm: Hsm,
    audit: Audit,
    rate_limiter: RateLimiter,
    records: Records,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthDatabase)]
struct DatabaseHealth {
    status: HealthStatus,
    latency_ms: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthHsm)]
struct Hsm {
    status: HealthStatus,
    latency_ms: Option<f64>,
    tokens: Vec<TokenHealth>,
    /// Shown to administrators only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    worn_keys: Vec<KeyId>,
    /// Recorded keys that were in no token at the last reconciliation. Shown to administrators only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_keys: Vec<KeyId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthToken)]
struct TokenHealth {
    label: String,
    /// Degraded if the token gives fewer sessions than workers are configured.
    status: HealthStatus,
    /// The workers that have a session of the token.
    workers: usize,
    configured_workers: usize,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthAudit)]
struct Audit {
    status: HealthStatus,
    queued: usize,
}

/// Whether the rows of the database are those that the service wrote, and the latest.
#[derive(Serialize, ToSchema)]
#[schema(as = HealthRecords)]
struct Records {
    status: HealthStatus,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthRateLimiter)]
struct RateLimiter {
    status: HealthStatus,
}

/// Reports the health of the service to any caller.
///
/// Does not count towards the rate limit of the caller. The audit log does not record it.
#[utoipa::path(
    get,
    path = "",
    operation_id = "health",
    responses(
        (status = 200, description = "The service works, possibly degraded.", body = Health),
        (status = 503, description = "The service does not work.", body = Health)
    )
)]
pub(crate) async fn health(State(App(app)): State<App>, request: Request) -> impl IntoResponse {
    let client = client_address(request.extensions());
    let parts = request.into_parts().0;
    let credentials = credentials(&parts.headers, &parts.extensions);
    let caller = match identify(&app, &credentials, client).await {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    LoggedCaller::note(&parts.extensions, caller.id());
    // The keys of all services are shown to administrators only. A person can lack a role.
    let administrator = caller.clone().administrator();
    let health = if administrator.is_ok_and(|it| !it.roles().is_empty()) {
        check(&app)
    } else {
        check(&app).without_keys()
    };
    let status = match health.status {
        HealthStatus::Ok | HealthStatus::Degraded => StatusCode::OK,
        HealthStatus::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = (status, Json(health)).into_response();
    write_rate_limit(caller.rate_limit(&app.engine).await, response.headers_mut());
    response
}

/// Authenticates the caller; without the database, a remembered caller is enough.
async fn identify(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<AdminCaller, ApiError> {
    let known = async {
        match app.engine.authenticate(credentials, client).await {
            Err(denied @ Denied::Refused(_)) => {
                let provider = app.provider.as_ref();
                let person = access_token_of_person(&app.engine, provider, credentials, client);
                person.await?.map(AdminCaller::Person).ok_or(denied)
            }
            known => known.map(AdminCaller::Caller),
        }
    };
    match timeout(AUTHENTICATION_TIMEOUT, known).await {
        Ok(Ok(caller)) => Ok(caller),
        Ok(Err(denied @ (Denied::Refused(_) | Denied::Crowded))) => {
            Err(unauthenticated(app, client, denied).await)
        }
        Ok(Err(Denied::Unreadable(_))) | Err(_) => {
            let remembered = app.engine.authenticator.recall(credentials, client).await;
            let remembered = remembered.map(AdminCaller::Caller);
            remembered.map_err(|_| ApiError::Unavailable)
        }
    }
}

impl Health {
    fn without_keys(mut self) -> Self {
        self.checks.hsm.worn_keys.clear();
        self.checks.hsm.missing_keys.clear();
        self
    }
}

fn check(app: &AppState) -> Health {
    let state = app.database_monitor.state();
    let database = DatabaseHealth {
        status: match state {
            DatabaseState::Answers(_) => HealthStatus::Ok,
            DatabaseState::Unavailable => HealthStatus::Unavailable,
            DatabaseState::Unknown => HealthStatus::Degraded,
        },
        latency_ms: state.latency().map(millis),
    };
    let worn = app.database_monitor.worn();
    let missing = app.vault.latest().map(|latest| latest.missing.clone());
    // The log and the metrics name the jobs. A state of keys is unknown without its job.
    let is_unknown = app.seal_status.state() == SealState::Unknown
        || app.forward_status.state() == ForwardState::Unknown;
    let jobs = match app.engine.jobs.missing().is_empty() && !is_unknown {
        true => HealthStatus::Ok,
        false => HealthStatus::Degraded,
    };
    let hsm = hsm(
        app.engine.token.status().tokens,
        worn.map_or_else(Vec::new, |worn| worn.as_ref().clone()),
        missing.unwrap_or_default(),
    );
    let recorder = &app.engine.recorder;
    let audit = Audit {
        status: recorder.is_healthy().map_or(HealthStatus::Degraded, working),
        queued: recorder.queued(),
    };
    let rate_limiter = RateLimiter {
        status: match app.engine.limiter.counting() {
            Counting::Alone | Counting::Together => HealthStatus::Ok,
            Counting::Apart(_) | Counting::Unknown => HealthStatus::Degraded,
        },
    };
    let seals = app.engine.database.seals();
    let records = Records {
        status: match (seals.are_reliable(), seals.is_clean() && app.row_examination.is_recent()) {
            (false, _) => HealthStatus::Unavailable,
            (true, false) => HealthStatus::Degraded,
            (true, true) => HealthStatus::Ok,
        },
    };
    // Without a token, protect, hash and verify still work.
    let status = database
        .status
        .max(audit.status)
        .max(rate_limiter.status)
        .max(records.status)
        .max(jobs)
        .max(hsm.status.min(HealthStatus::Degraded));
    Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        timestamp: app.engine.clock.now(),
        checks: Checks { database, hsm, audit, rate_limiter, records },
    }
}

fn hsm(tokens: Vec<TokenStatus>, worn_keys: Vec<KeyId>, missing_keys: Vec<KeyId>) -> Hsm {
    let latency_ms = tokens.iter().filter_map(|token| token.canary).max().map(millis);
    let tokens: Vec<_> = tokens
        .into_iter()
        .map(|token| TokenHealth {
            status: match token.state == TokenState::Serving {
                true if token.workers < token.workers_configured => HealthStatus::Degraded,
                is_serving => working(is_serving),
            },
            label: token.label,
            workers: token.workers,
            configured_workers: token.workers_configured,
        })
        .collect();
    let is_well = |token: &TokenHealth| token.status == HealthStatus::Ok;
    let is_serving = |token: &TokenHealth| token.status != HealthStatus::Unavailable;
    let status = match (tokens.iter().all(is_well), tokens.iter().any(is_serving)) {
        (true, true) if worn_keys.is_empty() && missing_keys.is_empty() => HealthStatus::Ok,
        (_, true) => HealthStatus::Degraded,
        (_, false) => HealthStatus::Unavailable,
    };
    Hsm { status, latency_ms, tokens, worn_keys, missing_keys }
}

fn working(is_working: bool) -> HealthStatus {
    if is_working { HealthStatus::Ok } else { HealthStatus::Unavailable }
}

/// Milliseconds with at most three decimals.
fn millis(span: Duration) -> f64 {
    span.as_micros() as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_have_at_most_three_decimals() {
        for (nanos, shown) in [(1_234_567, "1.234"), (300_000, "0.3"), (2_100_000, "2.1")] {
            assert_eq!(millis(Duration::from_nanos(nanos)).to_string(), shown);
        }
    }
}
