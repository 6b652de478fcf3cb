//! Receives a runtime request: caller, rate limit and body.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use super::respond::respond;
use crate::app::AppState;
use crate::body;
use crate::caller::no_application;
use crate::error::ApiError;
use engine::audit::Endpoint;
use engine::auth::Credentials;
use engine::protection::{Batch, RecordedStatus};
use engine::receive::{
    self, Anonymous, ApiRules, NotReceived, Reading, Received, anonymous_record,
};
use engine::settings::Limits;
use engine::web::{UnreadableBody, credentials};
use formats::json::Text;

/// The rules of this API for its requests.
pub(super) const RULES: ApiRules =
    ApiRules { credentials: credentials_of, check_body: body::check_media, answer_bytes: 4_096 };

fn credentials_of(parts: &Parts) -> Credentials<'_> {
    credentials(&parts.headers, &parts.extensions)
}

/// Receives a request to `endpoint`.
pub(super) async fn receive(
    app: &AppState,
    endpoint: Endpoint,
    request: Request,
) -> Result<Received, Response> {
    let batch = batch_of(endpoint);
    let count = batch.map(|batch| move |body: &[u8]| batch.tokens(body));
    let reading = Reading {
        endpoint,
        limit: body_limit(endpoint, &app.engine.settings.limits),
        tokens: count.as_ref().map(|count| count as _),
    };
    match receive::receive(&app.engine, &app.protection, RULES, reading, request).await {
        Ok(received) => Ok(received),
        Err(NotReceived::Refused(answered, bucket)) => Err(respond(answered, bucket, None)),
        // Its future is large, and each request would move it.
        Err(NotReceived::Anonymous(anonymous)) => {
            Err(Box::pin(reject_anonymous(app, *anonymous)).await)
        }
    }
}

/// The maximum size of a body. `/operations` checks the limit of its operation itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other endpoints are of another API")]
pub(super) fn body_limit(endpoint: Endpoint, limits: &Limits) -> usize {
    match endpoint {
        Endpoint::ProtectBatch => limits.max_batch_bytes,
        Endpoint::UnprotectBatch | Endpoint::RewrapBatch => limits.opening_batch_bytes(),
        Endpoint::Unprotect | Endpoint::Rewrap | Endpoint::Operations => limits.envelope_bytes(),
        _ => limits.max_body_bytes,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only these endpoints have batches")]
fn batch_of(endpoint: Endpoint) -> Option<Batch> {
    match endpoint {
        Endpoint::ProtectBatch => Some(Batch::Protect),
        Endpoint::UnprotectBatch => Some(Batch::Unprotect),
        Endpoint::RewrapBatch => Some(Batch::Rewrap),
        _ => None,
    }
}

/// Refuses an unauthenticated request; its audit record is not awaited.
async fn reject_anonymous(app: &AppState, anonymous: Anonymous) -> Response {
    let Anonymous { origin, parts, denied, body } = anonymous;
    let credentials = credentials_of(&parts);
    let error = match body {
        Err(
            unread @ (UnreadableBody::OtherMedia
            | UnreadableBody::Encoded
            | UnreadableBody::BrokenOff
            | UnreadableBody::Late),
        ) => unread.into(),
        // The syntax of the body is unknown.
        Err(UnreadableBody::TooLarge | UnreadableBody::NoMemory) => {
            no_application(app, &credentials, origin.client, denied).await
        }
        Ok(body) => match Text::parse(&body) {
            Ok(_) => no_application(app, &credentials, origin.client, denied).await,
            Err(not_json) => ApiError::from(not_json),
        },
    };
    let description = error.describe();
    let status = RecordedStatus::refused(description.code.answer_status());
    let record = anonymous_record(&origin, status, description.message);
    app.engine.recorder.submit_anonymous(record);
    error.into_response()
}
