//! Who sends a request, and whether they may send another one now.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument as _;

use super::app::App;
use super::error::Fault;
use crate::auth::{Administrator, Caller, Denied, Refusal};
use crate::client_address::ClientAddress;
use crate::ratelimit::{Exceeded, Rule, Scope, Standing};
use crate::telemetry::step;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Lets administrators pass, each as often as their limit allows. Handlers behind this find an
/// [`Administrator`] among the request's extensions.
pub(super) async fn administrators_only(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = client_address(&request);
    let identified = identify(&app, request.headers(), client).instrument(step!("caller"));
    let caller = match identified.await {
        Ok(caller) => caller,
        Err(fault) => return fault.into_response(),
    };
    let (standing, admitted) = match caller.clone().administrator() {
        Ok(administrator) => match take(&app, &caller).instrument(step!("limit")).await {
            (standing, Ok(())) => (standing, Ok(administrator)),
            (standing, Err(fault)) => (standing, Err(fault)),
        },
        Err(wrong) => (look(&app, &caller).await, Err(wrong.into())),
    };
    let mut response = match admitted {
        Ok(administrator) => {
            request
                .extensions_mut()
                .insert::<Administrator>(administrator);
            next.run(request).instrument(step!("management")).await
        }
        Err(fault) => fault.into_response(),
    };
    tell(standing, response.headers_mut());
    response
}

/// The caller of a request. Those who fail too often are told so, instead of being refused again.
pub(super) async fn identify(
    app: &App,
    headers: &HeaderMap,
    client: IpAddr,
) -> Result<Caller, Fault> {
    let known = app
        .authenticator
        .authenticate(authorization(headers), client)
        .await;
    match known {
        Ok(caller) => Ok(caller),
        Err(Denied::Unreadable(unreadable)) => Err(Fault::from(unreadable)),
        Err(Denied::Refused(refusal)) => Err(refused(app, client, refusal).await),
    }
}

/// Takes one request from what the caller may send.
pub(super) async fn admit(app: &App, caller: &Caller) -> Result<Standing, Exceeded> {
    let (scope, rule) = bucket(caller);
    app.limiter.take(scope, rule).await
}

/// The same, with how the caller stands in either case.
pub(super) async fn take(app: &App, caller: &Caller) -> (Standing, Result<(), Fault>) {
    match admit(app, caller).await {
        Ok(standing) => (standing, Ok(())),
        Err(exceeded) => (exceeded.standing, Err(exceeded.into())),
    }
}

/// How the caller stands, without taking anything.
pub(super) async fn look(app: &App, caller: &Caller) -> Standing {
    let (scope, rule) = bucket(caller);
    app.limiter.look(scope, rule).await
}

/// Writes how a caller stands into an answer.
pub(super) fn tell(standing: Standing, headers: &mut HeaderMap) {
    headers.insert(LIMIT, HeaderValue::from(standing.limit));
    headers.insert(REMAINING, HeaderValue::from(standing.remaining));
    headers.insert(RESET, HeaderValue::from(standing.reset));
}

/// Where a request came from, as its frame found.
pub(super) fn client_address(request: &Request) -> IpAddr {
    let framed = request.extensions().get::<ClientAddress>();
    framed.map_or(IpAddr::from([127, 0, 0, 1]), |client| client.0)
}

/// The one `Authorization` header; several are as good as none.
pub(super) fn authorization(headers: &HeaderMap) -> Option<&[u8]> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let first = given.next()?;
    given.next().is_none().then(|| first.as_bytes())
}

/// A refused credential costs its sender's address a token.
pub(super) async fn refused(app: &App, client: IpAddr, refusal: Refusal) -> Fault {
    match app
        .limiter
        .take(Scope::Failures(client), Rule::FAILURES)
        .await
    {
        Ok(_) => Fault::Unauthenticated(refusal),
        Err(exceeded) => exceeded.into(),
    }
}

fn bucket(caller: &Caller) -> (Scope, Rule) {
    let limit = caller.rate_limit();
    let scope = caller
        .service_id()
        .map_or_else(|| Scope::AdminKey(caller.api_key_id()), Scope::Service);
    (scope, Rule::new(limit.requests_per_second, limit.burst))
}
