//! Checks again what a long operation relied on, before its result is sent.

use super::call::FRESH_FOR;
use super::{Call, Protection, Refusal};
use crate::auth::Application;
use crate::ids::KeyId;
use crate::policy::Grounds;

impl Protection {
    /// Refuses an operation that took long if meanwhile its credential lost a right, a policy no longer permits
    /// it, something was frozen, or a key that it used can no longer be used. An operation with a key of the
    /// caller has no policies.
    pub(super) async fn check_again(
        &self,
        call: &Call,
        application: &Application,
        grounds: Option<Grounds>,
    ) -> Result<(), Refusal> {
        let now = self.dependencies.clock.monotonic();
        if now.saturating_sub(call.arrived()) < FRESH_FOR {
            return Ok(());
        }
        call.check_credential(application).await?;
        self.dependencies.policies.check_again(application, grounds).await?;
        for key in call.keys() {
            self.check_key(key, grounds.is_some()).await?;
        }
        Ok(())
    }

    /// Refuses a key that nobody can use now. A key that was retired is not refused: what it has made can be
    /// opened and verified.
    async fn check_key(&self, key: KeyId, is_of_destination: bool) -> Result<(), Refusal> {
        match self.dependencies.keyring.status(key).await? {
            Some(status) if status.undoes() => Ok(()),
            _ if is_of_destination => Err(Refusal::DestinationKeyNotFound),
            Some(status) => Err(Refusal::KeyState(status)),
            None => Err(Refusal::KeyNotFound),
        }
    }
}
