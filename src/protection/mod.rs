//! What the runtime does for applications: protect, unprotect, and operations of their choice.
//!
//! This room alone composes the way of a request: from its caller to a permit, from the permit to a
//! key, from the key to an envelope or the token, from the outcome to a record, and from the
//! record's receipt to an [`Answer`]. There is no other way to an answer, so what is not permitted
//! and recorded does not leave. Knows no HTTP; what a refusal is called outside is told to it.

mod answer;
mod call;
mod operate;
mod protect;
mod refusal;
mod unabandoned;
mod unprotect;
mod writing;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use hsm::Token;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

pub use self::answer::{Answer, Body};
pub use self::call::Call;
pub(crate) use self::operate::{Cipher, Hash, Offered, Scheme};
pub use self::refusal::{Mark, Refusal, Unread};
use self::unabandoned::unabandoned;
use crate::audit::{Recorder, Unrecorded};
use crate::auth::Application;
use crate::clock::{Clock, Entropy};
use crate::keys::{Encryptions, Keyring};
use crate::operation::Operation;
use crate::policy::{Policies, PolicyPermit, authorize};
use crate::telemetry::step;

/// The rooms that a request goes through.
#[derive(Clone)]
pub struct Rooms {
    /// Tells the time.
    pub clock: Clock,
    /// Gives randomness.
    pub entropy: Entropy,
    /// Knows the policies.
    pub policies: Arc<Policies>,
    /// Knows the keys.
    pub keyring: Arc<Keyring>,
    /// Counts how often each key encrypts.
    pub encryptions: Arc<Encryptions>,
    /// Holds the private and secret keys.
    pub token: Token,
    /// Keeps the trail.
    pub recorder: Recorder,
}

/// Protects, unprotects and operates. Cheap to clone.
#[derive(Clone)]
pub struct Protection {
    rooms: Rooms,
    mark: fn(&Refusal) -> Mark,
    /// Work that goes on though whoever asked for it has gone.
    left: TaskTracker,
}

impl Protection {
    /// Composes `rooms`; `mark` says under which status and code a refusal is answered, so that the
    /// trail and the answer agree.
    #[must_use]
    pub fn new(rooms: Rooms, mark: fn(&Refusal) -> Mark) -> Self {
        Self {
            rooms,
            mark,
            left: TaskTracker::new(),
        }
    }

    /// Waits for the work whose clients have gone, so that it is recorded; at most so long, and says
    /// whether that was enough.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.left.close();
        tokio::time::timeout(patience, self.left.wait())
            .await
            .is_ok()
    }

    /// Answers with a refusal that was found before anything was asked of this room.
    ///
    /// # Errors
    /// When that could not be recorded.
    pub async fn refuse(&self, call: Call, refusal: Refusal) -> Result<Answer, Unrecorded> {
        self.conclude(call, Err(refusal)).await
    }

    /// Records the outcome, and makes the answer of the receipt.
    ///
    /// The record is handed over before anything is awaited: from the work that led to the outcome
    /// to here there is no point at which a caller that goes away could cut it off.
    async fn conclude(
        &self,
        call: Call,
        outcome: Result<Body, Refusal>,
    ) -> Result<Answer, Unrecorded> {
        let mark = match &outcome {
            Ok(_) => Mark::OK,
            Err(refusal) => (self.mark)(refusal),
        };
        let record = call.into_record(mark, outcome.as_ref().err());
        let pending = self.rooms.recorder.submit(record)?;
        let receipt = pending.receipt().instrument(step!("audit")).await?;
        Ok(Answer::new(receipt, outcome))
    }

    /// Does `work` to its end, even if whoever waits for it goes away.
    async fn unabandoned<F>(&self, work: F) -> Result<Answer, Unrecorded>
    where
        F: Future<Output = Result<Answer, Unrecorded>> + Send + 'static,
    {
        self.rooms.recorder.ready()?;
        unabandoned(caught(work), &self.left).await
    }

    /// The permission for an operation under the policy that a request means, which is noted in its
    /// record whether it exists or not.
    async fn permit(
        &self,
        call: &mut Call,
        application: &Application,
        operation: Operation,
        number: Option<&str>,
    ) -> Result<PolicyPermit, Refusal> {
        call.note_policy(number);
        let resolved = async {
            let policy = self.rooms.policies.resolve(application, number).await?;
            call.note_policy(Some(policy.policy_number.as_str()));
            Ok(authorize(application, operation)?.under(policy)?)
        };
        resolved.instrument(step!("permit")).await
    }
}

/// What panics is as if it could not be recorded, which it was not.
async fn caught(
    work: impl Future<Output = Result<Answer, Unrecorded>>,
) -> Result<Answer, Unrecorded> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or(Err(Unrecorded::Closed))
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection").finish_non_exhaustive()
    }
}

impl fmt::Debug for Rooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rooms").finish_non_exhaustive()
    }
}
