//! The credential of a request, which is checked again while its operation runs.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::Refusal;
use crate::auth::{Application, Caller, CredentialRefused, Denied};

type Authenticating = BoxFuture<'static, Result<Caller, Denied>>;

/// Authenticates the credential of a request again.
#[derive(Clone)]
pub struct Authentication(Arc<dyn Fn() -> Authenticating + Send + Sync>);

impl Authentication {
    /// An authentication by `again`.
    pub fn new(again: impl Fn() -> Authenticating + Send + Sync + 'static) -> Self {
        Self(Arc::new(again))
    }

    /// `before` as it is now. It may be frozen. Its credential may be refused now, or be that of another caller.
    pub(super) async fn application(&self, before: &Application) -> Result<Application, Refusal> {
        let caller = (self.0)().await.map_err(|denied| match denied {
            Denied::Refused(refused) => Refusal::Unauthenticated(refused),
            Denied::Unreadable(unreadable) => Refusal::Unreadable(unreadable),
            Denied::Crowded => Refusal::Unchecked,
        })?;
        let now = caller.application()?;
        match now.is(before) {
            true => Ok(now),
            false => Err(Refusal::Unauthenticated(CredentialRefused::NoIdentity)),
        }
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authentication").finish_non_exhaustive()
    }
}
