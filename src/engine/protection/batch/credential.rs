//! The credential of a batch, which is authenticated again while the batch runs.

use std::fmt;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::auth::Application;
use crate::protection::call::{FRESH_FOR, thawed};
use crate::protection::{Authentication, Refusal};
use formats::clock::Clock;

/// The caller of a batch. After its credential was refused, it stays refused.
pub(in crate::protection) struct BatchCredential {
    clock: Clock,
    again: Authentication,
    last: Mutex<Last>,
}

struct Last {
    outcome: Result<Application, Refusal>,
    /// On the monotonic clock.
    at: Duration,
}

impl BatchCredential {
    /// The credential of `application`, which was authenticated at that time on the monotonic clock.
    pub(in crate::protection) fn new(
        clock: Clock,
        application: Application,
        at: Duration,
        again: Authentication,
    ) -> Self {
        Self { clock, again, last: Mutex::new(Last { outcome: Ok(application), at }) }
    }

    /// The caller, by an authentication that is recent.
    pub(super) async fn application(&self) -> Result<Application, Refusal> {
        let mut last = self.last.lock().await;
        let now = self.clock.monotonic();
        if let Ok(before) = &last.outcome
            && now.saturating_sub(last.at) >= FRESH_FOR
        {
            last.outcome = self.again.application(before).await.and_then(thawed);
            last.at = now;
        }
        last.outcome.clone()
    }
}

impl fmt::Debug for BatchCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchCredential").finish_non_exhaustive()
    }
}
