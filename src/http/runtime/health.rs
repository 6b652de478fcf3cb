//! `GET /api/v1/health`.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use hsm::{TokenState, TokenStatus};
use serde::Serialize;
use sqlx::PgPool;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::auth::{Caller, Denied};
use crate::clock::{Clock, Timestamp};
use crate::db;
use crate::http::app::App;
use crate::http::caller::{authorization, client_address, look, refused, tell};
use crate::http::error::Fault;
use crate::ids::KeyId;
use crate::keys::Encryptions;
use crate::ratelimit::Counting;

/// What of health has to be asked of the database, asked in the last second. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<Beat>);

#[derive(Debug, Default)]
struct Beat {
    /// How long the database took to answer, in microseconds.
    latency: AtomicU64,
    /// Keys that have encrypted so often that they should be replaced.
    worn: Mutex<Vec<KeyId>>,
}

/// An answer from the database that took longer is as bad as none.
const PATIENCE: Duration = Duration::from_millis(500);

/// Between two questions: with the patience, a change shows within a second.
const PAUSE: Duration = Duration::from_millis(250);

/// The latency of a database that does not answer.
const SILENCE: u64 = 0;

impl Pulse {
    /// Asks the database once, so that what is told from the first answer on is true.
    pub async fn first(clock: &Clock, database: &PgPool, encryptions: &Encryptions) -> Self {
        let pulse = Self::default();
        pulse.beat(clock, database, encryptions).await;
        pulse
    }

    /// Asks the database again and again, for as long as this is polled.
    pub async fn keep(
        self,
        clock: Clock,
        database: PgPool,
        encryptions: &Encryptions,
    ) -> Infallible {
        loop {
            tokio::time::sleep(PAUSE).await;
            self.beat(&clock, &database, encryptions).await;
        }
    }

    async fn beat(&self, clock: &Clock, database: &PgPool, encryptions: &Encryptions) {
        let asked = clock.monotonic();
        let latency = if db::answers(database, PATIENCE).await {
            let took = clock.monotonic().saturating_sub(asked);
            u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1)
        } else {
            SILENCE
        };
        self.0.latency.store(latency, Ordering::Relaxed);
        // With the database away, what was known before stays true.
        if latency != SILENCE
            && let Ok(Ok(worn)) = timeout(PATIENCE, encryptions.worn()).await
        {
            let worn = worn.into_iter().map(|(key, _)| key).collect();
            *self.0.worn.lock().unwrap_or_else(PoisonError::into_inner) = worn;
        }
    }

    /// How long the database took to answer last; none while it does not.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match self.0.latency.load(Ordering::Relaxed) {
            SILENCE => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }

    /// Keys that have encrypted so often that they should be replaced.
    #[must_use]
    pub fn worn(&self) -> Vec<KeyId> {
        self.0
            .worn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// In order of merit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = HealthStatus)]
enum Status {
    Ok,
    Degraded,
    Unavailable,
}

#[derive(Serialize, ToSchema)]
struct Health {
    status: Status,
    version: &'static str,
    timestamp: Timestamp,
    checks: Checks,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthChecks)]
struct Checks {
    database: Database,
    hsm: Hsm,
    audit: Audit,
    rate_limiter: RateLimiter,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthDatabase)]
struct Database {
    status: Status,
    latency_ms: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HealthHsm)]
struct Hsm {
    status: Status,
    latency_ms: Option<f64>,
    tokens: Vec<Token>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    worn_keys: Vec<KeyId>,
    /// Recorded keys that no token held when they were last compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_keys: Vec<KeyId>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthToken)]
struct Token {
    label: String,
    status: Status,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthAudit)]
struct Audit {
    status: Status,
    queued: usize,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthRateLimiter)]
struct RateLimiter {
    status: Status,
}

/// Tells any caller how the service is.
///
/// Takes nothing from the caller's limit, and is not recorded.
#[utoipa::path(
    get,
    path = "",
    operation_id = "health",
    responses(
        (status = 200, description = "It works, if perhaps not all of it.", body = Health),
        (status = 503, description = "It does not work.", body = Health)
    )
)]
pub(in crate::http) async fn health(State(app): State<App>, request: Request) -> impl IntoResponse {
    let client = client_address(&request);
    let headers = request.into_parts().0.headers;
    let caller = match identify(&app, &headers, client).await {
        Ok(caller) => caller,
        Err(fault) => return fault.into_response(),
    };
    let health = examine(&app);
    let status = match health.status {
        Status::Ok | Status::Degraded => StatusCode::OK,
        Status::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = (status, Json(health)).into_response();
    tell(look(&app, &caller).await, response.headers_mut());
    response
}

/// The caller; with the database away, as far as it is remembered.
async fn identify(app: &App, headers: &HeaderMap, client: IpAddr) -> Result<Caller, Fault> {
    let authorization = authorization(headers);
    let known = app.authenticator.authenticate(authorization, client);
    let refusal = match timeout(PATIENCE, known).await {
        Ok(Ok(caller)) => return Ok(caller),
        Ok(Err(Denied::Refused(refusal))) => refusal,
        Ok(Err(Denied::Unreadable(_))) | Err(_) => {
            let remembered = app.authenticator.recall(authorization, client).await;
            return remembered.map_err(|_| Fault::Unavailable);
        }
    };
    Err(refused(app, client, refusal).await)
}

fn examine(app: &App) -> Health {
    let latency = app.pulse.latency();
    let database = Database {
        status: working(latency.is_some()),
        latency_ms: latency.map(millis),
    };
    let missing = app.vault.latest().missing.clone();
    let hsm = hsm(app.token.status().tokens, app.pulse.worn(), missing);
    let audit = Audit {
        status: working(app.recorder.is_healthy()),
        queued: app.recorder.queued(),
    };
    let rate_limiter = RateLimiter {
        status: match app.limiter.counting() {
            Counting::Alone | Counting::Together => Status::Ok,
            Counting::Apart(_) => Status::Degraded,
        },
    };
    // Without any token there is still protecting, hashing and verifying.
    let status = database
        .status
        .max(audit.status)
        .max(rate_limiter.status)
        .max(hsm.status.min(Status::Degraded));
    Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        timestamp: app.clock.now(),
        checks: Checks {
            database,
            hsm,
            audit,
            rate_limiter,
        },
    }
}

fn hsm(tokens: Vec<TokenStatus>, worn_keys: Vec<KeyId>, missing_keys: Vec<KeyId>) -> Hsm {
    let latency_ms = tokens
        .iter()
        .filter_map(|token| token.canary)
        .max()
        .map(millis);
    let tokens: Vec<_> = tokens
        .into_iter()
        .map(|token| Token {
            label: token.label,
            status: working(token.state == TokenState::Serving),
        })
        .collect();
    let is_serving = |token: &Token| token.status == Status::Ok;
    let status = match (tokens.iter().all(is_serving), tokens.iter().any(is_serving)) {
        (true, true) if worn_keys.is_empty() && missing_keys.is_empty() => Status::Ok,
        (_, true) => Status::Degraded,
        (_, false) => Status::Unavailable,
    };
    Hsm {
        status,
        latency_ms,
        tokens,
        worn_keys,
        missing_keys,
    }
}

fn working(is_working: bool) -> Status {
    if is_working {
        Status::Ok
    } else {
        Status::Unavailable
    }
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}
