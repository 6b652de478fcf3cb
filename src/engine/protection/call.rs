//! One request of an authenticated caller, from its arrival to its record.

use std::time::Duration;

use super::{Authentication, RecordedStatus, Refusal};
use crate::audit::{Endpoint, OperationType, Outcome, Record, RewrapTarget};
use crate::auth::{Application, Caller};
use crate::ids::KeyId;
use crate::operation::Operation;
use crate::policy::NotAllowed;
use crate::ratelimit::{BucketState, Exceeded};
use crate::request_tag::RequestTag;
use formats::envelope::ContextTag;
use formats::json::Text;

/// How long an operation relies on what it has checked.
pub(super) const FRESH_FOR: Duration = Duration::from_millis(250);

/// A request of an authenticated caller. Its outcome is always recorded.
#[derive(Debug)]
pub struct Call {
    caller: Caller,
    admitted: Result<BucketState, Exceeded>,
    /// None of an item of a batch: the batch checks its credential.
    again: Option<Authentication>,
    tag: RequestTag,
    record: Record,
}

impl Call {
    /// The request `tag`, which arrived at `endpoint` at that time, with the rate limiter's decision.
    pub fn new(
        (caller, again): (Caller, Authentication),
        admitted: Result<BucketState, Exceeded>,
        endpoint: Endpoint,
        tag: RequestTag,
        arrived: Duration,
    ) -> Self {
        let record = Record {
            request_id: tag.as_str().into(),
            service_id: caller.service_id(),
            credential_id: Some(caller.credential_id()),
            token_subject: caller.token_subject().map(Box::from),
            operation_type: endpoint.operation_type(),
            endpoint: Some(endpoint),
            policy_number: None,
            key_id: None,
            ctx: None,
            payload_size_bytes: 0,
            response_status: 0,
            arrived,
            error_code: None,
            outcome: Outcome::Done,
            error_message: None,
            client_address: Some(caller.client_address()),
            item: None,
            sealing: endpoint.sealing(),
        };
        Self { caller, admitted, again: Some(again), tag, record }
    }

    /// The identifier of the request.
    pub fn tag(&self) -> &RequestTag {
        &self.tag
    }

    /// The call of one item of a batch.
    pub(super) fn item(&self, place: u16) -> Self {
        Self {
            caller: self.caller.clone(),
            admitted: self.admitted,
            again: None,
            tag: self.tag.clone(),
            record: Record { item: Some(place), ..self.record.clone() },
        }
    }

    /// The further members that an envelope to open may have: an item of a batch has the `status` of the
    /// answer that made it.
    pub(super) fn ignored(&self) -> &'static [&'static str] {
        match self.record.item {
            Some(_) => &["status"],
            None => &[],
        }
    }

    /// When the request arrived, on the monotonic clock.
    pub(super) fn arrived(&self) -> Duration {
        self.record.arrived
    }

    /// The `requestId` of the answer. An item of a batch has none.
    pub(super) fn request_id(&self) -> Option<&RequestTag> {
        self.record.item.is_none().then_some(&self.tag)
    }

    /// The `status` of the answer, which only an item of a batch has.
    pub(super) fn item_status(&self) -> Option<u16> {
        self.record.item.map(|_| 200)
    }

    /// The first refusals in their order: no JSON, no application, rate limit exceeded, caller frozen.
    pub(super) fn admit<'a>(&self, body: &'a [u8]) -> Result<(Application, Text<'a>), Refusal> {
        let text = Text::parse(body)?;
        Ok((self.application()?, text))
    }

    /// The calling application.
    pub fn application(&self) -> Result<Application, Refusal> {
        let application = self.caller.clone().application()?;
        self.admitted?;
        thawed(application)
    }

    /// Refuses a credential that was revoked or lost a right since `application` was authenticated.
    pub(super) async fn check_credential(&self, application: &Application) -> Result<(), Refusal> {
        let Some(again) = &self.again else {
            return Ok(());
        };
        let now = again.application(application).await?;
        let is_lost = |right: &Operation| application.may(*right) && !now.may(*right);
        match Operation::ALL.into_iter().find(is_lost) {
            Some(lost) => Err(NotAllowed::ByApiKey(lost).into()),
            None => Ok(()),
        }
    }

    /// The lane of queues for this call.
    pub(super) fn lane(&self) -> u64 {
        lane_of(&self.caller)
    }

    pub(super) fn note_operation(&mut self, operation: OperationType) {
        self.record.operation_type = Some(operation);
    }

    pub(super) fn note_outcome(&mut self, outcome: Outcome) {
        self.record.outcome = outcome;
    }

    pub(super) fn note_policy(&mut self, number: Option<&str>) {
        self.record.policy_number = number.map(Into::into);
    }

    pub(super) fn note_key(&mut self, key: KeyId) {
        self.record.key_id = Some(key);
    }

    pub(super) fn note_ctx(&mut self, ctx: Option<ContextTag>) {
        self.record.ctx = ctx;
    }

    /// The keys that it has used so far.
    pub(super) fn keys(&self) -> impl Iterator<Item = KeyId> {
        let sealing = self.record.sealing.as_ref().and_then(|sealing| sealing.key_id);
        self.record.key_id.into_iter().chain(sealing)
    }

    /// The part of a rewrap that creates the new envelope.
    pub(super) fn sealing(&mut self) -> &mut RewrapTarget {
        self.record.sealing.get_or_insert_default()
    }

    pub(super) fn note_payload(&mut self, payload: Option<Text<'_>>) {
        self.note_size(payload.map_or(0, |payload| payload.as_str().len()));
    }

    /// Notes the size of the payload as it was sent.
    pub(super) fn note_size(&mut self, bytes: usize) {
        self.record.payload_size_bytes = bytes;
    }

    pub(super) fn into_record(self, status: RecordedStatus, refusal: Option<&Refusal>) -> Record {
        Record {
            response_status: status.number,
            error_code: status.code,
            outcome: refusal.map_or(self.record.outcome, |_| status.outcome),
            error_message: refusal.map(|refusal| refusal.to_string().into()),
            ..self.record
        }
    }

    /// The record of an item that was done, in a batch that is refused as a whole with this status.
    pub(super) fn into_unsent_record(self, status: RecordedStatus) -> Record {
        Record {
            response_status: status.number,
            error_code: status.code,
            outcome: Outcome::Failed,
            error_message: Some("the operation was done; its result was not sent".into()),
            ..self.record
        }
    }
}

/// The application, unless it is frozen.
pub(super) fn thawed(application: Application) -> Result<Application, Refusal> {
    match application.frozen() {
        Some(frozen) => Err(NotAllowed::from(frozen).into()),
        None => Ok(application),
    }
}

/// The lane of queues for this caller: a service's burst delays its own operations first.
pub(super) fn lane_of(caller: &Caller) -> u64 {
    let service = caller.service_id();
    service.map_or(0, |service| service.uuid().as_u64_pair().1)
}
