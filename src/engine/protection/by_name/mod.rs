//! Operations with a key that its name and version select: one, or several in one request.
//!
//! The API reads the request and writes the results. Permits, keys, records and limits are those of
//! [`operate`](super::operate).

mod aead;
mod choice;
mod items;
mod operation;
mod scheme;
mod signing;

use std::sync::Arc;

use tracing::Instrument as _;

use self::items::NamedWork;
pub use self::operation::{
    MOST_ASSOCIATED_DATA, NamedItem, NamedOperation, NamedRequest, NamedResult, RsaPadding,
    SignedInput, SigningWish, VersionedSealed,
};
use super::batch::{BatchCredential, BatchWork};
use super::long_work::Cost;
use super::operate::{hash, permit};
use super::{Answer, Authentication, BatchLimits, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::body_memory::BodyBytes;
use crate::telemetry::step;
use formats::json::Text;

/// Reads a request and writes its answer in the format of an API.
pub trait NamedFormat: Send + Sync + 'static {
    /// What the API sends.
    type Answer: Send + 'static;

    /// Reads the body of a request of `caller`.
    fn read(&mut self, caller: &Application, text: Text<'_>) -> Result<NamedRequest, Refusal>;

    /// Writes the result of one operation.
    fn write(&self, result: NamedResult) -> Result<Self::Answer, Refusal>;

    /// The refusal of a request as a whole because of the outcomes of its operations.
    fn refuse_all(&self, outcomes: &[Result<NamedResult, Refusal>]) -> Option<Refusal>;

    /// Writes the outcomes of several operations, in the order of the request.
    fn write_all(
        &self,
        outcomes: Vec<Result<NamedResult, Refusal>>,
    ) -> Result<Self::Answer, Refusal>;
}

impl Protection {
    /// Does what `body` asks for. While several operations run, the caller is authenticated `again`.
    pub async fn operate_by_name<F: NamedFormat>(
        &self,
        mut call: Call,
        body: BodyBytes,
        mut format: F,
        limits: BatchLimits,
        again: Authentication,
    ) -> Result<Answer<F::Answer>, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let read = this.read_named(&mut call, &body, &mut format).await;
            let (application, request) = match read {
                Ok(read) => read,
                Err(refusal) => return this.conclude(call, Err(refusal)).await,
            };
            // What was read uses the body's share of the memory to the end of the work.
            let _share = body.share();
            let sent = body.len();
            drop(body);
            match request {
                NamedRequest::One { key, item } => {
                    let key = key.as_deref();
                    let done = this.one_by_name(&mut call, &application, key, &item).await;
                    let written = match done {
                        Ok(result) => this.write_named(&call, &format, result).await,
                        Err(refusal) => Err(refusal),
                    };
                    this.conclude(call, written).await
                }
                NamedRequest::Several { key, items } => {
                    let clock = this.dependencies.clock.clone();
                    let credential =
                        BatchCredential::new(clock, application, call.arrived(), again);
                    let work = NamedWork { key: key.map(Arc::from) };
                    let work = BatchWork::new(&this, work, &call, credential, items, limits);
                    let done = work.run().await?;
                    let results = done.iter().flat_map(|done| &done.outcome);
                    // The answer repeats parts of the request, such as the references of the items.
                    let size = sent + results.map(NamedResult::size).sum::<usize>();
                    let whole = |outcomes: &[_]| format.refuse_all(outcomes);
                    let writing = |outcomes| format.write_all(outcomes);
                    this.conclude_items(&call, done, size, whole, writing).await
                }
            }
        })
        .await
    }

    async fn read_named<F: NamedFormat>(
        &self,
        call: &mut Call,
        body: &[u8],
        format: &mut F,
    ) -> Result<(Application, NamedRequest), Refusal> {
        // An empty body is an empty object.
        let body = if body.is_empty() { b"{}" } else { body };
        let (application, text) = self.admit(call, body).await?;
        let reading = || format.read(&application, text);
        let lane = call.lane();
        let request = self.long_work.run(lane, Cost::Low, body.len(), reading).await?;
        if let NamedRequest::One { item, .. } = &request {
            call.note_size(item.sent);
        }
        Ok((application, request))
    }

    async fn one_by_name(
        &self,
        call: &mut Call,
        application: &Application,
        key: Option<&str>,
        item: &NamedItem,
    ) -> Result<NamedResult, Refusal> {
        let name = key.unwrap_or_default();
        let operation = self.operate_on(call, application, name, &item.operation);
        let result = operation.instrument(step!("crypto")).await?;
        self.check_again(call, application, None).await?;
        Ok(result)
    }

    async fn write_named<F: NamedFormat>(
        &self,
        call: &Call,
        format: &F,
        result: NamedResult,
    ) -> Result<F::Answer, Refusal> {
        let size = result.size();
        self.long_work.finish(call.lane(), Cost::Low, size, || format.write(result)).await
    }

    /// One operation of a request.
    async fn operate_on(
        &self,
        call: &mut Call,
        application: &Application,
        name: &str,
        operation: &NamedOperation,
    ) -> Result<NamedResult, Refusal> {
        match operation {
            NamedOperation::Encrypt { plaintext, aad, version } => {
                let permit = permit(application)?;
                let sealed = self.seal_by_name(call, &permit, name, *version, plaintext, aad);
                Ok(NamedResult::Sealed(sealed.await?))
            }
            NamedOperation::Decrypt { version, sealed, aad } => {
                let permit = permit(application)?;
                let opened = self.open_by_name(call, &permit, name, *version, sealed, aad);
                Ok(NamedResult::Opened(opened.await?))
            }
            NamedOperation::Rewrap { from, sealed, aad, to } => {
                let permits = (permit(application)?, permit(application)?);
                let rewrapped =
                    self.rewrap_by_name(call, &permits, name, (*from, *to), sealed, aad);
                Ok(NamedResult::Sealed(rewrapped.await?))
            }
            NamedOperation::MakeDataKey { length, aad, version } => {
                let permit = permit(application)?;
                self.data_key_by_name(call, &permit, name, *version, *length, aad).await
            }
            NamedOperation::Sign { input, wish, version } => {
                let permit = permit(application)?;
                self.sign_by_name(call, &permit, name, *version, input, wish).await
            }
            NamedOperation::Verify { input, wish, version, signature } => {
                let permit = permit(application)?;
                let version = *version;
                self.verify_by_name(call, &permit, name, version, input, wish, signature).await
            }
            NamedOperation::Hash { algorithm, input } => {
                let (permit, floor) = (permit(application)?, self.dependencies.floor);
                Ok(NamedResult::Hashed(hash(&permit, floor, *algorithm, input)?))
            }
        }
    }
}
