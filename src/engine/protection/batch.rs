//! Several payloads or envelopes in one request.

mod body;
mod credential;
mod items;
mod kind;
mod work;

use std::num::NonZeroU32;

use tracing::Instrument as _;

use self::body::{MOST_ITEMS, Results};
pub use self::body::{
    ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch, UnprotectBatch, UnprotectedBatch,
};
pub use self::credential::Authentication;
use self::credential::Credential;
pub use self::kind::{Batch, BatchLimits};
use self::work::{BatchWork, Done};
use super::body::written;
use super::call::lane_of;
use super::long_work::Cost;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Caller;
use crate::body_memory::BodyBytes;
use crate::telemetry::step;
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
            let credential = Credential::new(clock, application, call.arrived(), again);
            let work = BatchWork::new(&this, batch, &call, credential, items, limits);
            let done = work.run().await?;
            this.conclude_batch(batch, &call, done).await
        })
        .await
    }

    /// The number of tokens that `body` takes from the rate limit, one for each item.
    pub async fn tokens(
        &self,
        caller: &Caller,
        batch: Batch,
        body: &[u8],
    ) -> Result<NonZeroU32, Refusal> {
        let count = || Ok::<_, Refusal>(batch.tokens(body));
        let (lane, size) = (lane_of(caller), body.len());
        self.long_work.run(lane, Cost::Low, size, count).await
    }

    /// Records all outcomes in one commit, and makes the answer from the receipt.
    async fn conclude_batch(
        &self,
        batch: Batch,
        call: &Call,
        done: Vec<Done>,
    ) -> Result<Answer, Unrecorded> {
        let mut records = Vec::with_capacity(done.len());
        let mut results = Vec::with_capacity(done.len());
        for Done { call, outcome, .. } in done {
            let outcome = self.awaited(&call, outcome);
            let refusal = outcome.as_ref().err();
            let status = (self.status)(refusal);
            records.push(call.into_record(status, refusal));
            results.push(outcome.unwrap_or_else(|refusal| {
                let error = (self.error)(&refusal);
                let number = status.number;
                let body = format!(r#"{{"status":{number},"error":{error}}}"#);
                Body(Wiped::new(body.into_bytes()))
            }));
        }
        let pending = self.dependencies.recorder.submit_batch(records)?;
        // Writing takes no longer than the commit.
        let results = Results(&results);
        let writing = || written_batch(batch, call, results);
        let body = self.long_work.finish(call.lane(), Cost::Low, results.length(), writing).await;
        let receipt = pending.receipt().instrument(step!("audit")).await?;
        Ok(Answer::new(receipt, body))
    }
}

fn written_batch(batch: Batch, call: &Call, items: Results<'_>) -> Result<Body, Refusal> {
    let (request_id, length) = (call.tag(), items.length());
    match batch {
        Batch::Protect => written(length, &ProtectedBatch { request_id, items }),
        Batch::Unprotect => written(length, &UnprotectedBatch { request_id, items }),
        Batch::Rewrap => written(length, &RewrappedBatch { request_id, items }),
    }
}

const _: () = assert!(MOST_ITEMS == crate::ratelimit::MOST_TOKENS as usize);
