//! Why a call of the API server fails.

use std::fmt::Display;
use std::sync::Arc;

use sealward_client::{Error, ErrorKind};
use tonic::{Code, Status};

use crate::ciphertext::MAX_PLAINTEXT;

/// Why a call fails. Each message is one line without control characters, and contains no secret.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("Sealward does not encrypt: {}", escaped(.0))]
    Probe(Arc<Error>),
    #[error("Sealward encrypts in another way than with AES-256-GCM")]
    ProbeAnswer,
    #[error("the plugin encrypts nothing before the first successful Status")]
    NotReported,
    #[error("the plugin encrypts nothing, because its last probe is more than 90 s old")]
    Outdated,
    #[error("the plaintext has more than {MAX_PLAINTEXT} bytes")]
    TooLong,
    #[error("the ciphertext is not from this plugin")]
    Malformed,
    #[error("Sealward encrypted with another key or in another way than requested")]
    OtherKey,
    #[error("cannot encrypt: {}", escaped(.0))]
    Encrypt(Arc<Error>),
    #[error("cannot decrypt with {}: {}", escaped(key_id), escaped(error))]
    Decrypt { key_id: String, error: Arc<Error> },
    #[error("the probe ended without a result: this is a bug")]
    Panicked,
}

impl CallError {
    /// The error of Sealward, if it is one.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Probe(error) | Self::Encrypt(error) | Self::Decrypt { error, .. } => {
                Some(error.kind())
            }
            Self::ProbeAnswer
            | Self::NotReported
            | Self::Outdated
            | Self::TooLong
            | Self::Malformed
            | Self::OtherKey
            | Self::Panicked => None,
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Probe(error) | Self::Encrypt(error) | Self::Decrypt { error, .. } => {
                code_of(error.kind())
            }
            Self::NotReported | Self::Outdated => Code::Unavailable,
            Self::TooLong | Self::Malformed => Code::InvalidArgument,
            Self::ProbeAnswer | Self::OtherKey | Self::Panicked => Code::Internal,
        }
    }
}

/// A text of others, such as Sealward or etcd, as one line.
pub(crate) fn escaped(text: &impl Display) -> String {
    let mut line = String::new();
    for character in text.to_string().chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

impl From<CallError> for Status {
    fn from(refused: CallError) -> Self {
        Self::new(refused.code(), refused.to_string())
    }
}

fn code_of(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorKind::ConnectionFailed | ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::RateLimited => Code::ResourceExhausted,
        ErrorKind::AuthenticationFailed | ErrorKind::CredentialUnavailable => Code::Unauthenticated,
        ErrorKind::NotAllowed | ErrorKind::Frozen => Code::PermissionDenied,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::DecryptionFailed => Code::DataLoss,
        _ => Code::Internal,
    }
}
