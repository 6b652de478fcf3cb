//! Responses and assertions about them.

use axum::body::to_bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

/// A response with its complete body.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
    /// The body before it is read as text.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a whole body");
        Self {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8_lossy(&body).into_owned(),
            bytes: body.to_vec(),
        }
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A member of the body that is a string.
    pub fn text(&self, member: &str) -> String {
        let json = self.json();
        let text = json[member].as_str();
        text.unwrap_or_else(|| panic!("no {member} in {json}")).to_owned()
    }

    /// A required header.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        let value = value.unwrap_or_else(|| panic!("no {name} in {:?}", self.headers));
        value.to_str().expect("a header of text")
    }

    /// Asserts status 200.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.expect(StatusCode::OK)
    }

    /// Asserts status 201 and a `Location` with the ID.
    #[track_caller]
    pub fn created(self) -> Self {
        let created = self.expect(StatusCode::CREATED);
        let path = created.header("location");
        assert!(path.ends_with(&created.text("id")), "{path}");
        created
    }

    /// Asserts status 204 without a body.
    #[track_caller]
    pub fn gone(self) {
        let gone = self.expect(StatusCode::NO_CONTENT);
        assert_eq!(gone.body, "");
    }

    /// Asserts an error response with this status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let json = self.json();
        let found = (self.status.as_u16(), json["error"]["code"].as_str());
        assert_eq!(found, (status, Some(code)), "{json}");
        assert_eq!(json["requestId"].as_str(), Some(self.header("x-request-id")));
        assert_eq!(self.header("content-type"), "application/json");
        self
    }

    /// Asserts status 400 with exactly these fields and codes in `details`.
    #[track_caller]
    pub fn invalid(self, expected: &[(&str, &str)]) {
        let answer = self.refused(400, "INVALID_REQUEST");
        let json = answer.json();
        let details = json["error"]["details"].as_array().expect("details");
        let mut found: Vec<(&str, &str)> = details
            .iter()
            .map(|detail| {
                let part = |name: &str| detail[name].as_str().expect("a string");
                (part("field"), part("code"))
            })
            .collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{json}");
    }

    /// The error message.
    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().expect("a message").to_owned()
    }

    #[track_caller]
    fn expect(self, status: StatusCode) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}
