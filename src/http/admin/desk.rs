//! What handlers of the management API are given of a request.

use std::str::FromStr;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header;
use axum::http::request::Parts;

use crate::auth::Administrator;
use crate::http::app::App;
use crate::http::body;
use crate::http::error::ApiError;
use crate::ids::{ApiKeyId, KeyId, ServiceId};
use crate::json::Text;
use crate::management::{Actor, Context, Draft, Expected, Missing, Proposal, Revision, policies};
use crate::problem::Code;
use crate::request_tag::RequestTag;

/// The administrator at work: what every use case is given.
#[derive(Debug)]
pub(in crate::http) struct Desk(pub(in crate::http) Context);

/// The resource that the `{id}` of a path names.
#[derive(Debug)]
pub(in crate::http) struct Addressed<T>(pub(in crate::http) T);

/// The body of a request that makes something.
#[derive(Debug)]
pub(in crate::http) struct ToCreate<D>(pub(in crate::http) Proposal<D>);

/// The body of a request that changes something.
#[derive(Debug)]
pub(in crate::http) struct ToUpdate<D>(pub(in crate::http) Proposal<D>);

/// The state in which the client expects the resource.
#[derive(Debug)]
pub(in crate::http) struct IfMatch(pub(in crate::http) Expected);

/// What names a resource in a path.
pub(in crate::http) trait Address: FromStr {
    /// What is missing where it names nothing.
    const MISSING: Missing;
}

impl Address for ServiceId {
    const MISSING: Missing = Missing::Service;
}

impl Address for policies::Name {
    const MISSING: Missing = Missing::Policy;
}

impl Address for KeyId {
    const MISSING: Missing = Missing::Key;
}

impl Address for ApiKeyId {
    const MISSING: Missing = Missing::ApiKey;
}

impl FromRequestParts<App> for Desk {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let administrator = parts.extensions.get::<Administrator>();
        let tag = parts.extensions.get::<RequestTag>();
        // A route that asks for a desk and is not behind the gate is a defect of the router.
        let (Some(administrator), Some(tag)) = (administrator, tag) else {
            return Err(ApiError::Internal);
        };
        Ok(Self(Context {
            clock: app.clock.clone(),
            entropy: app.entropy,
            catalog: app.catalog.clone(),
            pool: app.database.clone(),
            actor: Actor::administrator(administrator, tag.to_string()),
        }))
    }
}

impl<T: Address> FromRequestParts<App> for Addressed<T> {
    type Rejection = ApiError;

    /// What cannot be a name at all names nothing.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let missing = || ApiError::Missing(T::MISSING);
        let Path(text) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| missing())?;
        text.parse().map(Self).map_err(|_| missing())
    }
}

impl<D: Draft> FromRequest<App> for ToCreate<D> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        read(request, app, Proposal::to_create).await.map(Self)
    }
}

impl<D: Draft> FromRequest<App> for ToUpdate<D> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        read(request, app, Proposal::to_update).await.map(Self)
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

/// Reads the body as JSON, from memory that wipes itself.
async fn read<T>(
    request: Request,
    app: &App,
    make: impl FnOnce(Text<'_>) -> T,
) -> Result<T, ApiError> {
    let (parts, body) = request.into_parts();
    body::is_json(&parts.headers)?;
    let bytes = body::read(&parts.headers, body, app.settings.limits.max_body_bytes).await?;
    let text = Text::parse(&bytes)
        .map_err(|not_json| ApiError::of_body(Code::Format, not_json.to_string()))?;
    Ok(make(text))
}
