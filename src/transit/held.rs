//! Refused log-ins and renewals, which wait for a second.
//!
//! Agents repeat them at once and as often as they can, one after another. A second of waiting makes that one
//! request a second. Nothing but the connection is held meanwhile.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::Extensions;
use axum::response::{IntoResponse as _, Response};

use crate::errors::Refused;
use engine::ratelimit::network_of;
use engine::shares::{HELD_REFUSALS, Shares};
use engine::web::{TrustedProxy, Unanswered, client_address};

/// How long a refusal waits.
const FOR: Duration = Duration::from_secs(1);

/// Who sent a request that is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    pub(crate) client: IpAddr,
    is_proxy: bool,
}

/// The refusals that wait.
#[derive(Clone, Debug)]
pub struct HeldRefusals(Shares<IpAddr>);

impl Default for HeldRefusals {
    fn default() -> Self {
        Self(Shares::new(HELD_REFUSALS))
    }
}

impl Sender {
    /// The sender of a request with these extensions, which the frame determined.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        let is_proxy = extensions.get::<TrustedProxy>().is_some();
        Self { client: client_address(extensions), is_proxy }
    }
}

impl HeldRefusals {
    /// The response to a refused request, after a second. If too many of the client wait, a trusted proxy gets another
    /// refusal at once, and the connection of another sender closes without a response. A proxy could treat a closed
    /// connection as a failure of this instance, and send the requests of its other clients elsewhere.
    pub(crate) async fn hold(&self, sender: Sender, refused: Refused) -> Response {
        let Some(_place) = self.0.try_take(Some(network_of(sender.client)), 1) else {
            let refused = Refused::limited("too many refused requests wait", 1);
            let mut response = refused.into_response();
            if !sender.is_proxy {
                response.extensions_mut().insert(Unanswered);
            }
            return response;
        };
        tokio::time::sleep(FOR).await;
        refused.into_response()
    }
}
