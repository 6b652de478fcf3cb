//! Compares responses with the requests.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::super::fixtures::{OperationResult, Sealed, keep};
use super::super::history::{Answer, Call, Content};
use super::requests::SelectedRequest;
use super::{CANARY, Worker};

impl Worker {
    /// Evaluates a response and keeps results for later requests.
    pub(super) fn read(&self, selected: &SelectedRequest, status: u16, body: &str) -> Answer {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let content = match status {
            200 => self.content(selected, &answer, body),
            _ => Content::Nothing,
        };
        let may_contain_plaintext = matches!(content, Content::Correct | Content::PassedThrough);
        let strays = body.split(CANARY).skip(1);
        let mut strays = strays.filter(|rest| {
            let name = rest.split(['"', '\\']).next().unwrap_or_default();
            !(may_contain_plaintext && selected.plaintext.contains(&format!("{CANARY}{name}")))
        });
        Answer {
            status,
            code: answer["error"]["code"].as_str().map(str::to_owned),
            content,
            stray: strays.next().map(|_| format!("a foreign plaintext appears in {body}")),
        }
    }

    fn content(&self, selected: &SelectedRequest, answer: &Value, body: &str) -> Content {
        let wrong = || Content::Wrong(format!("unexpected response {body}"));
        let result = &answer["result"];
        match selected.call {
            Call::Protect { policy } | Call::ForeignPolicy { policy } => {
                let operations = answer["operations"].as_array().map(Vec::len);
                if answer["jwe"].is_object() && operations == Some(1) {
                    let sealed = Sealed {
                        jwe: answer["jwe"].to_string(),
                        policy,
                        plaintext: selected.plaintext.clone(),
                        destination: selected.destination,
                    };
                    keep(&mut self.fixtures.lock().sealed, sealed);
                    return Content::Envelope;
                }
                if operations != Some(0) || !answer["jwe"].is_null() {
                    return wrong();
                }
                if answer["dropped"] == true && answer["payload"].is_null() {
                    return Content::Dropped;
                }
                match raw(body, &["payload"]) {
                    Some(payload) if payload == selected.plaintext => Content::PassedThrough,
                    _ => wrong(),
                }
            }
            Call::Unprotect { .. } => match raw(body, &["payload"]) {
                Some(payload) if payload == selected.plaintext => Content::Correct,
                _ => wrong(),
            },
            Call::Decrypt { .. } => match raw(body, &["result", "data"]) {
                Some(data) if data == selected.plaintext => Content::Correct,
                _ => wrong(),
            },
            Call::Verify { .. } if result["valid"] == selected.is_genuine => Content::Correct,
            Call::Hash => {
                let text: String = serde_json::from_str(&selected.plaintext).expect("a string");
                let expected = BASE64.encode(Sha256::digest(text));
                if result["hash"] == expected { Content::Correct } else { wrong() }
            }
            Call::Encrypt { key } | Call::Sign { key } if result["keyId"].is_string() => {
                let created = OperationResult {
                    key,
                    data: selected.plaintext.clone(),
                    result: result.clone(),
                };
                let mut state = self.fixtures.lock();
                if matches!(selected.call, Call::Encrypt { .. }) {
                    keep(&mut state.encrypted, created);
                } else {
                    keep(&mut state.signed, created);
                }
                Content::Correct
            }
            Call::ForeignKey { .. } => Content::Correct,
            Call::Verify { .. } | Call::Encrypt { .. } | Call::Sign { .. } => wrong(),
        }
    }
}

/// The exact JSON text of a member.
fn raw<'b>(body: &'b str, path: &[&str]) -> Option<&'b str> {
    let mut text = body;
    for name in path {
        let members: HashMap<&str, &RawValue> = serde_json::from_str(text).ok()?;
        text = members.get(name)?.get();
    }
    Some(text)
}
