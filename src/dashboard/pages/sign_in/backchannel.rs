//! Logout by the provider, without a browser (OpenID Connect Back-Channel Logout 1.0).

use std::time::Duration;

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::app::{Dashboard, SharedDashboard};
use crate::error::PageError;
use crate::form::Form;
use engine::auth::oidc::Logout;
use engine::management::{Actor, Event};
use engine::ratelimit::{Rule, Scope, network_of};
use engine::request_tag::RequestTag;
use engine::web::ClientAddress;

/// The longest request: a logout token has few claims.
const LIMIT: usize = 64 * 1024;

/// The time limit for the body of a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// Ends the sessions that a logout token of the provider names.
pub(crate) async fn log_out(
    State(dashboard): State<SharedDashboard>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    Extension(tag): Extension<RequestTag>,
    request: Request,
) -> Result<Response, PageError> {
    let provider = dashboard.provider.as_ref().ok_or(PageError::NotFound)?;
    let limiter = &dashboard.engine.limiter;
    limiter.take(Scope::Logouts(client), Rule::FAILURES).await.map_err(|_| PageError::TooMany)?;
    let forms = &dashboard.engine.body_memory.forms;
    let form = forms.try_take(Some(network_of(client)), 1).ok_or(PageError::NoMemory)?;
    let read = timeout(PATIENCE, logout_token(request)).await;
    drop(form);
    let Some(token) = read.unwrap_or_default() else {
        return Ok(refused("not a form with a logout token"));
    };
    let logout = match provider.verify_logout(&token).await {
        Ok(logout) => logout,
        Err(error) => return Ok(refused(&error.to_string())),
    };
    let now = dashboard.engine.clock.now();
    let Some(ended) = dashboard.sessions.log_out(&logout, now).await? else {
        return Ok(refused("the logout token was used before"));
    };
    record(&dashboard, &logout, ended, Actor::provider(client, tag.to_string())).await?;
    Ok(answer(StatusCode::OK))
}

/// The token in the form of a request.
async fn logout_token(request: Request) -> Option<Zeroizing<String>> {
    let media = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    if !media.split(';').next()?.trim().eq_ignore_ascii_case(FORM) {
        return None;
    }
    let body = to_bytes(request.into_body(), LIMIT).await.ok()?;
    let form = Form::of(&body);
    form.some("logout_token").map(|token| Zeroizing::new(token.to_owned()))
}

async fn record(
    dashboard: &Dashboard,
    logout: &Logout,
    ended: u64,
    actor: Actor,
) -> Result<(), PageError> {
    let event = Event::logged_out(logout, ended);
    Ok(dashboard.security.record(&actor, event).await?)
}

fn refused(reason: &str) -> Response {
    tracing::info!(%reason, "a logout of the provider was refused");
    answer(StatusCode::BAD_REQUEST)
}

fn answer(status: StatusCode) -> Response {
    (status, [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))]).into_response()
}
