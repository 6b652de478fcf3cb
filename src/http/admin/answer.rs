//! The answers of the management API.

use std::fmt::Display;

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::keys::Key;
use crate::management::api_keys::{self, ApiKey};
use crate::management::policies::Policy;
use crate::management::services::Service;
use crate::management::{KeptAnswer, Page, Resource, ResourceType};
use crate::resource::Identified as _;
use crate::revision::Revision;

/// The header of an answer to a request that was sent again.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A resource: 200 with its `ETag`.
#[derive(Debug)]
pub(in crate::http) struct Current<R>(pub(in crate::http) R);

/// A new resource: 201 with its `Location` and `ETag`.
#[derive(Debug)]
pub(in crate::http) struct Created<R>(pub(in crate::http) R);

/// Something new without a path: 201.
#[derive(Debug)]
pub(in crate::http) struct CreatedWithoutPath<T>(pub(in crate::http) T);

/// A page of a list: 200.
#[derive(Debug)]
pub(in crate::http) struct List<T>(pub(in crate::http) Page<T>);

/// The answer to a request that was sent again: that of the first one, without a secret.
#[derive(Debug)]
pub(in crate::http) struct Replayed(pub(in crate::http) KeptAnswer);

/// No content: 204.
#[derive(Debug)]
pub(in crate::http) struct NoContent;

/// A resource with a path.
pub(in crate::http) trait Located: Serialize {
    /// The type of the resource.
    type Resource: Resource;

    /// The resource.
    fn resource(&self) -> &Self::Resource;

    /// Its path.
    fn path(&self) -> String;
}

macro_rules! located {
    ($($resource:ident at $path:literal;)*) => {$(
        impl Located for $resource {
            type Resource = Self;

            fn resource(&self) -> &Self {
                self
            }

            fn path(&self) -> String {
                path($path, &self.id)
            }
        }
    )*};
}

located! {
    Service at "services";
    Policy at "policies";
    Key at "keys";
    ApiKey at "api-keys";
}

impl Located for api_keys::Created {
    type Resource = ApiKey;

    fn resource(&self) -> &ApiKey {
        &self.api_key
    }

    fn path(&self) -> String {
        self.api_key.path()
    }
}

impl<R: Located> IntoResponse for Current<R> {
    fn into_response(self) -> Response {
        let tag = etag(self.0.resource().revision());
        ([tag], Json(self.0)).into_response()
    }
}

impl<R: Located> IntoResponse for Created<R> {
    fn into_response(self) -> Response {
        let tag = etag(self.0.resource().revision());
        let location = (header::LOCATION, text(&self.0.path()));
        (StatusCode::CREATED, [tag, location], Json(self.0)).into_response()
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
        let id = self.0.text("id");
        let KeptAnswer {
            resource_type,
            mut resource,
        } = self.0;
        if resource_type == ResourceType::ApiKey && resource.pop() == Some('}') {
            // The last member of the first answer.
            resource.push_str(r#","secret":null}"#);
        }
        let collection = match resource_type {
            ResourceType::Service => Some("services"),
            ResourceType::Policy => Some("policies"),
            ResourceType::Key => Some("keys"),
            ResourceType::ApiKey => Some("api-keys"),
            ResourceType::ImportKey
            | ResourceType::Dashboard
            | ResourceType::Request
            | ResourceType::AuditLog
            | ResourceType::Instance
            | ResourceType::Token => None,
        };
        let of_resource = collection.zip(id).map(|(collection, id)| {
            let place = path(collection, &id);
            [etag(Revision::FIRST), (header::LOCATION, text(&place))]
        });
        let again = [(REPLAYED, HeaderValue::from_static("true"))];
        let headers: HeaderMap = again
            .into_iter()
            .chain(of_resource.into_iter().flatten())
            .collect();
        let json = HeaderValue::from_static("application/json");
        let media = [(header::CONTENT_TYPE, json)];
        (StatusCode::CREATED, headers, media, resource).into_response()
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

fn path(collection: &str, id: &impl Display) -> String {
    format!("/admin/{collection}/{id}")
}

fn etag(revision: Revision) -> (HeaderName, HeaderValue) {
    let tag = format!("\"{revision}\"");
    (header::ETAG, text(&tag))
}

/// Ids and numbers are always valid in a header.
fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
