//! What is recorded of one request.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::anonymous::Refused;
use crate::ids::{ApiKeyId, KeyId, ServiceId};

/// One request and the answer decided for it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The client's name for it, else one of ours.
    pub request_id: Box<str>,
    /// The calling service, where the caller is one.
    pub application_id: Option<ServiceId>,
    /// The API key it called with.
    pub api_key_id: Option<ApiKeyId>,
    /// What was asked for; unknown only of requests without authentication.
    pub operation_type: Option<OperationType>,
    /// Where it was asked; unknown only in counts.
    pub endpoint: Option<Endpoint>,
    /// The policy it was decided under.
    pub policy_number: Option<Box<str>>,
    /// The key that was used, or was to be.
    pub key_id: Option<KeyId>,
    /// Bytes of the payload as sent.
    pub payload_size_bytes: usize,
    /// The status of the answer.
    pub response_status: u16,
    /// When the request arrived, on the clock that never goes back.
    pub arrived: Duration,
    /// The code of an error.
    pub error_code: Option<&'static str>,
    /// The error in words.
    pub error_message: Option<Cow<'static, str>>,
    /// Where the request came from.
    pub client_address: Option<IpAddr>,
}

/// The most bytes of a text that a record keeps.
const LONGEST: usize = 512;

impl Record {
    /// The status and error code of the answer.
    pub(super) fn refusal(&self) -> Refused {
        (self.response_status, self.error_code)
    }

    /// Bounds every text and takes out what a database or a terminal would stumble over, so that no
    /// client's input can make a batch fail.
    pub(super) fn cleaned(mut self) -> Self {
        if let Cow::Owned(cleaned) = clean(&self.request_id) {
            self.request_id = cleaned.into();
        }
        if let Some(number) = &mut self.policy_number
            && let Cow::Owned(cleaned) = clean(number)
        {
            *number = cleaned.into();
        }
        if let Some(message) = &mut self.error_message
            && let Cow::Owned(cleaned) = clean(message)
        {
            *message = Cow::Owned(cleaned);
        }
        self
    }
}

fn clean(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST && !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let kept = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or("");
    Cow::Owned(kept.replace(char::is_control, "\u{fffd}"))
}

/// The operations that the trail tells apart. Protecting is encrypting, unprotecting decrypting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperationType {
    /// Encryption, and all of `/protect`.
    Encrypt,
    /// Decryption, and all of `/unprotect`.
    Decrypt,
    /// Making a signature.
    Sign,
    /// Checking a signature.
    Verify,
    /// Hashing.
    Hash,
}

impl OperationType {
    /// Every operation.
    pub const ALL: [Self; 5] = [
        Self::Encrypt,
        Self::Decrypt,
        Self::Sign,
        Self::Verify,
        Self::Hash,
    ];

    /// The name in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Hash => "hash",
        }
    }
}

/// The text names no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of encrypt, decrypt, sign, verify, hash")]
pub struct NotAnOperation;

impl FromStr for OperationType {
    type Err = NotAnOperation;

    fn from_str(text: &str) -> Result<Self, NotAnOperation> {
        let named = |operation: &Self| operation.as_str() == text;
        Self::ALL.into_iter().find(named).ok_or(NotAnOperation)
    }
}

impl fmt::Display for OperationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The paths whose requests are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `/api/v1/protect`
    Protect,
    /// `/api/v1/unprotect`
    Unprotect,
    /// `/api/v1/operations`
    Operations,
}

impl Endpoint {
    /// The path.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Protect => "/api/v1/protect",
            Self::Unprotect => "/api/v1/unprotect",
            Self::Operations => "/api/v1/operations",
        }
    }

    /// What is asked for there, where the path alone tells.
    #[must_use]
    pub const fn operation_type(self) -> Option<OperationType> {
        match self {
            Self::Protect => Some(OperationType::Encrypt),
            Self::Unprotect => Some(OperationType::Decrypt),
            Self::Operations => None,
        }
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
    fn text_is_bounded_at_a_character_and_rid_of_controls() {
        assert_eq!(clean("a\0b\u{1b}[2Jc\n"), "a\u{fffd}b\u{fffd}[2Jc\u{fffd}");
        let long = "ü".repeat(LONGEST);
        assert_eq!(clean(&long), "ü".repeat(LONGEST / 2));
        assert_eq!(clean(&format!("a{long}")).len(), LONGEST - 1);
    }

    #[test]
    fn operations_are_read_back_from_their_names() {
        for operation in OperationType::ALL {
            assert_eq!(operation.as_str().parse(), Ok(operation));
        }
        assert_eq!("protect".parse::<OperationType>(), Err(NotAnOperation));
    }
}
