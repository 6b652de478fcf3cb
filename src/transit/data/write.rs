//! Writes the answers of operations.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::envelope::with_data;
use crate::errors::Refused;
use crate::operation::Operation;
use crate::text;
use engine::protection::{Body, NamedResult, Refusal, VersionedSealed};
use engine::request_tag::RequestTag;
use formats::hex::hex;
use formats::wiped::Wiped;

/// An answer that the API sends.
pub(super) struct Written {
    pub(super) status: StatusCode,
    pub(super) body: Body,
}

/// The form of an answer.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) is_batch: bool,
    /// What each item of several is called.
    pub(super) references: Vec<String>,
    /// The status if some items failed.
    pub(super) partial: Option<StatusCode>,
    /// Whether signatures are in base64url.
    pub(super) is_url_safe: bool,
    /// Whether a hash is in hex.
    pub(super) is_hex: bool,
    /// Whether a data key is shown.
    pub(super) shows_key: bool,
}

/// The members of a result: those that are no secret, and a plaintext in base64.
struct Members {
    public: Vec<(&'static str, Value)>,
    plaintext: Option<Zeroizing<Vec<u8>>>,
}

impl Reply {
    /// The answer of one operation.
    pub(super) fn one(&self, tag: &RequestTag, result: NamedResult) -> Written {
        let members = self.members(result);
        let length = members.length();
        let body = with_data(tag, length, |out| members.write(out));
        Written { status: StatusCode::OK, body }
    }

    /// The answer of several operations.
    pub(super) fn all(
        &self,
        operation: Operation,
        tag: &RequestTag,
        outcomes: Vec<Result<NamedResult, Refusal>>,
    ) -> Written {
        let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        let status = match self.partial {
            _ if failed == 0 || !operation.fails_with_items() => StatusCode::OK,
            Some(partial) if failed < outcomes.len() => partial,
            Some(_) | None => StatusCode::BAD_REQUEST,
        };
        let references = self.references.iter().map(String::as_str).chain([""].into_iter().cycle());
        let items: Vec<Members> = outcomes
            .into_iter()
            .zip(references)
            .map(|(outcome, reference)| {
                let members = match outcome {
                    Ok(result) => self.members(result),
                    Err(refusal) => failure(operation, refusal),
                };
                members.with("reference", json!(reference))
            })
            .collect();
        let length = items.iter().map(Members::length).sum::<usize>() + 24;
        let body = with_data(tag, length, |out| {
            out.extend_from_slice(b"{\"batch_results\":");
            let mut before = b'[';
            for item in &items {
                out.push(before);
                item.write(out);
                before = b',';
            }
            out.extend_from_slice(b"]}");
        });
        Written { status, body }
    }

    /// The refusal of a request as a whole, although its items were done one by one: of all its items for a
    /// reason that no item gave, or by a failure of the service that passes, after which clients try again.
    pub(super) fn whole(&self, outcomes: &[Result<NamedResult, Refusal>]) -> Option<Refusal> {
        let refusals: Vec<_> = outcomes.iter().filter_map(|it| it.as_ref().err()).collect();
        let described = |refusal: &Refusal| {
            let refused = Refused::from(refusal.clone());
            (refused.status, refused.code)
        };
        let first = *refusals.first()?;
        let has_no_result = refusals.len() == outcomes.len();
        let is_of_all =
            has_no_result && refusals.iter().all(|it| described(it) == described(first));
        let is_of_call = |refusal: &Refusal| {
            matches!(
                refusal,
                Refusal::KeyNotFound
                    | Refusal::KeyState(_)
                    | Refusal::KeyExpired
                    | Refusal::KeySpent
                    | Refusal::Unsupported(_)
                    | Refusal::Unauthenticated(_)
            )
        };
        let refusal = refusals.into_iter().find(|refusal| {
            let status = described(refusal).0;
            // Items with other faults do not hide it.
            let is_denied = has_no_result && matches!(refusal, Refusal::NotAllowed(_));
            let is_away = status == StatusCode::SERVICE_UNAVAILABLE && self.partial.is_none();
            is_denied || is_away || (is_of_all && (is_of_call(refusal) || status.is_server_error()))
        });
        refusal.cloned()
    }

    fn members(&self, result: NamedResult) -> Members {
        match result {
            NamedResult::Sealed(sealed) => Members::of(ciphertext(&sealed)),
            NamedResult::Opened(plaintext) => {
                Members { public: Vec::new(), plaintext: Some(plaintext) }
            }
            NamedResult::DataKey { key, sealed } => {
                let plaintext = self.shows_key.then_some(key);
                Members { public: ciphertext(&sealed), plaintext }
            }
            NamedResult::Signed { version, is_mac: true, signature } => {
                let text = text::write(version, &[&signature], false);
                Members::of(vec![("hmac", text.into())])
            }
            NamedResult::Signed { version, is_mac: false, signature } => {
                let text = text::write(version, &[&signature], self.is_url_safe);
                Members::of(vec![("signature", text.into()), ("key_version", json!(version))])
            }
            NamedResult::Verified(valid) => Members::of(vec![("valid", json!(valid))]),
            NamedResult::Hashed(digest) => {
                let sum = match self.is_hex {
                    true => hex(digest.as_ref()),
                    false => STANDARD.encode(digest.as_ref()),
                };
                Members::of(vec![("sum", sum.into())])
            }
        }
    }
}

fn ciphertext(sealed: &VersionedSealed) -> Vec<(&'static str, Value)> {
    let text = text::write(sealed.version, &sealed.parts(), false);
    vec![("ciphertext", text.into()), ("key_version", json!(sealed.version))]
}

/// The members of an item that failed.
fn failure(operation: Operation, refusal: Refusal) -> Members {
    let error = Refused::of(operation, refusal).texts.join("; ");
    let mut public = vec![("error", error.into())];
    match operation {
        Operation::Decrypt => public.push(("plaintext", json!(""))),
        Operation::Sign => public.push(("key_version", json!(0))),
        Operation::Verify => public.push(("valid", json!(false))),
        Operation::Encrypt
        | Operation::Rewrap
        | Operation::DataKey
        | Operation::Hmac
        | Operation::Hash => {}
    }
    Members::of(public)
}

/// The length of a text in JSON.
fn escaped_length(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        0..=0x1f => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    });
    escaped.sum()
}

impl Members {
    fn of(public: Vec<(&'static str, Value)>) -> Self {
        Self { public, plaintext: None }
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.public.push((name, value));
        self
    }

    /// At least the length of their text: a reallocation would leave plaintext behind.
    fn length(&self) -> usize {
        let plaintext = self.plaintext.as_ref().map_or(0, |it| it.len().div_ceil(3) * 4 + 16);
        let public = self
            .public
            .iter()
            .map(|(name, value)| name.len() + 8 + value.as_str().map_or(24, escaped_length));
        public.sum::<usize>() + plaintext + 4
    }

    /// Writes the object.
    fn write(&self, out: &mut Wiped<Vec<u8>>) {
        let mut before = "{";
        if let Some(plaintext) = &self.plaintext {
            out.extend_from_slice(b"{\"plaintext\":\"");
            let mut text = Zeroizing::new(String::with_capacity(plaintext.len().div_ceil(3) * 4));
            STANDARD.encode_string(plaintext.as_slice(), &mut text);
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
            before = ",";
        }
        for (name, value) in &self.public {
            for part in [before, "\"", name, "\":"] {
                out.extend_from_slice(part.as_bytes());
            }
            // A vector takes all bytes.
            let _ = serde_json::to_writer(&mut **out, value);
            before = ",";
        }
        out.push(b'}');
    }
}
