//! Several payloads or envelopes in one request.

mod body;
mod credential;
mod items;
mod kind;
mod work;

use std::num::NonZeroU32;

pub use self::body::MOST_ITEMS;
use self::body::Results;
pub use self::body::{
    ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch, UnprotectBatch, UnprotectedBatch,
};
pub(super) use self::credential::BatchCredential;
use self::items::EnvelopeWork;
pub use self::kind::{Batch, BatchLimits};
pub(super) use self::work::{BatchWork, Done, ItemWork};
use super::body::written;
use super::call::lane_of;
use super::long_work::Cost;
use super::{Answer, Authentication, Body, Call, PendingAnswer, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Caller;
use crate::body_memory::BodyBytes;
use formats::wiped::Wiped;

impl Protection {
    /// Does all items of `body`. The answer has their results in the same order. While it runs, the caller
    /// is authenticated `again`; if the credential is refused, no further item begins.
    pub async fn batch(
        &self,
        batch: Batch,
        call: Call,
        body: BodyBytes,
        limits: BatchLimits,
        again: Authentication,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let split = || batch.split(&call, &body);
            let (lane, size) = (call.lane(), body.len());
            let split = this.long_work.run(lane, Cost::Low, size, split);
            let (application, items) = match split.await {
                Ok(split) => split,
                Err(refusal) => return this.conclude(call, Err(refusal)).await,
            };
            // The items have copies, which use the body's share of the memory to the end of the work.
            let _share = body.share();
            drop(body);
            let clock = this.dependencies.clock.clone();
            let credential = BatchCredential::new(clock, application, call.arrived(), again);
            let work = EnvelopeWork { batch, item_bytes: limits.item_bytes };
            let work = BatchWork::new(&this, work, &call, credential, items, limits);
            let done = work.run().await?;
            let size = done.iter().flat_map(|done| &done.outcome).map(|body| body.0.len()).sum();
            let writing = |outcomes| this.written_batch(batch, &call, outcomes);
            this.conclude_items(&call, done, size, |_| None, writing).await
        })
        .await
    }

    /// The number of tokens that `body` takes from the rate limit, one for each item that `count` finds.
    pub async fn tokens(
        &self,
        caller: &Caller,
        body: &[u8],
        count: impl FnOnce(&[u8]) -> NonZeroU32,
    ) -> Result<NonZeroU32, Refusal> {
        let count = || Ok::<_, Refusal>(count(body));
        let (lane, size) = (lane_of(caller), body.len());
        self.long_work.run(lane, Cost::Low, size, count).await
    }

    /// Records all outcomes in one commit, and makes the answer from the receipt. `whole` is the refusal of the
    /// request as a whole, although its items were done. Otherwise, `write` writes about `size` bytes.
    pub(super) async fn conclude_items<T, A>(
        &self,
        call: &Call,
        done: Vec<Done<T>>,
        size: usize,
        whole: impl FnOnce(&[Result<T, Refusal>]) -> Option<Refusal>,
        write: impl FnOnce(Vec<Result<T, Refusal>>) -> Result<A, Refusal>,
    ) -> Result<Answer<A>, Unrecorded> {
        let concluded = done.into_iter().map(|Done { call, outcome, .. }| {
            let outcome = self.awaited(&call, outcome);
            (call, outcome)
        });
        let (calls, outcomes): (Vec<_>, Vec<_>) = concluded.unzip();
        let whole = whole(&outcomes);
        let unsent = whole.as_ref().map(|refusal| self.recorded_status(Some(refusal)));
        let records =
            calls.into_iter().zip(&outcomes).map(|(call, outcome)| match (outcome, unsent) {
                (Ok(_), Some(status)) => call.into_unsent_record(status),
                (Ok(_), None) => call.into_record(self.recorded_status(None), None),
                (Err(refusal), _) => {
                    call.into_record(self.recorded_status(Some(refusal)), Some(refusal))
                }
            });
        let pending = self.dependencies.recorder.submit_batch(records.collect())?;
        let written = match whole {
            Some(refusal) => Err(refusal),
            None => {
                // Writing takes no longer than the commit.
                let writing = || write(outcomes);
                self.long_work.finish(call.lane(), Cost::Low, size, writing).await
            }
        };
        PendingAnswer::new(pending, written).answer().await
    }

    fn written_batch(
        &self,
        batch: Batch,
        call: &Call,
        outcomes: Vec<Result<Body, Refusal>>,
    ) -> Result<Body, Refusal> {
        let refused = |refusal: Refusal| {
            let number = self.recorded_status(Some(&refusal)).number;
            let error = (self.error)(&refusal);
            let body = format!(r#"{{"status":{number},"error":{error}}}"#);
            Body(Wiped::new(body.into_bytes()))
        };
        let items: Vec<_> =
            outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(refused)).collect();
        let items = Results(&items);
        let (request_id, length) = (call.tag(), items.length());
        match batch {
            Batch::Protect => written(length, &ProtectedBatch { request_id, items }),
            Batch::Unprotect => written(length, &UnprotectedBatch { request_id, items }),
            Batch::Rewrap => written(length, &RewrappedBatch { request_id, items }),
        }
    }
}

const _: () = assert!(MOST_ITEMS == crate::ratelimit::MOST_TOKENS as usize);
