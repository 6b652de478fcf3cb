//! Receives a runtime request: caller, rate limit and body.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use tracing::Instrument as _;

use super::respond::respond;
use crate::app::AppState;
use crate::body;
use crate::caller::{client_address, no_application};
use engine::audit::{Endpoint, Record};
use engine::auth::{Caller, Credentials, Denied};
use engine::body_memory::{BodyBytes, BodyShare, SMALL_BODY};
use engine::protection::{Batch, Call, Refusal, UnreadableBody};
use engine::ratelimit::{BucketState, network_of};
use engine::request_tag::RequestTag;
use engine::settings::Limits;
use engine::telemetry::step;
use engine::web::{LoggedCaller, credentials};
use formats::json::Text;

/// A request of an identified caller, with its body.
pub(super) struct Received {
    pub(super) call: Call,
    pub(super) body: BodyBytes,
    pub(super) standing: BucketState,
    /// The memory of the body and of the response.
    pub(super) share: Option<Arc<BodyShare>>,
}

/// Reading a body that takes longer has the credential checked again.
const CREDENTIAL_FRESHNESS: Duration = Duration::from_millis(250);

/// The facts about a request that its record needs.
struct Origin {
    endpoint: Endpoint,
    arrived: Duration,
    tag: RequestTag,
    client: IpAddr,
}

/// Receives a request. The credential is checked before the body is read; the order of refusals is
/// kept all the same: malformed JSON comes before a bad credential.
pub(super) async fn receive(
    app: &AppState,
    endpoint: Endpoint,
    request: Request,
) -> Result<Received, Response> {
    let origin = Origin {
        endpoint,
        arrived: app.engine.clock.monotonic(),
        tag: request
            .extensions()
            .get::<RequestTag>()
            .cloned()
            .unwrap_or_else(|| app.engine.new_request_tag()),
        client: client_address(&request),
    };
    let (parts, body) = request.into_parts();
    let credentials = credentials(&parts.headers, &parts.extensions);
    match app.engine.authenticate(&credentials, origin.client).instrument(step!("caller")).await {
        Ok(caller) => {
            LoggedCaller::note(&parts.extensions, caller.id());
            receive_body(app, origin, caller, &parts, body).await
        }
        Err(denied) => {
            let limit = app.engine.settings.limits.max_body_bytes;
            let body = read_refused(app, origin.client, &parts, body, limit).await;
            Err(reject_anonymous(app, origin, (&credentials, denied), body).await)
        }
    }
}

/// Reads the body of a request that will be refused.
async fn read_refused(
    app: &AppState,
    client: IpAddr,
    parts: &Parts,
    body: Body,
    limit: usize,
) -> Result<BodyBytes, UnreadableBody> {
    let refused = &app.engine.body_memory.refused;
    match refused.try_take(Some(network_of(client)), 1) {
        Some(_permit) => body::read(parts, body, limit, None).await,
        None => Err(UnreadableBody::NoMemory),
    }
}

async fn receive_body(
    app: &AppState,
    origin: Origin,
    caller: Caller,
    parts: &Parts,
    body: Body,
) -> Result<Received, Response> {
    let admitted = app.engine.admit(&caller).instrument(step!("limit")).await;
    let limit = body_limit(origin.endpoint, &app.engine.settings.limits);
    let body = if admitted.is_ok() {
        body::read(parts, body, limit, Some(app.engine.memory_of(&caller))).await
    } else {
        // Without a token, the body is read for its syntax only.
        read_refused(app, origin.client, parts, body, limit).await
    };
    let caller = match revalidate(app, &origin, caller, parts).await {
        Ok(caller) => caller,
        Err(denied) => {
            let credentials = credentials(&parts.headers, &parts.extensions);
            return Err(reject_anonymous(app, origin, (&credentials, denied), body).await);
        }
    };
    let (admitted, body) = match (admitted, batch_of(origin.endpoint), body) {
        (Ok(standing), Some(batch), Ok(body)) => {
            match app.protection.tokens(&caller, batch, &body).await {
                Ok(tokens) => {
                    let admission = app.engine.admit_items(&caller, tokens);
                    let admission = admission.instrument(step!("limit")).await;
                    // A refused batch takes no tokens, except one if its body is large.
                    if admission.is_err() && body.len() > SMALL_BODY {
                        let _ = app.engine.admit(&caller).await;
                    }
                    (admission, Ok(body))
                }
                Err(refusal) => (Ok(standing), Err(refusal)),
            }
        }
        (admitted, _, body) => (admitted, body.map_err(Refusal::from)),
    };
    let standing = admitted.unwrap_or_else(|exceeded| exceeded.standing);
    let call = Call::new(caller, admitted, origin.endpoint, origin.tag, origin.arrived);
    match body {
        Ok(body) => Ok(Received { call, share: body.share(), body, standing }),
        Err(refusal) => {
            let refusal = match (refusal, call.application()) {
                // The syntax of a longer body is unknown.
                (
                    Refusal::UnreadableBody(UnreadableBody::TooLarge | UnreadableBody::NoMemory),
                    Err(limited),
                ) if admitted.is_err() => limited,
                (refusal, _) => refusal,
            };
            Err(respond(app.protection.refuse(call, refusal).await, standing, None))
        }
    }
}

/// The maximum size of a body. `/operations` checks the limit of its operation itself.
pub(super) fn body_limit(endpoint: Endpoint, limits: &Limits) -> usize {
    match endpoint {
        Endpoint::ProtectBatch => limits.max_batch_bytes,
        Endpoint::UnprotectBatch | Endpoint::RewrapBatch => limits.opening_batch_bytes(),
        Endpoint::Protect | Endpoint::DataKeys => limits.max_body_bytes,
        Endpoint::Unprotect | Endpoint::Rewrap | Endpoint::Operations => limits.envelope_bytes(),
    }
}

fn batch_of(endpoint: Endpoint) -> Option<Batch> {
    match endpoint {
        Endpoint::ProtectBatch => Some(Batch::Protect),
        Endpoint::UnprotectBatch => Some(Batch::Unprotect),
        Endpoint::RewrapBatch => Some(Batch::Rewrap),
        Endpoint::Protect
        | Endpoint::Unprotect
        | Endpoint::Rewrap
        | Endpoint::DataKeys
        | Endpoint::Operations => None,
    }
}

/// Checks a credential again after a slow body, in case it was revoked meanwhile.
async fn revalidate(
    app: &AppState,
    origin: &Origin,
    caller: Caller,
    parts: &Parts,
) -> Result<Caller, Denied> {
    if app.engine.clock.monotonic().saturating_sub(origin.arrived) < CREDENTIAL_FRESHNESS {
        return Ok(caller);
    }
    let credentials = credentials(&parts.headers, &parts.extensions);
    let again = app.engine.authenticate(&credentials, origin.client);
    again.instrument(step!("caller")).await
}

/// Refuses an unauthenticated request; its audit record is not awaited.
async fn reject_anonymous(
    app: &AppState,
    origin: Origin,
    (credentials, denied): (&Credentials<'_>, Denied),
    body: Result<BodyBytes, UnreadableBody>,
) -> Response {
    let client = origin.client;
    let error = match body {
        Err(
            unread @ (UnreadableBody::OtherMedia
            | UnreadableBody::Encoded
            | UnreadableBody::BrokenOff
            | UnreadableBody::Late),
        ) => unread.into(),
        // The syntax of the body is unknown.
        Err(UnreadableBody::TooLarge | UnreadableBody::NoMemory) => {
            no_application(app, credentials, client, denied).await
        }
        Ok(body) => match Text::parse(&body) {
            Ok(_) => no_application(app, credentials, client, denied).await,
            Err(not_json) => not_json.into(),
        },
    };
    let description = error.describe();
    app.engine.recorder.submit_anonymous(Record {
        request_id: origin.tag.as_str().into(),
        service_id: None,
        credential_id: None,
        token_subject: None,
        operation_type: origin.endpoint.operation_type(),
        endpoint: Some(origin.endpoint),
        policy_number: None,
        key_id: None,
        ctx: None,
        payload_size_bytes: 0,
        response_status: description.code.status().as_u16(),
        arrived: origin.arrived,
        error_code: Some(description.code.name()),
        outcome: description.code.outcome(),
        error_message: Some(description.message),
        client_address: Some(origin.client),
        item: None,
        sealing: origin.endpoint.sealing(),
    });
    error.into_response()
}
