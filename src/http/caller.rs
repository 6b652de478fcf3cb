//! The caller of a request, and the middleware that admits administrators.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument as _;

use super::app::{App, AppState};
use super::error::ApiError;
use engine::auth::{
    Administrator, Application, Caller, CredentialRefused, Credentials, Denied, WrongKind,
};
use engine::catalog::Unreadable;
use engine::management::Event;
use engine::management::security::RefusedRequest;
use engine::receive::{AdminCaller, Admission, access_token_of_person};
use engine::request_tag::RequestTag;
use engine::telemetry::step;
use engine::web::{LoggedCaller, Unauthenticated, client_address, credentials, write_rate_limit};

/// Admits administrators within their rate limit, and adds the [`Administrator`] to the request's
/// extensions. Records refusals.
pub(super) async fn administrators_only(
    State(App(app)): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = client_address(request.extensions());
    let (method, route) = (request.method().clone(), matched_path(&request));
    let refusal = |status: StatusCode| {
        Event::refused(RefusedRequest {
            method: method.as_str(),
            route: route.as_ref().map(MatchedPath::as_str),
            status: status.as_u16(),
        })
    };
    let request_id = request.extensions().get::<RequestTag>();
    let request_id = request_id.map(ToString::to_string).unwrap_or_default();
    let credentials = credentials(request.headers(), request.extensions());
    let identified = known(&app, &credentials, client).instrument(step!("caller"));
    let caller = match identified.await {
        Ok(caller) => caller,
        Err(error) => {
            // Other errors are failures of the database, which cannot record them either.
            let is_refused = matches!(
                error,
                ApiError::Unauthenticated(_) | ApiError::RateLimited(_) | ApiError::Crowded
            );
            let response = error.into_response();
            if is_refused {
                let refused = refusal(response.status());
                app.security.submit_anonymous(client, request_id, refused);
            }
            return response;
        }
    };
    LoggedCaller::note(request.extensions(), caller.id());
    let (bucket, admitted) = match caller.admit(&app.engine).instrument(step!("limit")).await {
        Ok(bucket) => (bucket, caller.clone().administrator().map_err(ApiError::from)),
        Err(exceeded) => (exceeded.bucket, Err(ApiError::from(exceeded))),
    };
    let mut response = match admitted {
        Ok(administrator) => {
            request.extensions_mut().insert::<Administrator>(administrator);
            next.run(request).instrument(step!("management")).await
        }
        Err(error) => error.into_response(),
    };
    // Its API key was revoked while the body arrived.
    if response.status() == StatusCode::UNAUTHORIZED {
        app.security.submit_anonymous(client, request_id, refusal(response.status()));
    } else if response.status() == StatusCode::FORBIDDEN {
        let actor = caller.actor(request_id);
        let recorded = app.security.record(&actor, refusal(response.status())).await;
        if let Err(error) = recorded {
            response = ApiError::from(Unreadable::from(error)).into_response();
        }
    }
    write_rate_limit(bucket, response.headers_mut());
    response
}

/// Authenticates a caller of the management API.
async fn known(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<AdminCaller, ApiError> {
    let provider = app.provider.as_ref();
    match AdminCaller::identify(&app.engine, provider, credentials, client).await {
        Ok(caller) => Ok(caller),
        Err(denied) => Err(unauthenticated(app, client, denied).await),
    }
}

/// The error for a denied request to the runtime API: 403 for the access token of a person, as for the
/// keys of administrators, or else that of [`unauthenticated`].
pub(super) async fn no_application(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
    denied: Denied,
) -> ApiError {
    if !matches!(denied, Denied::Refused(CredentialRefused::Token(_))) {
        return unauthenticated(app, client, denied).await;
    }
    let provider = app.provider.as_ref();
    match access_token_of_person(&app.engine, provider, credentials, client).await {
        Ok(Some(person)) => {
            // The refusal counts, also if the limit is exceeded.
            let _ = app.engine.admit_administrator(&person).await;
            WrongKind::Person.into()
        }
        Ok(None) => unauthenticated(app, client, denied).await,
        Err(denied) => unauthenticated(app, client, denied).await,
    }
}

fn matched_path(request: &Request) -> Option<MatchedPath> {
    request.extensions().get().cloned()
}

/// Answers a request of an application within its rate limit. Look-ups have no audit record.
pub(super) async fn for_application<R: IntoResponse>(
    app: &AppState,
    request: Request,
    look_up: impl AsyncFnOnce(Application) -> Result<R, ApiError>,
) -> Response {
    let client = client_address(request.extensions());
    let parts = request.into_parts().0;
    let credentials = credentials(&parts.headers, &parts.extensions);
    let identified = identify(app, &credentials, client).instrument(step!("caller"));
    let caller = match identified.await {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    LoggedCaller::note(&parts.extensions, caller.id());
    let (bucket, answered) = match Admission::of(&app.engine, &caller).await {
        Admission::Application(application, bucket) => (bucket, look_up(application).await),
        Admission::WrongKind(wrong, bucket) => (bucket, Err(wrong.into())),
        Admission::Limited(exceeded) => (exceeded.bucket, Err(exceeded.into())),
    };
    let mut response = answered.into_response();
    write_rate_limit(bucket, response.headers_mut());
    response
}

/// Authenticates an application.
async fn identify(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<Caller, ApiError> {
    match app.engine.authenticate(credentials, client).await {
        Ok(caller) => Ok(caller),
        Err(denied) => Err(no_application(app, credentials, client, denied).await),
    }
}

/// The error for a denied request: 401 for a refused credential, or 429 once the address has failed
/// too often; 503 for a credential that cannot be checked now.
pub(super) async fn unauthenticated(app: &AppState, client: IpAddr, denied: Denied) -> ApiError {
    match app.engine.unauthenticated(client, denied).await {
        Unauthenticated::Refused(refusal) => ApiError::Unauthenticated(refusal),
        Unauthenticated::Limited(exceeded) => exceeded.into(),
        Unauthenticated::Unreadable(unreadable) => unreadable.into(),
        Unauthenticated::Crowded => ApiError::Crowded,
    }
}
