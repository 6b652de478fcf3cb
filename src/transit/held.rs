//! Refused log-ins and renewals, which wait for a second.
//!
//! Agents repeat them at once and as often as they can, one after another. A second of waiting makes that one
//! request a second. Nothing but the connection is held meanwhile.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::errors::Refused;
use engine::ratelimit::network_of;
use engine::shares::{HELD_REFUSALS, Shares};
use engine::web::Unanswered;

/// How long a refusal waits.
const FOR: Duration = Duration::from_secs(1);

/// The refusals that wait.
#[derive(Clone, Debug)]
pub struct HeldRefusals(Shares<IpAddr>);

impl Default for HeldRefusals {
    fn default() -> Self {
        Self(Shares::new(HELD_REFUSALS))
    }
}

impl HeldRefusals {
    /// The response to a refused request of this address, after a second. If too many wait, the connection
    /// closes without a response.
    pub(crate) async fn hold(&self, client: IpAddr, refused: Refused) -> Response {
        let Some(_place) = self.0.try_take(Some(network_of(client)), 1) else {
            let text = "too many refused requests wait";
            let code = "RATE_LIMIT_EXCEEDED";
            let refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, code, text);
            let mut response = refused.into_response();
            response.extensions_mut().insert(Unanswered);
            return response;
        };
        tokio::time::sleep(FOR).await;
        refused.into_response()
    }
}
