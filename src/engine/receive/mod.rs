//! Receives the requests of every API in the same way: the caller, its rate limit, and the body.
//!
//! The rules of an API say where its requests carry the credential and which bodies it reads. The order of the
//! refusals is that of this module.

#![deny(clippy::wildcard_enum_match_arm)]

mod admin_caller;
mod application;
mod batch;
mod frame;
mod sent;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use tokio::time::timeout;
use tracing::Instrument as _;

pub use self::admin_caller::{AdminCaller, access_token_of_person};
pub use self::application::{Admission, RequestOrigin, anonymous_record};
pub use self::batch::{begin_within, token_operations};
pub use self::frame::{note_client, refused_head, request_tag, traceparent};
pub use self::sent::sent;
use crate::audit::{Endpoint, Unrecorded};
use crate::auth::{Caller, Credentials, Denied};
use crate::body_memory::{BodyBytes, BodyShare, SMALL_BODY};
use crate::protection::{Answer, Authentication, Call, Protection, Refusal};
use crate::ratelimit::{BucketState, Exceeded, network_of};
use crate::telemetry::step;
use crate::web::{Engine, LoggedCaller, UnreadableBody, read_body};

/// The rules of an API for its requests.
#[derive(Clone, Copy, Debug)]
pub struct ApiRules {
    /// The credentials of a request.
    pub credentials: for<'p> fn(&'p Parts) -> Credentials<'p>,
    /// Refuses a body by its headers.
    pub check_body: fn(&Parts) -> Result<(), UnreadableBody>,
    /// The bytes that the answer to an item of a batch has beside what the request contains.
    pub answer_bytes: usize,
}

/// The number of tokens that a body takes from the rate limit.
pub type CountTokens = dyn Fn(&[u8]) -> NonZeroU32 + Send + Sync;

/// An operation that a request asks for.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub endpoint: Endpoint,
    /// The maximum size of the body.
    pub limit: usize,
    /// The number of tokens that the body takes from the rate limit; none if each takes one.
    pub tokens: Option<&'a CountTokens>,
}

/// A request of an identified caller, with its body.
pub struct Received {
    pub call: Call,
    /// Authenticates the caller again.
    pub again: Authentication,
    pub parts: Parts,
    pub body: BodyBytes,
    pub bucket: BucketState,
    /// The memory of the body and of the response.
    pub share: Option<Arc<BodyShare>>,
}

/// A request that is refused before its operation.
pub enum NotReceived {
    /// The request is not authenticated. The API answers and records it with [`anonymous_record`].
    Anonymous(Box<Anonymous>),
    /// The refusal of an identified caller is recorded.
    Refused(Result<Answer, Unrecorded>, BucketState),
}

/// An unauthenticated request.
pub struct Anonymous {
    pub origin: RequestOrigin,
    pub parts: Parts,
    pub denied: Denied,
    pub body: Result<BodyBytes, UnreadableBody>,
}

/// The time in which the body of a log-in must arrive.
const LOG_IN_PATIENCE: Duration = Duration::from_secs(5);

/// Reading a body that takes longer has the credential checked again.
pub const CREDENTIAL_FRESHNESS: Duration = Duration::from_millis(250);

/// Receives a request. The credential is checked before the body is read; the order of refusals is
/// kept all the same: malformed JSON comes before a bad credential.
pub async fn receive(
    engine: &Arc<Engine>,
    protection: &Protection,
    rules: ApiRules,
    reading: Reading<'_>,
    request: Request,
) -> Result<Received, NotReceived> {
    let origin = RequestOrigin::of(engine, reading.endpoint, &request);
    let (parts, body) = request.into_parts();
    let credentials = (rules.credentials)(&parts);
    let authenticated = engine.authenticate(&credentials, origin.client);
    match authenticated.instrument(step!("caller")).await {
        Ok(caller) => {
            LoggedCaller::note(&parts.extensions, caller.id());
            let arrived = Arrived { engine, protection, rules, origin };
            arrived.body_of(caller, reading, parts, body).await
        }
        Err(denied) => {
            let limit = engine.settings.limits.max_body_bytes;
            let body = read_refused(engine, rules, origin.client, &parts, body, limit).await;
            Err(anonymous(origin, parts, denied, body))
        }
    }
}

/// Reads the body of a request that will be refused.
pub async fn read_refused(
    engine: &Engine,
    rules: ApiRules,
    client: IpAddr,
    parts: &Parts,
    body: Body,
    limit: usize,
) -> Result<BodyBytes, UnreadableBody> {
    (rules.check_body)(parts)?;
    match engine.body_memory.refused.try_take(Some(network_of(client)), 1) {
        Some(_permit) => read_body(parts, body, limit, None).await,
        None => Err(UnreadableBody::NoMemory),
    }
}

/// Reads the body of a log-in, whose caller it names.
pub async fn read_log_in(
    engine: &Engine,
    rules: ApiRules,
    client: IpAddr,
    parts: &Parts,
    body: Body,
) -> Result<BodyBytes, UnreadableBody> {
    (rules.check_body)(parts)?;
    let permit = engine.body_memory.log_ins.try_take(Some(network_of(client)), 1);
    let _permit = permit.ok_or(UnreadableBody::NoMemory)?;
    let reading = read_body(parts, body, SMALL_BODY, None);
    timeout(LOG_IN_PATIENCE, reading).await.unwrap_or(Err(UnreadableBody::Late))
}

fn anonymous(
    origin: RequestOrigin,
    parts: Parts,
    denied: Denied,
    body: Result<BodyBytes, UnreadableBody>,
) -> NotReceived {
    NotReceived::Anonymous(Box::new(Anonymous { origin, parts, denied, body }))
}

/// A request whose caller is authenticated.
struct Arrived<'a> {
    engine: &'a Arc<Engine>,
    protection: &'a Protection,
    rules: ApiRules,
    origin: RequestOrigin,
}

impl Arrived<'_> {
    async fn body_of(
        self,
        caller: Caller,
        reading: Reading<'_>,
        parts: Parts,
        body: Body,
    ) -> Result<Received, NotReceived> {
        let Self { engine, protection, rules, .. } = self;
        let admitted = engine.admit(&caller).instrument(step!("limit")).await;
        let body = if admitted.is_ok() {
            match (rules.check_body)(&parts) {
                Ok(()) => {
                    let memory = Some(engine.memory_of(&caller));
                    read_body(&parts, body, reading.limit, memory).await
                }
                Err(unreadable) => Err(unreadable),
            }
        } else {
            // Without a token, the body is read for its syntax only.
            read_refused(engine, rules, self.origin.client, &parts, body, reading.limit).await
        };
        let caller = match self.revalidate(caller, &parts).await {
            Ok(caller) => caller,
            Err(denied) => return Err(anonymous(self.origin, parts, denied, body)),
        };
        let (admitted, body) = match (admitted, reading.tokens, body) {
            (Ok(bucket), Some(count), Ok(body)) => {
                match protection.tokens(&caller, &body, count).await {
                    Ok(tokens) => {
                        let admitted = admit_items(engine, &caller, bucket, tokens, &body).await;
                        (admitted, Ok((body, tokens)))
                    }
                    Err(refusal) => (Ok(bucket), Err(refusal)),
                }
            }
            (admitted, _, body) => {
                (admitted, body.map(|body| (body, NonZeroU32::MIN)).map_err(Refusal::from))
            }
        };
        let (body, answer) = match body {
            Ok((body, tokens)) if admitted.is_ok() => {
                match self.reserve_answer(&caller, &body, tokens).await {
                    Ok(answer) => (Ok(body), answer),
                    Err(refusal) => (Err(refusal), None),
                }
            }
            Ok((body, _)) => (Ok(body), None),
            Err(refusal) => (Err(refusal), None),
        };
        let bucket = admitted.unwrap_or_else(|exceeded| exceeded.bucket);
        let again = self.authentication(&parts);
        let RequestOrigin { endpoint, tag, arrived, .. } = self.origin;
        let call = Call::new((caller, again.clone()), admitted, endpoint, tag, arrived);
        match body {
            Ok(body) => {
                let share = answer.or_else(|| body.share());
                Ok(Received { call, again, parts, share, body, bucket })
            }
            Err(refusal) => {
                let refusal = match (refusal, call.application()) {
                    // The syntax of a longer body is unknown.
                    (
                        Refusal::UnreadableBody(
                            UnreadableBody::TooLarge | UnreadableBody::NoMemory,
                        ),
                        Err(limited),
                    ) if admitted.is_err() => limited,
                    (refusal, _) => refusal,
                };
                let answered = protection.refuse(call, refusal).await;
                Err(NotReceived::Refused(answered, bucket))
            }
        }
    }

    /// Reserves memory for the answer to a batch: it can be far larger than the request.
    async fn reserve_answer(
        &self,
        caller: &Caller,
        body: &BodyBytes,
        items: NonZeroU32,
    ) -> Result<Option<Arc<BodyShare>>, Refusal> {
        let items = usize::try_from(items.get()).unwrap_or(usize::MAX);
        let beside = items.saturating_mul(self.rules.answer_bytes);
        // The share of a body that is as large covers the answer too.
        if items == 1 || beside <= body.len() {
            return Ok(None);
        }
        let bytes = beside.saturating_add(body.len());
        let share = self.engine.memory_of(caller).reserve_answer(bytes).await;
        Ok(share.ok_or(UnreadableBody::NoMemory)?.map(Arc::new))
    }

    /// Authenticates the caller of a request with these parts again.
    fn authentication(&self, parts: &Parts) -> Authentication {
        let kept = Arc::new((self.rules.credentials)(parts).keep());
        let (engine, client) = (Arc::clone(self.engine), self.origin.client);
        Authentication::new(move || {
            let (engine, kept) = (Arc::clone(&engine), Arc::clone(&kept));
            Box::pin(async move { engine.authenticate(&kept.presented(), client).await })
        })
    }

    /// Checks a credential again after a slow body, in case it was revoked meanwhile.
    async fn revalidate(&self, caller: Caller, parts: &Parts) -> Result<Caller, Denied> {
        let now = self.engine.clock.monotonic();
        if now.saturating_sub(self.origin.arrived) < CREDENTIAL_FRESHNESS {
            return Ok(caller);
        }
        let credentials = (self.rules.credentials)(parts);
        let again = self.engine.authenticate(&credentials, self.origin.client);
        again.instrument(step!("caller")).await
    }
}

/// Takes the tokens of the items of a batch, in exchange for the one that the request has taken.
async fn admit_items(
    engine: &Engine,
    caller: &Caller,
    bucket: BucketState,
    tokens: NonZeroU32,
    body: &[u8],
) -> Result<BucketState, Exceeded> {
    if tokens == NonZeroU32::MIN {
        return Ok(bucket);
    }
    let admission = engine.admit_items(caller, tokens).instrument(step!("limit")).await;
    // A refused batch takes no tokens, except one if its body is large.
    if admission.is_err() && body.len() > SMALL_BODY {
        let _ = engine.admit(caller).await;
    }
    admission
}
