//! What a handler contributes to the log line of its request.

use std::sync::{Arc, OnceLock};

use axum::http::Extensions;

use crate::ids::ApiKeyId;

/// The API key of the caller, once it is authenticated. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LoggedCaller(Arc<OnceLock<ApiKeyId>>);

/// Why a request was refused or failed. A response carries it to the frame.
#[derive(Clone, Debug)]
pub struct Cause(pub String);

impl LoggedCaller {
    /// Notes the caller of the request with these extensions.
    pub fn note(extensions: &Extensions, api_key: ApiKeyId) {
        if let Some(Self(caller)) = extensions.get() {
            // The first one stays.
            let _ = caller.set(api_key);
        }
    }

    pub(super) fn get(&self) -> Option<ApiKeyId> {
        self.0.get().copied()
    }
}
