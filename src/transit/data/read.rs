//! Reads the paths and bodies of operations.

mod item;
mod signing;

use std::num::NonZeroU32;

use axum::http::StatusCode;

use self::item::Items;
use super::write::Reply;
use crate::body::Fields;
use crate::errors::Refused;
use crate::operation::Operation;
use engine::protection::{MOST_ITEMS, NamedItem, NamedRequest, Refusal};
use engine::web::UnreadableBody;
use formats::json::{Members, Text};
use formats::problem::{Code, Problem};

const BATCH: &str = "batch_input";
const PARTIAL: &str = "partial_failure_response_code";

/// What the path of a request says.
pub(super) struct Parameters {
    pub(super) operation: Operation,
    /// The name of the key; none for hashes.
    pub(super) key: Option<String>,
    /// The name of the hash, which is stronger than one in the body.
    hash: Option<String>,
    /// Whether the answer has the plaintext of a data key; none if the path says neither.
    shows_key: Option<bool>,
}

impl Parameters {
    /// The parameters in the segments of a path after the name of its operation.
    pub(super) fn of(operation: Operation, rest: &str) -> Result<Self, Refused> {
        let unsupported = || Refused::not_found("unsupported path");
        let segments: Vec<&str> = rest.split('/').filter(|segment| !segment.is_empty()).collect();
        let (form, key, hash) = match (operation, segments.as_slice()) {
            (Operation::Encrypt | Operation::Decrypt | Operation::Rewrap, [key]) => {
                (None, Some(*key), None)
            }
            (Operation::DataKey, [form, key]) => (Some(*form), Some(*key), None),
            (Operation::Sign | Operation::Verify | Operation::Hmac, [key]) => {
                (None, Some(*key), None)
            }
            (Operation::Sign | Operation::Verify | Operation::Hmac, [key, hash]) => {
                (None, Some(*key), Some(*hash))
            }
            (Operation::Hash, []) => (None, None, None),
            (Operation::Hash, [hash]) => (None, None, Some(*hash)),
            _ => return Err(unsupported()),
        };
        let shows_key = match form {
            None | Some("plaintext") => Some(true),
            Some("wrapped") => Some(false),
            Some(_) => None,
        };
        Ok(Self {
            operation,
            key: key.map(str::to_owned),
            hash: hash.map(str::to_owned),
            shows_key,
        })
    }

    /// The operations of a body, each with at most `item_bytes` bytes, and the form of their answer.
    pub(super) fn read(
        &self,
        text: Text<'_>,
        item_bytes: usize,
    ) -> Result<(NamedRequest, Reply), Refusal> {
        let fields = Fields::of(text, &[item::MEMBERS, &[BATCH, PARTIAL]].concat())?;
        let items = Items::of(self.operation, self.hash.as_deref(), &fields)?;
        let shows_key = self.shows_key.ok_or_else(|| {
            let message = "Invalid path, must be 'plaintext' or 'wrapped'";
            Problem::of_body(Code::Unsupported, message)
        })?;
        let mut reply = Reply {
            shows_key,
            is_url_safe: items.is_url_safe(),
            is_hex: item::is_hex(&fields)?,
            ..Reply::default()
        };
        let key = self.key.clone();
        let Some(batch) = fields.text(BATCH) else {
            if text.as_str().len() > item_bytes {
                return Err(UnreadableBody::TooLarge.into());
            }
            let item = items.read(&fields, false)?;
            return Ok((NamedRequest::One { key, item }, reply));
        };
        items.check_shared()?;
        reply.partial = partial(&fields)?;
        let items = self.batch(batch, &items, item_bytes, &mut reply)?;
        Ok((NamedRequest::Several { key, items }, reply))
    }

    fn batch(
        &self,
        batch: Text<'_>,
        items: &Items<'_>,
        item_bytes: usize,
        reply: &mut Reply,
    ) -> Result<Vec<Result<NamedItem, Refusal>>, Refusal> {
        let Some(texts) = batch.elements(MOST_ITEMS + 1) else {
            let message = "failed to decode JSON input: batch_input is not an array";
            return Err(Problem::of_body(Code::Type, message).into());
        };
        if texts.is_empty() {
            let message = "missing batch input to process";
            return Err(Problem::of_body(Code::Length, message).into());
        }
        if texts.len() > MOST_ITEMS {
            let message = format!("batch_input must have at most {MOST_ITEMS} items");
            return Err(Problem::of_body(Code::Length, message).into());
        }
        let (mut read, mut contexts) = (Vec::with_capacity(texts.len()), 0);
        for text in &texts {
            let fields = Fields::of(*text, item::MEMBERS);
            let is_large = text.as_str().len() > item_bytes;
            let read_of = fields.as_ref().ok().filter(|_| !is_large);
            let reference = read_of.map_or(Ok(None), |it| it.scalar("reference"));
            let item = match (&fields, &reference) {
                (Ok(_), _) if is_large => Err(UnreadableBody::TooLarge.into()),
                (Ok(fields), Ok(_)) => {
                    contexts += usize::from(matches!(fields.filled("context"), Ok(Some(_))));
                    items.read(fields, true)
                }
                (Err(problems), _) => Err(problems.clone().into()),
                (Ok(_), Err(problem)) => Err(problem.clone().into()),
            };
            let reference = reference.ok().flatten();
            reply.references.push(reference.map(|it| it.into_owned()).unwrap_or_default());
            read.push(item);
        }
        if contexts != 0 && contexts != texts.len() {
            let message = "context should be set either in all the request blocks or in none";
            return Err(Problem::of_body(Code::Conflict, message).into());
        }
        reply.is_batch = true;
        Ok(read)
    }
}

/// The status of an answer with some failed items.
fn partial(fields: &Fields<'_>) -> Result<Option<StatusCode>, Problem> {
    let Some(number) = fields.number(PARTIAL)?.filter(|number| *number != 0) else {
        return Ok(None);
    };
    // Other statuses have no body, or count as failures of the service.
    let status = u16::try_from(number).ok().and_then(|number| StatusCode::from_u16(number).ok());
    let has_body = |status: &StatusCode| {
        let is_empty = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT].contains(status);
        (status.is_success() && !is_empty) || status.is_client_error()
    };
    match status.filter(has_body) {
        Some(status) => Ok(Some(status)),
        None => Err(Problem::new(PARTIAL, Code::Range, "must be a status of a body, 2xx or 4xx")),
    }
}

/// The number of operations in a body. A body that is refused as a whole has one.
pub(super) fn item_count(body: &[u8]) -> NonZeroU32 {
    // Most bodies have one operation. A name can be escaped.
    let may_have_batch =
        str::from_utf8(body).is_ok_and(|text| text.contains(BATCH) || text.contains('\\'));
    if !may_have_batch {
        return NonZeroU32::MIN;
    }
    let text = Text::parse(body).ok();
    let batch = text.and_then(|text| Members::of(text, &[BATCH]).optional(BATCH));
    let count = batch.and_then(|batch| batch.elements(MOST_ITEMS + 1)).map_or(1, |it| it.len());
    let count = if count > MOST_ITEMS { 1 } else { count };
    u32::try_from(count).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_counts_however_its_name_is_written() {
        for (body, count) in [
            (r#"{"plaintext":""}"#, 1),
            (r#"{"batch_input":[1,2,3]}"#, 3),
            (r#"{"batch\u005finput":[1,2,3]}"#, 3),
            (r#"{"batch_input":[]}"#, 1),
            (r#"{"batch_input":null}"#, 1),
            (r#"{"batch_input":"#, 1),
            ("", 1),
        ] {
            assert_eq!(item_count(body.as_bytes()).get(), count, "{body}");
        }
    }
}
