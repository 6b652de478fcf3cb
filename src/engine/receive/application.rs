//! Where a request comes from, and the records of unauthenticated requests.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use tracing::Instrument as _;

use crate::audit::{Endpoint, Record};
use crate::auth::{Application, Caller, WrongKind};
use crate::protection::RecordedStatus;
use crate::ratelimit::{BucketState, Exceeded};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use crate::web::{Engine, client_address};

/// The facts about a request that its record needs.
pub struct RequestOrigin {
    pub(super) endpoint: Endpoint,
    pub(super) arrived: Duration,
    pub(super) tag: RequestTag,
    pub client: IpAddr,
}

/// The admission of a caller that looks something up. Look-ups have no audit record.
pub enum Admission {
    Application(Application, BucketState),
    WrongKind(WrongKind, BucketState),
    Limited(Exceeded),
}

impl RequestOrigin {
    pub(super) fn of(engine: &Engine, endpoint: Endpoint, request: &Request) -> Self {
        let tag = request.extensions().get::<RequestTag>().cloned();
        Self {
            endpoint,
            arrived: engine.clock.monotonic(),
            tag: tag.unwrap_or_else(|| engine.new_request_tag()),
            client: client_address(request.extensions()),
        }
    }
}

impl Admission {
    /// Admits an application within its rate limit.
    pub async fn of(engine: &Engine, caller: &Caller) -> Self {
        match caller.clone().application() {
            Ok(application) => match engine.admit(caller).instrument(step!("limit")).await {
                Ok(bucket) => Self::Application(application, bucket),
                Err(exceeded) => Self::Limited(exceeded),
            },
            Err(wrong) => Self::WrongKind(wrong, engine.rate_limit(caller).await),
        }
    }
}

/// The record of an unauthenticated request to an endpoint, which was refused with this status and message.
pub fn anonymous_record(
    origin: &RequestOrigin,
    status: RecordedStatus,
    message: Cow<'static, str>,
) -> Record {
    Record {
        request_id: origin.tag.as_str().into(),
        service_id: None,
        credential_id: None,
        token_subject: None,
        operation_type: origin.endpoint.operation_type(),
        endpoint: Some(origin.endpoint),
        policy_number: None,
        key_id: None,
        ctx: None,
        payload_size_bytes: 0,
        response_status: status.number,
        arrived: origin.arrived,
        error_code: status.code,
        outcome: status.outcome,
        error_message: Some(message),
        client_address: Some(origin.client),
        item: None,
        sealing: origin.endpoint.sealing(),
    }
}
