//! The operations on data.

mod read;
mod write;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use self::read::{Parameters, item_count};
use self::write::{Reply, Written};
use crate::caller::{RULES, check_namespace, namespace};
use crate::envelope::ok;
use crate::errors::Refused;
use crate::operation::Operation;
use crate::state::Transit;
use engine::audit::Unrecorded;
use engine::auth::Application;
use engine::body_memory::BodyShare;
use engine::keys::is_transit_name;
use engine::protection::{
    Answer, BatchLimits, NamedFormat, NamedRequest, NamedResult, RecordedStatus, Refusal,
};
use engine::ratelimit::BucketState;
use engine::receive::{
    Anonymous, NotReceived, Reading, Received, anonymous_record, begin_within, receive,
    token_operations,
};
use engine::request_tag::RequestTag;
use engine::web::UnreadableBody;
use formats::json::Text;

/// Answers a request to `operation` with the segments `rest` of its path.
pub(crate) async fn answer(
    state: &Arc<Transit>,
    operation: Operation,
    rest: &str,
    request: Request,
) -> Response {
    let parameters = match Parameters::of(operation, rest) {
        Ok(parameters) => parameters,
        Err(refused) => return refused.into_response(),
    };
    let settings = &state.engine.settings;
    let reading = Reading {
        endpoint: operation.endpoint(),
        limit: operation.longest_body(&settings.limits),
        tokens: Some(&item_count),
    };
    let received = receive(&state.engine, &state.protection, RULES, reading, request).await;
    let received = match received {
        Ok(received) => received,
        Err(NotReceived::Refused(answered, bucket)) => {
            return refused_early(operation, answered, bucket);
        }
        Err(NotReceived::Anonymous(anonymous)) => return refuse_anonymous(state, *anonymous).await,
    };
    let format = OperationFormat {
        parameters,
        tag: received.call.tag().clone(),
        namespace: namespace(&received.parts).map(str::to_owned),
        item_bytes: operation.longest_item(&settings.limits),
        reply: Reply::default(),
    };
    let limits = BatchLimits {
        item_bytes: format.item_bytes,
        at_once: token_operations(settings),
        begin_within: begin_within(settings),
    };
    let Received { call, again, body, bucket, share, .. } = received;
    let answered = state.protection.operate_by_name(call, body, format, limits, again).await;
    respond(operation, answered, bucket, share)
}

/// Reads the bodies of one operation, and writes its answers.
struct OperationFormat {
    parameters: Parameters,
    tag: RequestTag,
    namespace: Option<String>,
    /// The maximum size of an operation in the body.
    item_bytes: usize,
    reply: Reply,
}

impl NamedFormat for OperationFormat {
    type Answer = Written;

    fn read(&mut self, caller: &Application, text: Text<'_>) -> Result<NamedRequest, Refusal> {
        if check_namespace(caller, self.namespace.as_deref()).is_err() {
            return Err(Refusal::NamespaceNotFound);
        }
        if let Some(name) = &self.parameters.key
            && !is_transit_name(name)
        {
            return Err(Refusal::KeyNotFound);
        }
        let (request, reply) = self.parameters.read(text, self.item_bytes)?;
        self.reply = reply;
        Ok(request)
    }

    fn write(&self, result: NamedResult) -> Result<Written, Refusal> {
        Ok(self.reply.one(&self.tag, result))
    }

    fn refuse_all(&self, outcomes: &[Result<NamedResult, Refusal>]) -> Option<Refusal> {
        self.reply.whole(outcomes)
    }

    fn write_all(&self, outcomes: Vec<Result<NamedResult, Refusal>>) -> Result<Written, Refusal> {
        Ok(self.reply.all(self.parameters.operation, &self.tag, outcomes))
    }
}

/// The response for a recorded answer, or for a record that could not be written.
fn respond(
    operation: Operation,
    answered: Result<Answer<Written>, Unrecorded>,
    bucket: BucketState,
    share: Option<Arc<BodyShare>>,
) -> Response {
    match answered.map(Answer::into_outcome) {
        Ok(Ok(Written { status, body })) => ok(status, body, share, Some(bucket)),
        Ok(Err(refusal)) => refused(Refused::of(operation, refusal), bucket),
        Err(unrecorded) => refused(unrecorded.into(), bucket),
    }
}

fn refused_early(
    operation: Operation,
    answered: Result<Answer, Unrecorded>,
    bucket: BucketState,
) -> Response {
    match answered.map(Answer::into_outcome) {
        Ok(Ok(body)) => ok(StatusCode::OK, body, None, Some(bucket)),
        Ok(Err(refusal)) => refused(Refused::of(operation, refusal), bucket),
        Err(unrecorded) => refused(unrecorded.into(), bucket),
    }
}

fn refused(refused: Refused, bucket: BucketState) -> Response {
    let mut response = refused.into_response();
    engine::web::write_rate_limit(bucket, response.headers_mut());
    response
}

/// Refuses an unauthenticated request; its audit record is not awaited.
async fn refuse_anonymous(state: &Transit, anonymous: Anonymous) -> Response {
    let Anonymous { origin, denied, body, .. } = anonymous;
    let by_body = match &body {
        // The syntax of the body is unknown.
        Err(UnreadableBody::TooLarge | UnreadableBody::NoMemory) => None,
        Err(unread) => Some(Refused::from(*unread)),
        Ok(body) if body.is_empty() => None,
        Ok(body) => Text::parse(body).err().map(Refused::from),
    };
    let refused = match by_body {
        Some(refused) => refused,
        None => state.engine.unauthenticated(origin.client, denied).await.into(),
    };
    let record = anonymous_record(
        &origin,
        RecordedStatus::refused(refused.answer_status()),
        refused.message(),
    );
    state.engine.recorder.submit_anonymous(record);
    refused.into_response()
}
