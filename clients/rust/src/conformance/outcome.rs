//! What a run of a case reports.

use std::error::Error as _;
use std::fmt::Debug;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::Error;

#[derive(Default)]
pub(super) struct Report {
    outcomes: Vec<Value>,
    texts: Vec<String>,
}

/// The members of a result, and what the library prints of it.
pub(super) struct Shown {
    pub(super) members: Value,
    pub(super) text: String,
}

impl Shown {
    pub(super) fn of(printed: &impl Debug, members: Value) -> Self {
        Self { members, text: format!("{printed:?} {printed:#?}") }
    }
}

impl Report {
    pub(super) fn show(&mut self, printed: &impl Debug) {
        self.texts.push(format!("{printed:?} {printed:#?}"));
    }

    pub(super) fn add(&mut self, elapsed: Duration, result: Result<Shown, Error>) {
        let mut outcome = Map::new();
        outcome.insert("seconds".to_owned(), json!(elapsed.as_secs_f64()));
        match result {
            Ok(shown) => {
                self.texts.push(shown.text);
                outcome.insert("result".to_owned(), shown.members);
            }
            Err(error) => {
                self.texts.push(printed(&error));
                outcome.insert("error".to_owned(), described(&error));
            }
        }
        self.outcomes.push(outcome.into());
    }

    /// A member of the result of a call before: `[CALL, MEMBER]`.
    pub(super) fn result(&self, from: &Value) -> Value {
        let call = usize::try_from(from[0].as_u64().unwrap()).unwrap();
        self.outcomes[call]["result"][from[1].as_str().unwrap()].clone()
    }

    pub(super) fn into_json(self) -> Value {
        json!({ "outcomes": self.outcomes, "texts": self.texts })
    }
}

/// All texts of an error and of its causes.
pub(super) fn printed(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    text
}

/// An error with the members of the cases.
pub(super) fn described(error: &Error) -> Value {
    json!({
        "type": format!("{:?}", error.kind()),
        "code": error.code().map(ToString::to_string),
        "status": error.status(),
        "requestId": error.request_id(),
        "details": error.refusal().map(|refusal| &refusal.details),
        "retryable": error.is_retryable(),
        "retryAfterSeconds": error.refusal().and_then(|refusal| refusal.retry_after)
            .map(|pause| pause.as_secs()),
    })
}
