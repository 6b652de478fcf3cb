//! The gate: nobody passes without a session, and no form without the token of its browser.

use std::net::IpAddr;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use tracing::Instrument as _;
use zeroize::Zeroizing;

use super::app::Dashboard;
use super::arrival;
use super::fault::{self, Fault};
use super::form::Form;
use super::session::{self, Secret, Transport};
use crate::auth::{Administrator, Denied};
use crate::client_address::ClientAddress;
use crate::ratelimit::{Rule, Scope};
use crate::request_tag::RequestTag;
use crate::telemetry::step;

/// The field of every form that carries its browser's token.
pub(super) const TOKEN: &str = "form-token";

/// The most that is read of the form of whoever is not signed in: a key, a token and an address.
const OF_STRANGERS: usize = 8 * 1024;

/// Who is looking.
#[derive(Clone, Debug)]
pub(super) struct Viewer {
    pub(super) administrator: Administrator,
    pub(super) secret: Secret,
}

/// A browser that is not signed in, or not yet.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) secret: Secret,
}

/// Lets administrators pass who are signed in. Pages behind this find a [`Viewer`] among the
/// request's extensions, and the [`Form`] of a request that sends one.
pub(super) async fn signed_in_only(
    State(dashboard): State<Dashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(tag) = request.extensions().get::<RequestTag>().cloned() else {
        return Fault::Defect.into_response();
    };
    let Some(ClientAddress(client)) = request.extensions().get::<ClientAddress>().copied() else {
        return Fault::Defect.into_response();
    };
    let Some(secret) = transport_of(&request).read(request.headers()) else {
        if arrival::is_from_elsewhere(&request) {
            return arrival::again(&request);
        }
        return to_sign_in(&request);
    };
    let recognised = recognise(&dashboard, secret, client).instrument(step!("caller"));
    let viewer = match recognised.await {
        Ok(Some(viewer)) => viewer,
        Ok(None) => return to_sign_in(&request),
        Err(fault) => return fault.into_response(),
    };
    let response = match admit(&dashboard, &viewer, &mut request).await {
        Ok(()) => {
            request.extensions_mut().insert(viewer.clone());
            next.run(request).instrument(step!("page")).await
        }
        Err(fault) => fault.into_response(),
    };
    fault::drawn(response, Some(&viewer), &tag)
}

/// Gives whoever wants to sign in a secret, and takes the form with its token alone.
pub(super) async fn visitors(
    State(dashboard): State<Dashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let transport = transport_of(&request);
    let known = transport.read(request.headers());
    let is_new = known.is_none();
    if is_new && arrival::is_from_elsewhere(&request) {
        return arrival::again(&request);
    }
    let secret = known.unwrap_or_else(|| Secret::generate(&dashboard.entropy));
    if let Err(fault) = take_form(&secret, &mut request, OF_STRANGERS).await {
        return fault.into_response();
    }
    request.extensions_mut().insert(Visitor {
        secret: secret.clone(),
    });
    let mut response = next.run(request).await;
    if is_new && let Some(cookie) = transport.keep(&secret) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// How the browser of a request comes here, as its frame found.
pub(super) fn transport_of(request: &Request) -> Transport {
    let framed = request.extensions().get::<Transport>();
    framed.copied().unwrap_or(Transport::Network)
}

async fn recognise(
    dashboard: &Dashboard,
    secret: Secret,
    client: IpAddr,
) -> Result<Option<Viewer>, Fault> {
    let now = dashboard.clock.now();
    let Some(at_rest) = session::resume(&dashboard.database, now, &secret).await? else {
        return Ok(None);
    };
    let caller = match dashboard.authenticator.resume(at_rest, client).await {
        Ok(caller) => caller,
        Err(Denied::Unreadable(unreadable)) => return Err(unreadable.into()),
        // A key that is revoked or over takes its sessions with it.
        Err(Denied::Refused(_)) => {
            session::close(&dashboard.database, &secret).await?;
            return Ok(None);
        }
    };
    let administrator = caller.administrator().ok();
    Ok(administrator.map(|administrator| Viewer {
        administrator,
        secret,
    }))
}

async fn admit(dashboard: &Dashboard, viewer: &Viewer, request: &mut Request) -> Result<(), Fault> {
    let limit = viewer.administrator.rate_limit();
    let scope = Scope::AdminKey(viewer.administrator.api_key_id());
    let rule = Rule::new(limit.requests_per_second, limit.burst);
    let taken = dashboard.limiter.take(scope, rule);
    let taken = taken.instrument(step!("limit")).await;
    taken.map_err(|_| Fault::TooMany)?;
    let most = dashboard.settings.limits.max_body_bytes;
    take_form(&viewer.secret, request, most).await
}

/// Reads the form of a request that sends one, if it is this browser's own and no longer than that.
async fn take_form(secret: &Secret, request: &mut Request, most: usize) -> Result<(), Fault> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    if !from_here(request.headers()) {
        return Err(Fault::ForeignForm);
    }
    let body = std::mem::take(request.body_mut());
    let body = to_bytes(body, most)
        .await
        .map_err(|_| Fault::UnreadableForm)?;
    let form = Form::of(&Zeroizing::new(body.to_vec()));
    if !secret.has_form_token(form.raw(TOKEN)) {
        return Err(Fault::ForeignForm);
    }
    request.extensions_mut().insert(form);
    Ok(())
}

/// Whether a browser says that a page of ours sent this; one that says nothing is left to the token.
fn from_here(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// Asks for a sign-in, and remembers where to go on. Forms are not repeated.
fn to_sign_in(request: &Request) -> Response {
    let uri = request.uri();
    let place = uri
        .path_and_query()
        .map_or("/dashboard", |place| place.as_str());
    if *request.method() != Method::GET || place == "/dashboard" {
        return Redirect::to("/dashboard/sign-in").into_response();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("to", place);
    Redirect::to(&format!("/dashboard/sign-in?{}", query.finish())).into_response()
}
