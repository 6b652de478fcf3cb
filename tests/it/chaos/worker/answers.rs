//! Compares responses with the requests.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::super::fixtures::{Made, Sealed, keep};
use super::super::history::{Answer, Asked, Gave};
use super::requests::SelectedRequest;
use super::{CANARY, Worker};

impl Worker {
    /// Evaluates a response and keeps results for later requests.
    pub(super) fn read(&self, order: &SelectedRequest, status: u16, body: &str) -> Answer {
        let answer: Value = serde_json::from_str(body).unwrap_or_default();
        let gave = match status {
            200 => self.gave(order, &answer, body),
            _ => Gave::Nothing,
        };
        let may_tell = matches!(gave, Gave::Right | Gave::PassedThrough);
        let strays = body.split(CANARY).skip(1);
        let mut strays = strays.filter(|rest| {
            let name = rest.split(['"', '\\']).next().unwrap_or_default();
            !(may_tell && order.plaintext.contains(&format!("{CANARY}{name}")))
        });
        Answer {
            status,
            code: answer["error"]["code"].as_str().map(str::to_owned),
            gave,
            stray: strays
                .next()
                .map(|_| format!("a plaintext shows in {body}")),
        }
    }

    fn gave(&self, order: &SelectedRequest, answer: &Value, body: &str) -> Gave {
        let wrong = || Gave::Wrong(format!("it gave {body}"));
        let result = &answer["result"];
        match order.asked {
            Asked::Protect { policy } | Asked::ForeignPolicy { policy } => {
                let operations = answer["operations"].as_array().map(Vec::len);
                if answer["jwe"].is_object() && operations == Some(1) {
                    let sealed = Sealed {
                        jwe: answer["jwe"].to_string(),
                        policy,
                        plaintext: order.plaintext.clone(),
                        destination: order.destination,
                    };
                    keep(&mut self.fixtures.lock().sealed, sealed);
                    return Gave::Envelope;
                }
                if operations != Some(0) || !answer["jwe"].is_null() {
                    return wrong();
                }
                if answer["dropped"] == true && answer["payload"].is_null() {
                    return Gave::Dropped;
                }
                match raw(body, &["payload"]) {
                    Some(payload) if payload == order.plaintext => Gave::PassedThrough,
                    _ => wrong(),
                }
            }
            Asked::Unprotect { .. } => match raw(body, &["payload"]) {
                Some(payload) if payload == order.plaintext => Gave::Right,
                _ => wrong(),
            },
            Asked::Decrypt { .. } => match raw(body, &["result", "data"]) {
                Some(data) if data == order.plaintext => Gave::Right,
                _ => wrong(),
            },
            Asked::Verify { .. } if result["valid"] == order.is_genuine => Gave::Right,
            Asked::Hash => {
                let text: String = serde_json::from_str(&order.plaintext).expect("a string");
                let expected = BASE64.encode(Sha256::digest(text));
                if result["hash"] == expected {
                    Gave::Right
                } else {
                    wrong()
                }
            }
            Asked::Encrypt { key } | Asked::Sign { key } if result["keyId"].is_string() => {
                let made = Made {
                    key,
                    data: order.plaintext.clone(),
                    result: result.clone(),
                };
                let mut state = self.fixtures.lock();
                if matches!(order.asked, Asked::Encrypt { .. }) {
                    keep(&mut state.encrypted, made);
                } else {
                    keep(&mut state.signed, made);
                }
                Gave::Right
            }
            Asked::ForeignKey { .. } => Gave::Right,
            Asked::Verify { .. } | Asked::Encrypt { .. } | Asked::Sign { .. } => wrong(),
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
