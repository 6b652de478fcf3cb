//! Access control: every page requires a session, every form the form token of its browser.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use tokio::time::timeout;
use tracing::Instrument as _;
use zeroize::Zeroizing;

use super::app::{Dashboard, SharedDashboard};
use super::cross_site;
use super::error::{self, PageError};
use super::form::Form;
use super::pages::sign_in::provider::{check_address, is_check};
use super::session::{Secret, Transport};
use super::viewer::{TOKEN, Viewer, Visitor};
use engine::auth::{Check, Visit};
use engine::body_memory::{BodyShare, CallerMemory, SMALL_BODY};
use engine::client_certificates::ClientCertificate;
use engine::management::security::RefusedRequest;
use engine::management::{Actor, Event};
use engine::ratelimit::network_of;
use engine::request_tag::RequestTag;
use engine::telemetry::step;
use engine::web::{ClientAddress, LoggedCaller};

/// The size limit of a form from a browser that is not signed in.
const ANONYMOUS_FORM_LIMIT: usize = 8 * 1024;

/// The time limit for a form from a browser that is not signed in. A browser sends the few bytes of a form
/// at once, and a form that does not arrive delays those of other browsers.
const ANONYMOUS_FORM_PATIENCE: Duration = Duration::from_secs(5);

/// The path of the form that ends a session.
const SIGN_OUT: &str = "/dashboard/sign-out";

/// Admits administrators who are signed in. Adds the [`Viewer`] and the submitted [`Form`] to the
/// request's extensions.
pub(super) async fn signed_in_only(
    State(dashboard): State<SharedDashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(tag) = request.extensions().get::<RequestTag>().cloned() else {
        return PageError::Defect.into_response();
    };
    let Some(ClientAddress(client)) = request.extensions().get::<ClientAddress>().copied() else {
        return PageError::Defect.into_response();
    };
    let Some(secret) = transport_of(&request).read(request.headers()) else {
        if cross_site::is_cross_site(&request) {
            return cross_site::reload(&request);
        }
        return to_sign_in(&request);
    };
    let certificate = request.extensions().get().cloned().unwrap_or_default();
    let resumed = resume(&dashboard, secret, client, &certificate).instrument(step!("caller"));
    let (viewer, check) = match resumed.await {
        Ok(Some(resumed)) => resumed,
        Ok(None) => return to_sign_in(&request),
        Err(error) => return error.into_response(),
    };
    match check {
        Check::Current => {}
        Check::Due | Check::Overdue if !has_form(&request) => return to_check(&request),
        Check::Due => {}
        // Signing out works without the provider.
        Check::Overdue if request.uri().path() == SIGN_OUT => {}
        Check::Overdue => {
            return error::render(PageError::Unconfirmed.into_response(), Some(&viewer), &tag);
        }
    }
    LoggedCaller::note(request.extensions(), viewer.administrator.id());
    let (method, route) = (request.method().clone(), matched_path(&request));
    let response = match admit(&dashboard, &viewer, &mut request).await {
        Ok(()) => {
            request.extensions_mut().insert(viewer.clone());
            next.run(request).instrument(step!("page")).await
        }
        Err(error) => error.into_response(),
    };
    let response = match refused(&response, &method, route.as_ref()) {
        Some(event) => {
            let actor = Actor::administrator(&viewer.administrator, tag.to_string());
            match dashboard.security.record(&actor, event).await {
                Ok(()) => response,
                Err(error) => PageError::from(error).into_response(),
            }
        }
        None => response,
    };
    error::render(response, Some(&viewer), &tag)
}

/// Gives a browser that is not signed in a secret, and requires its form token on forms.
pub(super) async fn visitors(
    State(dashboard): State<SharedDashboard>,
    mut request: Request,
    next: Next,
) -> Response {
    let transport = transport_of(&request);
    let known = transport.read(request.headers());
    let is_new = known.is_none();
    if is_new && cross_site::is_cross_site(&request) {
        return cross_site::reload(&request);
    }
    // Only this site starts a check, which can end the session. A page starts one where it is due.
    if is_check(request.uri()) && !is_same_origin(request.headers()) {
        return cross_site::reload(&request);
    }
    let secret = known.unwrap_or_else(|| Secret::generate(&dashboard.engine.entropy));
    if let Err(error) = take_anonymous_form(&dashboard, &secret, &mut request).await {
        let response = error.into_response();
        let (method, route) = (request.method(), matched_path(&request));
        if let Some(event) = refused(&response, method, route.as_ref())
            && let Some(ClientAddress(client)) = request.extensions().get().copied()
            && let Some(tag) = request.extensions().get::<RequestTag>()
        {
            let security = &dashboard.security;
            security.submit_anonymous(client, tag.to_string(), event);
        }
        return response;
    }
    request.extensions_mut().insert(Visitor { secret: secret.clone() });
    let mut response = next.run(request).await;
    if is_new && let Some(cookie) = transport.keep(&secret) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Reads a form of a visitor. Few are read at the same time.
async fn take_anonymous_form(
    dashboard: &Dashboard,
    secret: &Secret,
    request: &mut Request,
) -> Result<(), PageError> {
    if !has_form(request) {
        return Ok(());
    }
    // The front knows the address of every request.
    let client = request.extensions().get().copied();
    let ClientAddress(client) = client.ok_or(PageError::Defect)?;
    let forms = &dashboard.engine.body_memory.forms;
    let form = forms.try_take(Some(network_of(client)), 1);
    let _form = form.ok_or(PageError::NoMemory)?;
    let taken = take_form(secret, request, ANONYMOUS_FORM_LIMIT);
    let taken = timeout(ANONYMOUS_FORM_PATIENCE, taken).await;
    taken.unwrap_or(Err(PageError::UnreadableForm))
}

fn matched_path(request: &Request) -> Option<MatchedPath> {
    request.extensions().get().cloned()
}

/// The event of a refused request.
fn refused(response: &Response, method: &Method, route: Option<&MatchedPath>) -> Option<Event> {
    let status = response.status();
    let request = RefusedRequest {
        method: method.as_str(),
        route: route.map(MatchedPath::as_str),
        status: status.as_u16(),
    };
    (status == StatusCode::FORBIDDEN).then(|| Event::refused(request))
}

/// The transport of a request, which the frame determined.
pub(super) fn transport_of(request: &Request) -> Transport {
    let transport = request.extensions().get::<Transport>();
    transport.copied().unwrap_or(Transport::Network)
}

async fn resume(
    dashboard: &Dashboard,
    secret: Secret,
    client: IpAddr,
    certificate: &ClientCertificate,
) -> Result<Option<(Viewer, Check)>, PageError> {
    let visit =
        Visit { digest: secret.digest(), client, certificate, now: dashboard.engine.clock.now() };
    let look_up = dashboard.engine.limiter.look_up(client);
    let resumed = dashboard.sessions.resume(&dashboard.engine.authenticator, visit, look_up);
    let viewer = |administrator| Viewer { administrator, secret };
    Ok(resumed.await?.map(|resumed| (viewer(resumed.administrator), resumed.check)))
}

async fn admit(
    dashboard: &Dashboard,
    viewer: &Viewer,
    request: &mut Request,
) -> Result<(), PageError> {
    let caller = viewer.administrator.id();
    let taken = dashboard.engine.admit_administrator(&viewer.administrator);
    let taken = taken.instrument(step!("limit")).await;
    taken.map_err(|_| PageError::TooMany)?;
    let limit = dashboard.engine.settings.limits.max_body_bytes;
    let memory = dashboard.engine.body_memory.of(caller.uuid());
    let share = reserve(memory, size_of(request.body(), limit)).await?;
    take_form(&viewer.secret, request, limit).await?;
    request.extensions_mut().insert(share);
    Ok(())
}

/// The announced size of a form, or else the maximum size.
fn size_of(body: &Body, limit: usize) -> usize {
    let announced = body.size_hint().upper();
    let announced = announced.and_then(|size| usize::try_from(size).ok());
    announced.map_or(limit, |size| size.min(limit))
}

/// Reserves memory for a large form, until the request is dropped.
async fn reserve(
    memory: CallerMemory<'_>,
    size: usize,
) -> Result<Option<Arc<BodyShare>>, PageError> {
    if size <= SMALL_BODY {
        return Ok(None);
    }
    let share = memory.reserve(size).await.ok_or(PageError::NoMemory)?;
    Ok(Some(Arc::new(share)))
}

/// Reads a submitted form of at most `limit` bytes and checks its form token.
async fn take_form(secret: &Secret, request: &mut Request, limit: usize) -> Result<(), PageError> {
    if !has_form(request) {
        return Ok(());
    }
    if !is_same_origin(request.headers()) {
        return Err(PageError::ForeignForm);
    }
    let body = std::mem::take(request.body_mut());
    let body = to_bytes(body, limit).await.map_err(|_| PageError::UnreadableForm)?;
    let form = Form::of(&Zeroizing::new(body.to_vec()));
    if !secret.has_form_token(form.raw(TOKEN)) {
        return Err(PageError::ForeignForm);
    }
    request.extensions_mut().insert(form);
    Ok(())
}

fn has_form(request: &Request) -> bool {
    !matches!(*request.method(), Method::GET | Method::HEAD)
}

/// Whether the browser reports the same origin; without a report, the form token decides.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// The longest target after a sign-in. The page and the redirect repeat it.
pub(super) const LONGEST_PLACE: usize = 1_024;

/// Redirects to the provider, which confirms the person of the session, and then back to the page.
fn to_check(request: &Request) -> Response {
    let place = place_of(request);
    let place = if place.len() <= LONGEST_PLACE { place } else { "/dashboard" };
    Redirect::to(&check_address(place)).into_response()
}

/// The page of a request.
fn place_of(request: &Request) -> &str {
    request.uri().path_and_query().map_or("/dashboard", |place| place.as_str())
}

/// Redirects to the sign-in page, which leads back to a page; forms are not repeated.
fn to_sign_in(request: &Request) -> Response {
    let place = place_of(request);
    let is_kept = *request.method() == Method::GET && place.len() <= LONGEST_PLACE;
    if !is_kept || place == "/dashboard" {
        return Redirect::to("/dashboard/sign-in").into_response();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("to", place);
    Redirect::to(&format!("/dashboard/sign-in?{}", query.finish())).into_response()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use engine::body_memory::BodyMemory;

    #[tokio::test]
    async fn only_a_large_form_reserves_memory() {
        let memory = BodyMemory::new(1 << 20, Duration::ZERO);
        let unknown =
            Body::from_stream(futures_util::stream::empty::<Result<Vec<u8>, std::io::Error>>());
        for (body, is_large) in [
            (Body::empty(), false),
            (Body::from(vec![b'a'; SMALL_BODY]), false),
            (Body::from(vec![b'a'; SMALL_BODY + 1]), true),
            (unknown, true),
        ] {
            let share = reserve(memory.of(Uuid::nil()), size_of(&body, 1 << 20)).await;
            assert_eq!(share.unwrap().is_some(), is_large);
        }
        let mine = memory.of(Uuid::nil());
        let _all = mine.reserve(128 << 20).await.unwrap();
        let refused = reserve(mine, SMALL_BODY + 1).await;
        assert!(matches!(refused, Err(PageError::NoMemory)));
    }
}
