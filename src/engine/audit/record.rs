//! The audit record of one request.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use super::outcome::{Outcome, RefusedAnswer};
use crate::ids::{CredentialId, KeyId, ServiceId};
use formats::closed_set;
use formats::envelope::ContextTag;

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Record {
    /// The request ID of the client, or a generated one.
    pub request_id: Box<str>,
    /// The calling service.
    pub service_id: Option<ServiceId>,
    /// The API key or the workload identity of the caller.
    pub credential_id: Option<CredentialId>,
    /// The beginning of the subject of the caller's token or certificate.
    pub token_subject: Option<Box<str>>,
    /// The operation; none for some unauthenticated requests.
    pub operation_type: Option<OperationType>,
    /// The endpoint; none in summaries.
    pub endpoint: Option<Endpoint>,
    /// The policy of the decision.
    pub policy_number: Option<Box<str>>,
    /// The key of the operation, even if it failed.
    pub key_id: Option<KeyId>,
    /// The `ctx` of the envelope, which represents its context.
    pub ctx: Option<ContextTag>,
    /// The size of the payload as sent.
    pub payload_size_bytes: usize,
    /// The status of the answer.
    pub response_status: u16,
    /// When the request arrived, on the monotonic clock.
    pub arrived: Duration,
    pub error_code: Option<&'static str>,
    pub outcome: Outcome,
    pub error_message: Option<Cow<'static, str>>,
    pub client_address: Option<IpAddr>,
    /// The position in a batch, from 0.
    pub item: Option<u16>,
    /// The second part of a rewrap. It is stored as a separate record, an encryption.
    pub sealing: Option<Box<RewrapTarget>>,
}

/// The part of a rewrap that creates the new envelope.
#[derive(Clone, Debug, Default)]
pub struct RewrapTarget {
    /// The policy of the new envelope.
    pub policy_number: Option<Box<str>>,
    /// The key of the new envelope.
    pub key_id: Option<KeyId>,
    /// The `ctx` of the new envelope.
    pub ctx: Option<ContextTag>,
}

/// The code of a record whose client closed the connection before the response. It is no error of the
/// service, so statistics of errors leave it out.
pub const CLIENT_CLOSED_REQUEST: &str = "CLIENT_CLOSED_REQUEST";

/// The maximum length of a text in a record, in bytes.
const MAX_TEXT: usize = 512;

impl Record {
    /// The status, error code and outcome of the answer.
    pub(super) fn refusal(&self) -> RefusedAnswer {
        (self.response_status, self.error_code, self.outcome)
    }

    /// The number of its rows: a rewrap has two.
    pub(super) fn rows(&self) -> usize {
        1 + usize::from(self.sealing.is_some())
    }

    /// Splits off the record of the second half of a rewrap.
    pub(super) fn split_sealing(&mut self) -> Option<Self> {
        let sealing = *self.sealing.take()?;
        Some(Self {
            operation_type: Some(OperationType::Encrypt),
            policy_number: sealing.policy_number,
            key_id: sealing.key_id,
            ctx: sealing.ctx,
            ..self.clone()
        })
    }

    /// Truncates each text and replaces control characters, so that no input of a client can make a
    /// batch fail.
    pub(super) fn cleaned(mut self) -> Self {
        if let Cow::Owned(cleaned) = clean(&self.request_id) {
            self.request_id = cleaned.into();
        }
        if let Some(number) = &mut self.policy_number
            && let Cow::Owned(cleaned) = clean(number)
        {
            *number = cleaned.into();
        }
        if let Some(subject) = &mut self.token_subject
            && let Cow::Owned(cleaned) = clean_subject(subject)
        {
            *subject = cleaned.into();
        }
        if let Some(message) = &mut self.error_message
            && let Cow::Owned(cleaned) = clean(message)
        {
            *message = Cow::Owned(cleaned);
        }
        self
    }
}

/// The subject has the right length already, counted in characters.
fn clean_subject(subject: &str) -> Cow<'_, str> {
    if subject.chars().any(char::is_control) {
        return Cow::Owned(subject.replace(char::is_control, "\u{fffd}"));
    }
    Cow::Borrowed(subject)
}

/// A text of a client as an audit log keeps it: at most 512 bytes, without control characters.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT && !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let kept = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or("");
    Cow::Owned(kept.replace(char::is_control, "\u{fffd}"))
}

closed_set! {
    /// The operation of a record. `/protect` encrypts, `/unprotect` decrypts, and `/rewrap` does both.
    pub enum OperationType: "OperationType" {
        /// Encryption, `/protect`, and the second record of `/rewrap`.
        Encrypt = "encrypt",
        /// Decryption, `/unprotect`, and the first record of `/rewrap`.
        Decrypt = "decrypt",
        /// Making a signature.
        Sign = "sign",
        /// Checking a signature.
        Verify = "verify",
        /// Hashing.
        Hash = "hash",
    }
}

impl OperationType {
    /// The operations that make something new with a key. The others use what exists.
    pub(crate) const PROTECTING: [Self; 2] = [Self::Encrypt, Self::Sign];
}

closed_set! {
    /// The paths whose requests are recorded.
    pub enum Endpoint: "Endpoint" {
        /// `/protect`
        Protect = "/api/v1/protect",
        /// `/unprotect`
        Unprotect = "/api/v1/unprotect",
        /// `/rewrap`
        Rewrap = "/api/v1/rewrap",
        /// `/protect/batch`
        ProtectBatch = "/api/v1/protect/batch",
        /// `/unprotect/batch`
        UnprotectBatch = "/api/v1/unprotect/batch",
        /// `/rewrap/batch`
        RewrapBatch = "/api/v1/rewrap/batch",
        /// `/data-keys`
        DataKeys = "/api/v1/data-keys",
        /// `/operations`
        Operations = "/api/v1/operations",
        /// `encrypt` of the Transit API.
        TransitEncrypt = "/v1/transit/encrypt",
        /// `decrypt` of the Transit API.
        TransitDecrypt = "/v1/transit/decrypt",
        /// `rewrap` of the Transit API.
        TransitRewrap = "/v1/transit/rewrap",
        /// `datakey` of the Transit API.
        TransitDataKey = "/v1/transit/datakey",
        /// `sign` of the Transit API.
        TransitSign = "/v1/transit/sign",
        /// `verify` of the Transit API.
        TransitVerify = "/v1/transit/verify",
        /// `hmac` of the Transit API.
        TransitHmac = "/v1/transit/hmac",
        /// `hash` of the Transit API.
        TransitHash = "/v1/transit/hash",
    }
}

impl Endpoint {
    /// The paths that open something and make a new one of it in the same request.
    pub(crate) const REWRAPPING: [Self; 3] = [Self::Rewrap, Self::RewrapBatch, Self::TransitRewrap];

    /// The operation that the path implies.
    pub const fn operation_type(self) -> Option<OperationType> {
        match self {
            Self::Protect
            | Self::ProtectBatch
            | Self::DataKeys
            | Self::TransitEncrypt
            | Self::TransitDataKey => Some(OperationType::Encrypt),
            Self::Unprotect
            | Self::UnprotectBatch
            | Self::Rewrap
            | Self::RewrapBatch
            | Self::TransitDecrypt
            | Self::TransitRewrap => Some(OperationType::Decrypt),
            Self::TransitSign | Self::TransitHmac => Some(OperationType::Sign),
            Self::TransitVerify => Some(OperationType::Verify),
            Self::TransitHash => Some(OperationType::Hash),
            Self::Operations => None,
        }
    }

    /// The second half of the operation, if the path implies one.
    pub fn sealing(self) -> Option<Box<RewrapTarget>> {
        Self::REWRAPPING.contains(&self).then(Box::default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_short_and_clean_is_not_copied() {
        assert!(matches!(clean("a request, ünïcode"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_is_truncated_at_a_character_without_control_characters() {
        assert_eq!(clean("a\0b\u{1b}[2Jc\n"), "a\u{fffd}b\u{fffd}[2Jc\u{fffd}");
        let long = "ü".repeat(MAX_TEXT);
        assert_eq!(clean(&long), "ü".repeat(MAX_TEXT / 2));
        assert_eq!(clean(&format!("a{long}")).len(), MAX_TEXT - 1);
    }
}
