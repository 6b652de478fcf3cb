//! The answers of the management API.

use std::borrow::Cow;
use std::fmt::Display;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use secrecy::ExposeSecret;
use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use engine::management::changes::{Proposal, Proposed};
use engine::management::{
    KeptAnswer, KeptOutcome, Page, Resource as _, ResourceType, ResourceView,
};
use engine::resource::Identified as _;
use engine::revision::Revision;

/// The header of an answer to a request that was sent again.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A resource: 200 with its `ETag`.
#[derive(Debug)]
pub(crate) struct Current<R>(pub(crate) R);

/// A resource without an `ETag`: 200.
#[derive(Debug)]
pub(crate) struct WithoutEtag<R>(pub(crate) R);

/// A new resource: 201 with its `Location` and `ETag`.
#[derive(Debug)]
pub(crate) struct Created<R>(pub(crate) R);

/// Something new without a path: 201.
#[derive(Debug)]
pub(crate) struct CreatedWithoutPath<T>(pub(crate) T);

/// A change that was proposed: 202 with its `Location`.
#[derive(Debug)]
pub(crate) struct Accepted<'a>(pub(crate) &'a Proposed);

/// A page of a list: 200.
#[derive(Debug)]
pub(crate) struct List<T>(pub(crate) Page<T>);

/// The answer to a request that was sent again: that of the first one, without a secret.
#[derive(Debug)]
pub(crate) struct Replayed(pub(crate) KeptAnswer);

/// No content: 204.
#[derive(Debug)]
pub(crate) struct NoContent;

impl<R: ResourceView> IntoResponse for Current<R> {
    fn into_response(self) -> Response {
        let tag = etag(self.0.resource().revision());
        ([tag], Json(self.0)).into_response()
    }
}

impl<R: ResourceView> IntoResponse for Created<R> {
    fn into_response(self) -> Response {
        let tag = etag(self.0.resource().revision());
        let id = R::Resource::TYPE.id(self.0.resource().uuid()).unwrap_or_default();
        let location = location(R::Resource::TYPE, &id);
        (StatusCode::CREATED, [tag, location], Json(self.0)).into_response()
    }
}

/// A change that was proposed.
#[derive(Serialize, ToSchema)]
#[schema(as = ProposedChange)]
struct ProposedBody<'a> {
    #[serde(flatten)]
    change: &'a Proposal,
    /// The new API key, which authenticates after the change is applied. Only this response contains it;
    /// null if the request was sent again. Absent if the change creates no API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable)]
    secret: Option<&'a str>,
}

impl PartialSchema for Accepted<'_> {
    fn schema() -> RefOr<Schema> {
        ProposedBody::schema()
    }
}

impl ToSchema for Accepted<'_> {
    fn name() -> Cow<'static, str> {
        ProposedBody::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ProposedBody::schemas(schemas);
    }
}

impl IntoResponse for Accepted<'_> {
    fn into_response(self) -> Response {
        let Proposed { proposal, secret } = self.0;
        let location = location(ResourceType::Change, &proposal.id);
        let body = ProposedBody {
            change: proposal,
            secret: secret.as_ref().map(ExposeSecret::expose_secret),
        };
        (StatusCode::ACCEPTED, [location], Json(body)).into_response()
    }
}

impl<R: Serialize> IntoResponse for WithoutEtag<R> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl<T: Serialize> IntoResponse for CreatedWithoutPath<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl IntoResponse for Replayed {
    fn into_response(self) -> Response {
        let answer = self.0;
        let (status, headers) = match answer.outcome() {
            KeptOutcome::Created => (StatusCode::CREATED, of_creation(&answer)),
            KeptOutcome::Proposed => {
                let id = answer.text("id").unwrap_or_default();
                (StatusCode::ACCEPTED, vec![location(ResourceType::Change, &id)])
            }
            KeptOutcome::Changed(revision) => (StatusCode::OK, vec![etag(revision)]),
            KeptOutcome::Decided => (StatusCode::OK, Vec::new()),
        };
        let (had_secret, mut resource) = (answer.had_secret(), answer.resource);
        if had_secret && resource.pop() == Some('}') {
            // The last member of the first answer.
            resource.push_str(r#","secret":null}"#);
        }
        let again = [(REPLAYED, HeaderValue::from_static("true"))];
        let headers = AppendHeaders(again.into_iter().chain(headers));
        let json = HeaderValue::from_static("application/json");
        let media = [(header::CONTENT_TYPE, json)];
        (status, headers, media, resource).into_response()
    }
}

/// The headers of a new resource.
fn of_creation(answer: &KeptAnswer) -> Vec<(HeaderName, HeaderValue)> {
    let of = answer.resource_type;
    let id = answer.text("id").filter(|_| of.collection().is_some());
    id.map(|id| vec![etag(Revision::FIRST), location(of, &id)]).unwrap_or_default()
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// The path of a resource of this type, which has a list.
fn location(of: ResourceType, id: &impl Display) -> (HeaderName, HeaderValue) {
    let collection = of.collection().unwrap_or_default();
    (header::LOCATION, text(&format!("/admin/{collection}/{id}")))
}

fn etag(revision: Revision) -> (HeaderName, HeaderValue) {
    let tag = format!("\"{revision}\"");
    (header::ETAG, text(&tag))
}

/// Ids and numbers are always valid in a header.
fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
