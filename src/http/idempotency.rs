//! The middleware for requests with an `Idempotency-Key`.

use std::time::Duration;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::ExposeSecret as _;
use tracing::Instrument as _;

use super::app::{App, AppState};
use super::body;
use super::error::ApiError;
use engine::auth::{Administrator, Authorization, Person};
use engine::body_memory::BodyBytes;
use engine::db::Pool;
use engine::management::{Claim, ClaimState, IdempotentCall};
use engine::web::{authorization, is_absent, unread};
use formats::problem::{Code, Problem};

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How much longer than its time limit a request can hold its key. After a crash, the key is free then.
const MARGIN: Duration = Duration::from_secs(5);

/// Resources have shorter paths, in bytes. Postgres cannot index a much longer path.
const LONGEST_PATH: usize = 1024;

/// What the fingerprint of a body is for.
const PURPOSE: &[u8] = b"sealward idempotency v1\0";

/// Carries out a `POST` with an `Idempotency-Key` once. When it is sent again, it gets the same answer.
pub(super) async fn idempotent(
    State(App(app)): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let is_idempotent = *request.method() == Method::POST
        && request.headers().contains_key(&IDEMPOTENCY_KEY)
        && !takes_away(&request)
        && request.uri().path().len() <= LONGEST_PATH;
    if !is_idempotent {
        return next.run(request).await;
    }
    match begin(&app, request).await {
        Ok((ClaimState::First(claim), request)) => {
            run(app.engine.database.clone(), claim, request, next).await
        }
        // `Authorized` checks the role and then answers in place of the handler.
        Ok((state, mut request)) => {
            request.extensions_mut().insert::<ClaimState>(state);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// Whether the request freezes everything or locks a person. Doing so twice has no effect, or is refused. Doing so
/// again after its end must have one, whatever the answer was before.
fn takes_away(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let taking_away = ["/admin/emergency/freeze", "/admin/people", "/admin/people/{id}/lock"];
    route.is_some_and(|route| taking_away.contains(&route))
}

/// Reads the body and claims the key.
async fn begin(app: &AppState, request: Request) -> Result<(ClaimState, Request), ApiError> {
    let key = key(request.headers())?;
    let (mut parts, mut body) = request.into_parts();
    let administrator = parts.extensions.get::<Administrator>();
    // A route without authentication before it is a defect of the router.
    let administrator = administrator.ok_or(ApiError::Internal)?;
    let (caller, person) = (administrator.id(), administrator.person().cloned());
    let engine = &app.engine;
    let limits = &engine.settings.limits;
    let memory = engine.body_memory.of(caller.uuid());
    let is_declared = parts.headers.contains_key(CONTENT_TYPE);
    let body = if !is_declared && is_absent(&parts, &mut body).await? {
        // The handler decides whether the request needs one.
        BodyBytes::default()
    } else {
        body::read(&parts, body, limits.max_body_bytes, Some(memory)).await?
    };
    let call = IdempotentCall {
        caller,
        path: parts.uri.path().to_owned(),
        key,
        fingerprint: fingerprint(secret(app, &parts.headers, person.as_deref())?, &body)?,
    };
    let patience = limits.request_timeout.0 + MARGIN;
    let now = engine.clock.now();
    let state = call.claim(&engine.database, &engine.entropy, now, patience);
    let state = state.await?;
    if let ClaimState::First(claim) = &state {
        parts.extensions.insert::<Claim>(claim.clone());
    }
    Ok((state, unread(parts, body)))
}

/// Runs the first request in a task of its own: if the client disconnects, its answer is still kept.
async fn run(database: Pool, claim: Claim, request: Request, next: Next) -> Response {
    let run = async move {
        let response = next.run(request).await;
        // A request that failed, or that had no effect, has no kept answer.
        if let Err(error) = claim.release(&database).await {
            tracing::warn!(%error, "an Idempotency-Key without an answer could not be released");
        }
        response
    };
    let response = tokio::spawn(run.in_current_span()).await;
    response.unwrap_or_else(|_| ApiError::Internal.into_response())
}

fn key(headers: &HeaderMap) -> Result<String, ApiError> {
    let problem = |code| {
        let message = "must be 1 to 128 printable ASCII characters in one header";
        ApiError::Problems(vec![Problem::new("Idempotency-Key", code, message)])
    };
    let mut given = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let first = given.next().map_or(b"".as_slice(), HeaderValue::as_bytes);
    if given.next().is_some() || !first.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Err(problem(Code::Format));
    }
    match std::str::from_utf8(first) {
        Ok(key) if (1..=128).contains(&key.len()) => Ok(key.to_owned()),
        _ => Err(problem(Code::Length)),
    }
}

/// The key of fingerprints: a secret of the caller that the database does not have. An API key is one. The
/// access tokens of a person change, so the secret of this service at the provider takes their place.
fn secret<'a>(
    app: &'a AppState,
    headers: &'a HeaderMap,
    person: Option<&Person>,
) -> Result<&'a [u8], ApiError> {
    if person.is_some() {
        let provider = app.provider.as_ref().ok_or(ApiError::Internal)?;
        return Ok(provider.secret().expose_secret().as_bytes());
    }
    let Authorization::One(credential) = authorization(headers) else {
        return Err(ApiError::Internal);
    };
    let mut parts = credential.trim_ascii_end().rsplit(|byte| *byte == b' ');
    let credential = parts.next();
    Ok(credential.unwrap_or_default())
}

/// An HMAC of the body with a secret, so that the fingerprint of a body with little entropy reveals nothing.
fn fingerprint(secret: &[u8], body: &[u8]) -> Result<[u8; 32], ApiError> {
    let key = hmac::Key::new(HMAC_SHA256, secret);
    let mut mac = hmac::Context::with_key(&key);
    mac.update(PURPOSE);
    mac.update(body);
    let tag = mac.sign();
    tag.as_ref().try_into().map_err(|_| ApiError::Internal)
}
