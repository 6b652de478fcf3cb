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
    Administrator, Application, Caller, CallerId, CredentialRefused, Credentials, Denied, WrongKind,
};
use engine::catalog::Unreadable;
use engine::management::security::RefusedRequest;
use engine::management::{Actor, Event};
use engine::ratelimit::{BucketState, Exceeded, Rule, Scope};
use engine::request_tag::RequestTag;
use engine::telemetry::step;
use engine::web::{ClientAddress, LoggedCaller, credentials, write_rate_limit};

/// Admits administrators within their rate limit, and adds the [`Administrator`] to the request's
/// extensions. Records refusals.
pub(super) async fn administrators_only(
    State(App(app)): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = client_address(&request);
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
    let (standing, admitted) = match caller.admit(&app).instrument(step!("limit")).await {
        Ok(standing) => (standing, caller.clone().administrator()),
        Err(exceeded) => (exceeded.standing, Err(ApiError::from(exceeded))),
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
    write_rate_limit(standing, response.headers_mut());
    response
}

/// An authenticated caller.
#[derive(Clone)]
pub(super) enum AdminCaller {
    /// With an API key or the token of a workload.
    Caller(Caller),
    /// With an access token of the provider.
    Person(Administrator),
}

impl AdminCaller {
    pub(super) fn id(&self) -> CallerId {
        match self {
            Self::Caller(caller) => caller.id(),
            Self::Person(person) => person.id(),
        }
    }

    fn actor(&self, request_id: String) -> Actor {
        match self {
            Self::Caller(caller) => Actor::caller(caller, request_id),
            Self::Person(person) => Actor::administrator(person, request_id),
        }
    }

    /// Takes one request from the limit of the caller.
    async fn admit(&self, app: &AppState) -> Result<BucketState, Exceeded> {
        match self {
            Self::Caller(caller) => app.engine.admit(caller).await,
            Self::Person(person) => app.engine.admit_administrator(person).await,
        }
    }

    /// The state of the limit of the caller; takes nothing from it.
    pub(super) async fn rate_limit(&self, app: &AppState) -> BucketState {
        match self {
            Self::Caller(caller) => app.engine.rate_limit(caller).await,
            Self::Person(person) => app.engine.rate_limit_of_administrator(person).await,
        }
    }

    pub(super) fn administrator(self) -> Result<Administrator, ApiError> {
        match self {
            Self::Caller(caller) => Ok(caller.administrator()?),
            Self::Person(person) => Ok(person),
        }
    }
}

/// Authenticates a caller of the management API.
async fn known(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<AdminCaller, ApiError> {
    match person(app, credentials, client).await {
        Ok(Some(person)) => return Ok(AdminCaller::Person(person)),
        Ok(None) => {}
        Err(denied) => return Err(unauthenticated(app, client, denied).await),
    }
    match app.engine.authenticate(credentials, client).await {
        Ok(caller) => Ok(AdminCaller::Caller(caller)),
        Err(denied) => Err(unauthenticated(app, client, denied).await),
    }
}

/// The person with an access token of the provider; none for other credentials.
pub(super) async fn person(
    app: &AppState,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<Option<Administrator>, Denied> {
    let (Some(provider), Some(token)) = (&app.provider, credentials.token()) else {
        return Ok(None);
    };
    let (database, entropy) = (&app.engine.database, &app.engine.entropy);
    let mut look_up = app.engine.limiter.look_up(client);
    let person = provider.administrator(database, entropy, token, client, &mut look_up);
    let person = person.await?;
    if person.is_some() {
        look_up.found();
    }
    Ok(person)
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
    match person(app, credentials, client).await {
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
    let client = client_address(&request);
    let parts = request.into_parts().0;
    let credentials = credentials(&parts.headers, &parts.extensions);
    let identified = identify(app, &credentials, client).instrument(step!("caller"));
    let caller = match identified.await {
        Ok(caller) => caller,
        Err(error) => return error.into_response(),
    };
    LoggedCaller::note(&parts.extensions, caller.id());
    let (standing, answered) = match caller.clone().application() {
        Ok(application) => match app.engine.admit(&caller).instrument(step!("limit")).await {
            Ok(standing) => (standing, look_up(application).await),
            Err(exceeded) => (exceeded.standing, Err(exceeded.into())),
        },
        Err(wrong) => (app.engine.rate_limit(&caller).await, Err(wrong.into())),
    };
    let mut response = answered.into_response();
    write_rate_limit(standing, response.headers_mut());
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

/// The client's address, which the frame determined.
pub(super) fn client_address(request: &Request) -> IpAddr {
    let address = request.extensions().get::<ClientAddress>();
    address.map_or(IpAddr::from([127, 0, 0, 1]), |client| client.0)
}

/// The error for a denied request: 401 for a refused credential, or 429 once the address has failed
/// too often; 503 for a credential that cannot be checked now.
pub(super) async fn unauthenticated(app: &AppState, client: IpAddr, denied: Denied) -> ApiError {
    let refusal = match denied {
        Denied::Refused(refusal) => refusal,
        Denied::Unreadable(unreadable) => return unreadable.into(),
        Denied::Crowded => return ApiError::Crowded,
    };
    match app.engine.limiter.take(Scope::Failures(client), Rule::FAILURES).await {
        Ok(_) => ApiError::Unauthenticated(refusal),
        Err(exceeded) => exceeded.into(),
    }
}
