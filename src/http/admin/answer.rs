//! What answers of the management API have in common.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::keys::Key;
use crate::management::api_keys::{self, ApiKey};
use crate::management::policies::Policy;
use crate::management::services::Service;
use crate::management::{Page, Resource};

/// A resource as it is now: 200 with its `ETag`.
#[derive(Debug)]
pub(in crate::http) struct Current<R>(pub(in crate::http) R);

/// A resource just made: 201 with its `Location` and `ETag`.
#[derive(Debug)]
pub(in crate::http) struct Created<R>(pub(in crate::http) R);

/// Something just made that has no address: 201.
#[derive(Debug)]
pub(in crate::http) struct Made<T>(pub(in crate::http) T);

/// A page of a list: 200.
#[derive(Debug)]
pub(in crate::http) struct Listed<T>(pub(in crate::http) Page<T>);

/// It is gone: 204.
#[derive(Debug)]
pub(in crate::http) struct Gone;

/// A resource with an address.
pub(in crate::http) trait Located: Serialize {
    /// What it is.
    type Resource: Resource;

    /// The resource itself.
    fn resource(&self) -> &Self::Resource;

    /// Its path.
    fn path(&self) -> String;
}

impl Located for Service {
    type Resource = Self;

    fn resource(&self) -> &Self {
        self
    }

    fn path(&self) -> String {
        format!("/admin/services/{}", self.id)
    }
}

impl Located for Policy {
    type Resource = Self;

    fn resource(&self) -> &Self {
        self
    }

    fn path(&self) -> String {
        format!("/admin/policies/{}", self.id)
    }
}

impl Located for Key {
    type Resource = Self;

    fn resource(&self) -> &Self {
        self
    }

    fn path(&self) -> String {
        format!("/admin/keys/{}", self.id)
    }
}

impl Located for ApiKey {
    type Resource = Self;

    fn resource(&self) -> &Self {
        self
    }

    fn path(&self) -> String {
        format!("/admin/api-keys/{}", self.id)
    }
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
        let tag = etag(self.0.resource());
        ([tag], Json(self.0)).into_response()
    }
}

impl<R: Located> IntoResponse for Created<R> {
    fn into_response(self) -> Response {
        let tag = etag(self.0.resource());
        let place = (header::LOCATION, text(&self.0.path()));
        (StatusCode::CREATED, [tag, place], Json(self.0)).into_response()
    }
}

impl<T: Serialize> IntoResponse for Listed<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl<T: Serialize> IntoResponse for Made<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl IntoResponse for Gone {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

fn etag(resource: &impl Resource) -> (HeaderName, HeaderValue) {
    let tag = format!("\"{}\"", resource.revision());
    (header::ETAG, text(&tag))
}

/// Ids, numbers and our own punctuation are always fit for a header.
fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
