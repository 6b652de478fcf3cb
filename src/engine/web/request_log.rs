//! What a handler contributes to the log line of its request.

use std::sync::{Arc, OnceLock};

use axum::http::Extensions;

use crate::auth::CallerId;

/// The identifier of the caller, once it is authenticated. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LoggedCaller(Arc<OnceLock<CallerId>>);

/// Why a request was refused or failed. A response carries it to the frame.
#[derive(Clone, Debug)]
pub struct Cause(pub String);

impl LoggedCaller {
    /// Notes the caller of the request with these extensions.
    pub fn note(extensions: &Extensions, caller: CallerId) {
        if let Some(Self(noted)) = extensions.get() {
            // The first one stays.
            let _ = noted.set(caller);
        }
    }

    pub(super) fn get(&self) -> Option<CallerId> {
        self.0.get().copied()
    }
}
