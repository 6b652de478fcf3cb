//! The extractors of the management API.

use std::str::FromStr;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use serde::de::DeserializeOwned;

use super::answer::Replayed;
use crate::app::{App, AppState};
use crate::body;
use crate::error::ApiError;
use engine::auth::Administrator;
use engine::management::changes::shown_again;
use engine::management::{
    self, Actor, Authorized, Claim, ClaimState, Context, Expected, ManageAdminKeys, ManageApiKeys,
    ResourceType, Right,
};
use engine::request_tag::RequestTag;
use engine::resource::{RequestBody, ResourceRequest};
use engine::revision::Revision;
use engine::web::is_absent;
use formats::json::{Members, Text};
use formats::problem::Code;

/// The `{id}` of the path.
#[derive(Debug)]
pub(crate) struct PathId<T>(pub(crate) T);

/// The segments of a path. One that cannot be decoded is answered like an unknown one.
#[derive(Debug)]
pub(crate) struct PathSegments<T>(pub(crate) T);

/// The body of a request that creates a resource.
#[derive(Debug)]
pub(crate) struct CreateBody<B>(pub(crate) ResourceRequest<B>);

/// The body of a request that changes a resource: a JSON Merge Patch for `PATCH`.
#[derive(Debug)]
pub(crate) struct UpdateBody<B>(pub(crate) ResourceRequest<B>);

/// The body of a decision, which may be left out.
#[derive(Debug)]
pub(crate) struct DecisionBody<B>(pub(crate) ResourceRequest<B>);

/// A body without members, which may be left out.
#[derive(Debug)]
pub(crate) struct NoMembers;

/// The body of a request that restores a deleted resource: a JSON Merge Patch, which may be left out.
#[derive(Debug)]
pub(crate) struct RestoreBody<B>(pub(crate) ResourceRequest<B>);

/// The state in which the client expects the resource.
#[derive(Debug)]
pub(crate) struct IfMatch(pub(crate) Expected);

/// A type that names a resource in a path.
pub(crate) trait Address: FromStr {
    /// The type of the resource.
    const TYPE: ResourceType;
}

/// The role comes before the answer to a request that was sent again.
impl<R: Right> FromRequestParts<App> for Authorized<R> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, App(app): &App) -> Result<Self, Response> {
        let administrator = parts.extensions.get::<Administrator>();
        let tag = parts.extensions.get::<RequestTag>();
        // A route without authentication before it is a defect of the router.
        let (Some(administrator), Some(tag)) = (administrator, tag) else {
            return Err(ApiError::Internal.into_response());
        };
        let actor = Actor::administrator(administrator, tag.to_string());
        let claim = parts.extensions.get::<Claim>().cloned();
        let context = Context::of_request(&app.engine, actor, claim);
        let authorized = context.authorize::<R>();
        let authorized = authorized.map_err(|error| ApiError::from(error).into_response())?;
        match parts.extensions.remove::<ClaimState>() {
            Some(state) => Err(repeated(state, &context)),
            None => Ok(authorized),
        }
    }
}

/// The answer to a request that is not the first one with its `Idempotency-Key`.
fn repeated(state: ClaimState, context: &Context) -> Response {
    match state {
        ClaimState::Again(answer) if answer.is_admin_key() && !context.may::<ManageAdminKeys>() => {
            ApiError::from(management::Error::Forbidden(ManageAdminKeys::ROLES)).into_response()
        }
        ClaimState::Again(answer)
            if answer.is_credential_change() && !context.may::<ManageApiKeys>() =>
        {
            ApiError::from(management::Error::Forbidden(ManageApiKeys::ROLES)).into_response()
        }
        ClaimState::Again(mut answer) => {
            if let Some(shown) = shown_again(&answer.resource, context) {
                answer.resource = shown;
            }
            Replayed(answer).into_response()
        }
        ClaimState::InProgress => ApiError::InProgress.into_response(),
        ClaimState::OtherBody => {
            let message = "the Idempotency-Key was used with another body";
            ApiError::Conflict(message.to_owned()).into_response()
        }
        ClaimState::Forged => {
            let message = "the answer that is kept for this Idempotency-Key does not count: read the \
                           resource, and use another key";
            ApiError::Conflict(message.to_owned()).into_response()
        }
        // Its handler runs.
        ClaimState::First(_) => ApiError::Internal.into_response(),
    }
}

impl<T: Address> FromRequestParts<App> for PathId<T> {
    type Rejection = ApiError;

    /// A malformed id names no resource.
    async fn from_request_parts(parts: &mut Parts, App(app): &App) -> Result<Self, ApiError> {
        let missing = || ApiError::Missing(T::TYPE);
        let Path(text) =
            Path::<String>::from_request_parts(parts, app).await.map_err(|_| missing())?;
        text.parse().map(Self).map_err(|_| missing())
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathSegments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let segments = Path::from_request_parts(parts, app).await;
        segments.map(|Path(segments)| Self(segments)).map_err(|_| ApiError::NotFound)
    }
}

impl<B: RequestBody> FromRequest<App> for CreateBody<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, App(app): &App) -> Result<Self, ApiError> {
        read(request, app, ResourceRequest::to_create).await.map(Self)
    }
}

impl<B: RequestBody> FromRequest<App> for DecisionBody<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, App(app): &App) -> Result<Self, ApiError> {
        read(or_empty(request).await?, app, ResourceRequest::to_create).await.map(Self)
    }
}

impl FromRequest<App> for NoMembers {
    type Rejection = ApiError;

    async fn from_request(request: Request, App(app): &App) -> Result<Self, ApiError> {
        let (parts, body) = or_empty(request).await?.into_parts();
        let limit = app.engine.settings.limits.max_body_bytes;
        let body = body::read(&parts, body, limit, None).await?;
        let members = Members::exactly(Text::parse(&body)?, &[]);
        members.finish(|| Some(Self)).map_err(|problems| ApiError::Problems(problems.into_vec()))
    }
}

impl<B: RequestBody> FromRequest<App> for RestoreBody<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, App(app): &App) -> Result<Self, ApiError> {
        read(or_empty(request).await?, app, ResourceRequest::to_restore).await.map(Self)
    }
}

impl<B: RequestBody> FromRequest<App> for UpdateBody<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, App(app): &App) -> Result<Self, ApiError> {
        let make = match *request.method() {
            Method::PATCH => ResourceRequest::to_patch,
            _ => ResourceRequest::to_update,
        };
        read(request, app, make).await.map(Self)
    }
}

impl FromRequestParts<App> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        let lines = parts.headers.get_all(header::IF_MATCH).iter();
        let tags: Vec<&str> = lines
            .flat_map(|line| line.to_str().unwrap_or_default().split(','))
            .map(str::trim)
            .collect();
        if tags.is_empty() || tags.contains(&"*") {
            return Ok(Self(Expected::Any));
        }
        let revisions = tags.iter().filter_map(|tag| {
            let inside = tag.strip_prefix('"')?.strip_suffix('"')?;
            inside.parse::<Revision>().ok()
        });
        Ok(Self(Expected::OneOf(revisions.collect())))
    }
}

/// The request with an empty object as its body if it has none.
async fn or_empty(request: Request) -> Result<Request, ApiError> {
    let (mut parts, mut body) = request.into_parts();
    if is_absent(&parts, &mut body).await? {
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(header::CONTENT_TYPE, json);
        body = Body::from("{}");
    }
    Ok(Request::from_parts(parts, body))
}

/// Reads the body as JSON. Its memory is wiped when it is dropped.
async fn read<B>(
    request: Request,
    app: &AppState,
    make: impl FnOnce(Text<'_>) -> ResourceRequest<B>,
) -> Result<ResourceRequest<B>, ApiError>
where
    B: RequestBody,
{
    let (parts, body) = request.into_parts();
    let administrator = parts.extensions.get::<Administrator>();
    // A route without authentication before it is a defect of the router.
    let caller = administrator.ok_or(ApiError::Internal)?.id();
    let limit = app.engine.settings.limits.max_body_bytes;
    let memory = app.engine.body_memory.of(caller.uuid());
    let bytes = body::read(&parts, body, limit, Some(memory)).await?;
    let text = Text::parse(&bytes)
        .map_err(|not_json| ApiError::of_body(Code::Format, not_json.to_string()))?;
    Ok(make(text).keep(bytes))
}
