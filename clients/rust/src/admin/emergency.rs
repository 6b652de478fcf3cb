//! The emergency switch.

use serde::{Deserialize, Serialize};

use super::resource::{outcome, post, stored};
use super::{Outcome, ServiceStatus, Stored};
use crate::Client;
use crate::error::Error;
use crate::transport::Call;

const PATH: &str = "/admin/emergency";

/// Whether everything is frozen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Emergency {
    /// The status.
    pub status: ServiceStatus,
    /// The reason of the last change.
    pub reason: Option<String>,
    /// When everything was frozen.
    pub frozen_at: Option<String>,
    /// Who froze everything.
    pub frozen_by: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct NewFreeze<'a> {
    pub(crate) reason: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Unfreeze<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'a str>,
}

/// The emergency switch, which refuses all runtime calls but look-ups.
#[derive(Clone, Copy, Debug)]
pub struct EmergencySwitch<'a> {
    client: &'a Client,
}

impl<'a> EmergencySwitch<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Whether everything is frozen.
    pub async fn get(&self) -> Result<Stored<Emergency>, Error> {
        stored(&self.client.answer(Call::get(PATH)).await?)
    }

    /// Freezes everything.
    pub async fn freeze(&self, reason: &str) -> Result<Stored<Emergency>, Error> {
        let call = post(format!("{PATH}/freeze"), &NewFreeze { reason })?;
        stored(&self.client.answer(call).await?)
    }

    /// Ends the freeze.
    pub async fn unfreeze(
        &self,
        reason: Option<&str>,
    ) -> Result<Outcome<Stored<Emergency>>, Error> {
        let call = post(format!("{PATH}/unfreeze"), &Unfreeze { reason })?;
        outcome(&self.client.answer(call).await?)
    }
}
