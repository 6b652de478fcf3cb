//! How a request is received: its caller, its body, and what the limiter says.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use tracing::Instrument as _;

use super::respond::respond;
use crate::audit::{Endpoint, Record};
use crate::auth::{Caller, Denied};
use crate::http::app::App;
use crate::http::body::{self, Bytes};
use crate::http::caller::{admit, authorization, client_address, refused};
use crate::http::error::Fault;
use crate::json::Text;
use crate::protection::{Call, Unread};
use crate::ratelimit::Standing;
use crate::request_tag::RequestTag;
use crate::telemetry::step;

/// A request of somebody, with its body.
pub(super) struct Received {
    pub(super) call: Call,
    pub(super) body: Bytes,
    pub(super) standing: Standing,
}

/// The most that is read of a body whose sender is nobody: enough to tell whether it is JSON.
const OF_STRANGERS: usize = 64 * 1024;

/// For so long a credential that was good is taken to be so still, while a body is read.
const FRESH: Duration = Duration::from_millis(250);

/// Where a request came in, and when.
struct Arrival {
    endpoint: Endpoint,
    at: Duration,
    tag: RequestTag,
    client: IpAddr,
}

/// Receives a request. The credential is looked at before the body is read, and what is answered
/// keeps the contract's order all the same: a body that is no JSON is told before a bad credential.
pub(super) async fn receive(
    app: &App,
    endpoint: Endpoint,
    request: Request,
) -> Result<Received, Response> {
    let arrival = Arrival {
        endpoint,
        at: app.clock.monotonic(),
        tag: request
            .extensions()
            .get::<RequestTag>()
            .cloned()
            .unwrap_or_else(|| RequestTag::new(&app.clock, &app.entropy)),
        client: client_address(&request),
    };
    let (parts, body) = request.into_parts();
    let authorization = authorization(&parts.headers);
    match app
        .authenticator
        .authenticate(authorization, arrival.client)
        .instrument(step!("caller"))
        .await
    {
        Ok(caller) => of_caller(app, arrival, caller, &parts, body).await,
        Err(denied) => {
            let limit = app.settings.limits.max_body_bytes.min(OF_STRANGERS);
            let body = read(&parts, body, limit).await;
            Err(of_nobody(app, arrival, denied, body).await)
        }
    }
}

async fn of_caller(
    app: &App,
    arrival: Arrival,
    caller: Caller,
    parts: &Parts,
    body: Body,
) -> Result<Received, Response> {
    let admitted = admit(app, &caller).instrument(step!("limit")).await;
    let standing = admitted.unwrap_or_else(|exceeded| exceeded.standing);
    let body = read(parts, body, app.settings.limits.max_body_bytes).await;
    let caller = match still(app, &arrival, caller, parts).await {
        Ok(caller) => caller,
        Err(denied) => return Err(of_nobody(app, arrival, denied, body).await),
    };
    let call = Call::new(caller, admitted, arrival.endpoint, arrival.tag, arrival.at);
    match body {
        Ok(body) => Ok(Received {
            call,
            body,
            standing,
        }),
        Err(unread) => Err(respond(
            app.protection.refuse(call, unread.into()).await,
            standing,
        )),
    }
}

/// The caller as it is now that the body is there: who was revoked while a body trickled in is nobody.
async fn still(
    app: &App,
    arrival: &Arrival,
    caller: Caller,
    parts: &Parts,
) -> Result<Caller, Denied> {
    if app.clock.monotonic().saturating_sub(arrival.at) < FRESH {
        return Ok(caller);
    }
    let authorization = authorization(&parts.headers);
    let again = app
        .authenticator
        .authenticate(authorization, arrival.client);
    again.instrument(step!("caller")).await
}

/// Answers a request whose sender is not known, and leaves a trace of it that nobody waits for.
async fn of_nobody(
    app: &App,
    arrival: Arrival,
    denied: Denied,
    body: Result<Bytes, Unread>,
) -> Response {
    let fault = match body {
        Err(unread @ (Unread::OtherMedia | Unread::BrokenOff)) => unread.into(),
        // Of a longer one it is not known whether it is JSON.
        Err(Unread::TooLarge) => whose(app, arrival.client, denied).await,
        Ok(body) => match Text::parse(&body) {
            Ok(_) => whose(app, arrival.client, denied).await,
            Err(error) => error.into(),
        },
    };
    let told = fault.told();
    app.recorder.submit_anonymous(Record {
        request_id: arrival.tag.as_str().into(),
        application_id: None,
        api_key_id: None,
        operation_type: arrival.endpoint.operation_type(),
        endpoint: Some(arrival.endpoint),
        policy_number: None,
        key_id: None,
        payload_size_bytes: 0,
        response_status: told.code.status().as_u16(),
        arrived: arrival.at,
        error_code: Some(told.code.name()),
        error_message: Some(told.message),
        client_address: Some(arrival.client),
    });
    fault.into_response()
}

async fn whose(app: &App, client: IpAddr, denied: Denied) -> Fault {
    match denied {
        Denied::Refused(refusal) => refused(app, client, refusal).await,
        Denied::Unreadable(unreadable) => unreadable.into(),
    }
}

async fn read(parts: &Parts, body: Body, limit: usize) -> Result<Bytes, Unread> {
    body::is_json(&parts.headers)?;
    body::read(&parts.headers, body, limit).await
}
