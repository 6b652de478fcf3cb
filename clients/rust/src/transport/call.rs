//! A request before it has an address.

use std::borrow::Cow;
use std::fmt::Write as _;

use form_urlencoded::Serializer;
use hyper::Method;
use hyper::body::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::Answer;
use crate::error::{Error, Invalid};
use crate::payload::Wiped;

const JSON: &str = "application/json";

/// A request of the API.
pub(crate) struct Call<'a> {
    pub(super) method: Method,
    path: Cow<'a, str>,
    query: String,
    pub(super) headers: Vec<(&'static str, Cow<'a, str>)>,
    pub(super) accept: &'static str,
    pub(super) body: Option<(&'static str, Bytes)>,
    /// Whether it opens envelopes, so that an internal error is a failure to decrypt.
    pub(super) opens: bool,
    /// Whether it needs no credential.
    pub(super) is_public: bool,
    takes_unavailable: bool,
}

impl<'a> Call<'a> {
    pub(crate) fn new(method: Method, path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            method,
            path: path.into(),
            query: String::new(),
            headers: Vec::new(),
            accept: JSON,
            body: None,
            opens: false,
            is_public: false,
            takes_unavailable: false,
        }
    }

    pub(crate) fn get(path: impl Into<Cow<'a, str>>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(
        path: impl Into<Cow<'a, str>>,
        body: &impl Serialize,
    ) -> Result<Self, Error> {
        Self::new(Method::POST, path).with_body(JSON, body)
    }

    pub(crate) fn with_body(
        mut self,
        media: &'static str,
        body: &impl Serialize,
    ) -> Result<Self, Error> {
        let mut text = Wiped::default();
        serde_json::to_writer(&mut text, body).map_err(|_| Error::Invalid(Invalid::Value))?;
        self.body = Some((media, Bytes::from_owner(text.0)));
        Ok(self)
    }

    pub(crate) fn with_text(mut self, body: Wiped) -> Self {
        self.body = Some((JSON, Bytes::from_owner(body.0)));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn accept(mut self, media: &'static str) -> Self {
        self.accept = media;
        self
    }

    /// With the members of this value in the query. Null and absent members are left out.
    pub(crate) fn query(mut self, filter: &impl Serialize) -> Result<Self, Error> {
        let members = match serde_json::to_value(filter) {
            Ok(Value::Object(members)) => members,
            _ => return Err(Error::Invalid(Invalid::Value)),
        };
        let mut query = Serializer::new(std::mem::take(&mut self.query));
        for (name, value) in &members {
            match value {
                Value::Null => {}
                Value::String(text) => drop(query.append_pair(name, text)),
                other => drop(query.append_pair(name, &other.to_string())),
            }
        }
        self.query = query.finish();
        Ok(self)
    }

    /// As a call that opens envelopes or ciphertexts.
    pub(crate) fn opening(mut self) -> Self {
        self.opens = true;
        self
    }

    /// As a call without a credential.
    pub(crate) fn public(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// As a call whose 503 is a result, unless it is an error response.
    pub(crate) fn taking_unavailable(mut self) -> Self {
        self.takes_unavailable = true;
        self
    }

    pub(super) fn takes(&self, answer: &Answer) -> bool {
        self.takes_unavailable && answer.status() == 503 && !answer.is_error_response()
    }

    pub(super) fn path_and_query(&self) -> Cow<'_, str> {
        match self.query.is_empty() {
            true => Cow::Borrowed(&self.path),
            false => Cow::Owned(format!("{}?{}", self.path, self.query)),
        }
    }
}

/// A text as a segment of a path.
pub(crate) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("a/../b ?"), "a%2F..%2Fb%20%3F");
        assert_eq!(segment("POL-000001.a_b~"), "POL-000001.a_b~");
    }

    #[test]
    fn a_query_is_escaped() {
        let filter = serde_json::json!({ "name": "s&1", "limit": 2, "cursor": null });
        let call = Call::get("/x").query(&filter).unwrap();
        assert_eq!(call.path_and_query(), "/x?limit=2&name=s%261");
    }
}
