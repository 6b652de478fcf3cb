//! Several payloads or envelopes in one request.

mod body;
mod work;

use std::num::NonZeroU32;
use std::time::Duration;

use tracing::Instrument as _;

use self::body::{Items, MOST_ITEMS, Results};
pub(crate) use self::body::{
    ProtectBatch, ProtectedBatch, RewrapBatch, RewrappedBatch, UnprotectBatch, UnprotectedBatch,
};
use self::work::{Done, Work};
use super::body::written;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::json::Text;
use crate::problem::Problems;
use crate::telemetry::step;
use crate::wiped::Wiped;

/// The operation of all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// `/protect/batch`
    Protect,
    /// `/unprotect/batch`
    Unprotect,
    /// `/rewrap/batch`
    Rewrap,
}

/// The limits of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// The maximum size of an item, in bytes.
    pub item_bytes: usize,
    /// How many items are done at the same time.
    pub tasks: usize,
    /// How long after the arrival of the request items are begun.
    pub begin_within: Duration,
}

/// The content of an item.
type Item = Wiped<Vec<u8>>;

impl Batch {
    /// The number of items in `body`, which is the number of tokens that it takes from the rate limit. A
    /// body that is refused as a whole takes one.
    #[must_use]
    pub fn tokens(self, body: &[u8]) -> NonZeroU32 {
        let items = Text::parse(body).ok().and_then(|text| self.read(text).ok());
        let count = items.and_then(|items| u32::try_from(items.0.len()).ok());
        count.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
    }

    fn read(self, text: Text<'_>) -> Result<Items<'_>, Problems> {
        match self {
            Self::Protect => ProtectBatch::items_of(text),
            Self::Unprotect => UnprotectBatch::items_of(text),
            Self::Rewrap => RewrapBatch::items_of(text),
        }
    }

    /// The items of `body`, each in its own buffer, so that the body can be dropped.
    fn split(self, call: &Call, body: &[u8]) -> Result<(Application, Vec<Item>), Refusal> {
        let (application, text) = call.admit(body)?;
        let items = self.read(text)?.0.into_iter();
        let items = items.map(|item| Wiped::new(item.as_str().as_bytes().to_vec()));
        Ok((application, items.collect()))
    }
}

impl Protection {
    /// Does all items of `body`. The answer has their results in the same order.
    ///
    /// # Errors
    /// When the outcomes could not be recorded; then nothing leaves.
    pub async fn batch(
        &self,
        batch: Batch,
        call: Call,
        body: Wiped<Vec<u8>>,
        limits: BatchLimits,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let (application, items) = match batch.split(&call, &body) {
                Ok(split) => split,
                Err(refusal) => return this.conclude(call, Err(refusal)).await,
            };
            drop(body);
            let work = Work::new(&this, batch, &call, application, items, limits);
            let done = work.run(limits.tasks).await?;
            this.conclude_batch(batch, &call, done).await
        })
        .await
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
            let refusal = outcome.as_ref().err();
            let status = (self.status)(refusal);
            records.push(call.into_record(status, refusal));
            results.push(outcome.unwrap_or_else(|refusal| {
                let error = (self.error)(&refusal);
                let number = status.number;
                Body(Wiped::new(format!(
                    r#"{{"status":{number},"error":{error}}}"#
                )))
            }));
        }
        let pending = self.modules.recorder.submit_batch(records)?;
        // Writing takes no longer than the commit.
        let body = written_batch(batch, call, Results(&results));
        let receipt = pending.receipt().instrument(step!("audit")).await?;
        Ok(Answer::new(receipt, body))
    }
}

fn written_batch(batch: Batch, call: &Call, results: Results<'_>) -> Result<Body, Refusal> {
    let (head, length) = (call.head(), results.length());
    match batch {
        Batch::Protect => written(length, &ProtectedBatch::of(head, results)),
        Batch::Unprotect => written(length, &UnprotectedBatch::of(head, results)),
        Batch::Rewrap => written(length, &RewrappedBatch::of(head, results)),
    }
}

const _: () = assert!(MOST_ITEMS == crate::ratelimit::MOST_TOKENS as usize);
