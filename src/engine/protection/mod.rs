//! What the runtime does for applications: protect, unprotect, rewrap, and operations of their choice.
//!
//! This module composes the path of a request: from the caller to a permit, from the permit to a key,
//! from the key to a result, from the result to an audit record, and from the record's receipt to an
//! [`Answer`]. A result that is not permitted or not recorded does not leave. This module knows no
//! HTTP: its caller passes down the function that gives each result its status.

#![deny(clippy::wildcard_enum_match_arm)]

mod again;
mod answer;
mod authentication;
mod batch;
mod body;
mod by_name;
mod call;
mod data_key;
mod form;
mod long_work;
mod lookup;
mod operate;
mod protect;
mod recorded_status;
mod refusal;
mod rewrap;
mod run_to_completion;
mod sealing;
mod unprotect;

use std::sync::Arc;
use std::time::Duration;

use hsm::Caller;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use self::answer::PendingAnswer;
pub use self::answer::{Answer, Body};
pub use self::authentication::Authentication;
pub use self::batch::{Batch, BatchLimits, MOST_ITEMS};
pub use self::batch::{
    ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch, UnprotectBatch, UnprotectedBatch,
};
pub use self::by_name::{
    MOST_ASSOCIATED_DATA, NamedFormat, NamedItem, NamedOperation, NamedRequest, NamedResult,
    RsaPadding, SignedInput, SigningWish, VersionedSealed,
};
pub use self::call::Call;
pub use self::data_key::{DataKey, DataKeyRequest};
pub use self::long_work::LongWorkStatus;
use self::long_work::{Cost, LongWork};
pub use self::lookup::PolicyToProtect;
pub use self::operate::{OperationAnswer, OperationRequest, SignatureFormat, hash};
pub use self::protect::{ProtectRequest, ProtectedPayload};
pub use self::recorded_status::{AnswerStatus, RecordedStatus};
pub use self::refusal::{Refusal, VersionRefused};
pub use self::rewrap::{RewrapRequest, RewrappedPayload};
use self::run_to_completion::run_to_completion;
pub use self::unprotect::{UnprotectRequest, Unprotected};
use crate::audit::{Recorder, Unrecorded};
use crate::auth::Application;
use crate::floor::Floor;
use crate::keys::Keyring;
use crate::policy::{Policies, Policy, PolicyPermit, to};
use crate::telemetry::step;
use crate::web::UnreadableBody;
use formats::clock::{Clock, Entropy};
use formats::json::Text;
use formats::material::Algorithm;

/// What a request uses.
#[derive(Clone)]
pub struct Dependencies {
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub entropy: Entropy,
    pub policies: Arc<Policies>,
    /// The keys and their operations.
    pub keyring: Arc<Keyring>,
    /// The audit log.
    pub recorder: Recorder,
    /// The algorithms that make something new.
    pub floor: Floor,
    /// Whether envelopes of HPKE are read.
    pub post_quantum: bool,
    /// The time after which a request is answered in any case.
    pub request_timeout: Duration,
}

/// Protects, unprotects and operates. Cheap to clone.
#[derive(Clone)]
pub struct Protection {
    dependencies: Dependencies,
    status: fn(&Refusal) -> AnswerStatus,
    error: fn(&Refusal) -> String,
    /// Work that completes even if its client disconnects.
    tasks: TaskTracker,
    long_work: LongWork,
}

impl Protection {
    /// Composes the dependencies. `status` gives the status and code of a refusal, so that the audit log and
    /// the answer agree. `error` gives the JSON of a refused item of a batch.
    pub fn new(
        dependencies: Dependencies,
        status: fn(&Refusal) -> AnswerStatus,
        error: fn(&Refusal) -> String,
    ) -> Self {
        Self { dependencies, status, error, tasks: TaskTracker::new(), long_work: LongWork::new() }
    }

    /// The same for another API, which has its own statuses.
    pub fn behind(&self, status: fn(&Refusal) -> AnswerStatus) -> Self {
        Self { status, ..self.clone() }
    }

    /// The work on large bodies, for metrics.
    pub fn long_work(&self) -> LongWorkStatus {
        self.long_work.status()
    }

    /// Waits until all work is recorded. Whether it is within `patience`.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.tasks.close();
        tokio::time::timeout(patience, self.tasks.wait()).await.is_ok()
    }

    /// Answers with a refusal that precedes this module.
    pub async fn refuse(&self, call: Call, refusal: Refusal) -> Result<Answer, Unrecorded> {
        self.conclude(call, Err(refusal)).await
    }

    /// Records the outcome, and makes the answer from the receipt.
    async fn conclude<T>(
        &self,
        call: Call,
        outcome: Result<T, Refusal>,
    ) -> Result<Answer<T>, Unrecorded> {
        self.record(call, outcome)?.answer().await
    }

    /// Hands over the record of the outcome. It waits for nothing, so that a client that disconnects cannot
    /// cancel the request between the work and its record.
    fn record<T>(
        &self,
        call: Call,
        outcome: Result<T, Refusal>,
    ) -> Result<PendingAnswer<T>, Unrecorded> {
        let outcome = self.awaited(&call, outcome);
        let refusal = outcome.as_ref().err();
        let is_over_limit = matches!(refusal, Some(Refusal::Limited(_)));
        let record = call.into_record(self.recorded_status(refusal), refusal);
        let pending = if is_over_limit {
            self.dependencies.recorder.submit_over_limit(record)?
        } else {
            self.dependencies.recorder.submit(record)?
        };
        Ok(PendingAnswer::new(pending, outcome))
    }

    fn recorded_status(&self, refusal: Option<&Refusal>) -> RecordedStatus {
        RecordedStatus::of(refusal, self.status)
    }

    /// The outcome of a request. If nobody waits for it any more, the client has left, or has the answer that
    /// the time limit of the request gives.
    fn awaited<T>(&self, call: &Call, outcome: Result<T, Refusal>) -> Result<T, Refusal> {
        if !Caller::is_gone() {
            return outcome;
        }
        let Dependencies { clock, request_timeout, .. } = &self.dependencies;
        let done = outcome.is_ok();
        match clock.monotonic().saturating_sub(call.arrived()) < *request_timeout {
            true => Err(Refusal::ClientLeft { done }),
            false => Err(Refusal::TimedOut { done }),
        }
    }

    /// The first refusals of a request, and its body.
    async fn admit<'a>(
        &self,
        call: &Call,
        body: &'a [u8],
    ) -> Result<(Application, Text<'a>), Refusal> {
        let admitting = || call.admit(body);
        let size = body.len();
        self.long_work.run(call.lane(), Cost::Low, size, admitting).await
    }

    /// Does `work` to its end, even if the client disconnects. Its token operations wait in `lane`.
    fn run_to_completion<F, T>(
        &self,
        lane: u64,
        work: F,
    ) -> impl Future<Output = Result<T, Unrecorded>> + Send
    where
        F: Future<Output = Result<T, Unrecorded>> + Send + 'static,
        T: Send + 'static,
    {
        let work = run_to_completion(work, lane, &self.tasks);
        async move {
            self.dependencies.recorder.ready()?;
            // Work that panics is not recorded.
            work.await.unwrap_or(Err(Unrecorded::Closed))
        }
    }

    /// The permit to protect under the policy that a request names or defaults to. A new data key has the
    /// algorithm `data_key`.
    async fn permit(
        &self,
        call: &mut Call,
        application: &Application,
        number: Option<&str>,
        data_key: Option<Algorithm>,
    ) -> Result<PolicyPermit<to::Protect>, Refusal> {
        let permitted = async {
            let policy = self.resolve(call, application, number).await?;
            let key = self.dependencies.keyring.receiving_algorithm(&policy).await?;
            let keys = key.into_iter().chain(data_key);
            Ok(self.dependencies.policies.permit(application, policy, keys).await?)
        };
        permitted.instrument(step!("permit")).await
    }

    /// The policy that a request names or defaults to. The record notes its number, whether it exists
    /// or not.
    async fn resolve(
        &self,
        call: &mut Call,
        application: &Application,
        number: Option<&str>,
    ) -> Result<Arc<Policy>, Refusal> {
        call.note_policy(number);
        let policy = self.dependencies.policies.resolve(application, number).await?;
        call.note_policy(Some(policy.policy_number.as_str()));
        Ok(policy)
    }
}
