//! The bodies of responses.

use std::sync::Arc;

use axum::body::{Body, Bytes};

use crate::body_memory::BodyShare;
use crate::protection;

/// The body of a response. It wipes itself after it was sent, and has memory until then.
struct Sent {
    body: protection::Body,
    _share: Option<Arc<BodyShare>>,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}

/// Sends a buffer without a copy. The share covers the response until it was sent.
pub fn sent(body: protection::Body, share: Option<Arc<BodyShare>>) -> Body {
    Body::from(Bytes::from_owner(Sent { body, _share: share }))
}
