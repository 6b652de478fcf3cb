//! The author of a change.

use std::net::IpAddr;

use crate::auth::Administrator;
use crate::ids::ApiKeyId;

/// The author of a change, as events name it.
#[derive(Clone, Debug)]
pub struct Actor {
    pub(super) api_key_id: Option<ApiKeyId>,
    pub(super) name: String,
    pub(super) client_address: Option<IpAddr>,
    pub(super) request_id: Option<String>,
}

impl Actor {
    /// An administrator who sent a request.
    #[must_use]
    pub fn administrator(administrator: &Administrator, request_id: String) -> Self {
        Self {
            api_key_id: Some(administrator.api_key_id()),
            name: administrator.name().to_owned(),
            client_address: Some(administrator.client_address()),
            request_id: Some(request_id),
        }
    }

    /// A part of the service itself, such as the command line or a job.
    #[must_use]
    pub fn system(name: &str) -> Self {
        Self {
            api_key_id: None,
            name: name.to_owned(),
            client_address: None,
            request_id: None,
        }
    }
}
