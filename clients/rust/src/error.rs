//! Why a call fails.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::refusal::{Code, Refusal, of_request};

/// Why a call fails. [`Error::kind`] returns the kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sealward, or a proxy before it, answered with an error.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The policy is inactive, and its failure mode returned the payload unprotected or dropped it.
    #[error("the policy is not active: the payload was {} and not protected (request {request_id})",
        if *dropped { "dropped" } else { "passed through" })]
    NotProtected {
        /// Whether it was dropped.
        dropped: bool,
        /// The ID of the request.
        request_id: String,
    },
    /// No answer arrived before the deadline of the call.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Deadline(Duration),
    /// The connection could not be made, or broke before the answer was complete.
    #[error("cannot reach Sealward at {address}: {}", chain(&**source))]
    Connection {
        /// The scheme, the host and the port.
        address: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A success that is not what the API documents.
    #[error("the answer with the status {status} is not as documented{}", of_request(request_id.as_deref()))]
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// The ID of the request.
        request_id: Option<String>,
    },
    /// The client is not configured correctly.
    #[error("{0}")]
    Configuration(String),
    /// A credential cannot be read or cannot be sent.
    #[error("{0}")]
    Credential(#[from] CredentialError),
    /// A value is not valid, as this client finds itself.
    #[error("{0}")]
    Invalid(Invalid),
    /// The payload is not of the type that the caller expects.
    #[error("the payload does not fit the type at line {line}, column {column}")]
    Type {
        /// The line of the JSON text, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// Local sealing or verification is not possible with this policy or key.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A sealed file cannot be written or read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Status 400, or a problem that this client finds itself.
    InvalidRequest,
    /// Status 401.
    AuthenticationFailed,
    /// Status 403.
    NotAllowed,
    /// The policy is inactive.
    PolicyNotActive,
    /// The caller, the destination or everything is frozen.
    Frozen,
    /// Status 404.
    NotFound,
    /// Status 409.
    Conflict,
    /// Status 412.
    PreconditionFailed,
    /// Status 413.
    PayloadTooLarge,
    /// Status 429.
    RateLimited,
    /// The envelope or ciphertext cannot be opened. This is final: repeating does not help.
    DecryptionFailed,
    /// Another error with the status 500.
    ServerError,
    /// Status 502, 503 or 504.
    Unavailable,
    /// Another error status.
    ApiError,
    /// There was no complete answer.
    ConnectionFailed,
    /// The deadline passed before an answer.
    DeadlineExceeded,
    /// A success that is not what the API documents.
    UnexpectedAnswer,
    /// The payload passed through or was dropped.
    NotProtected,
    /// No client can be made with this configuration.
    InvalidConfiguration,
    /// A credential cannot be read or cannot be sent.
    CredentialUnavailable,
    /// There is no key for local sealing or verification, or it does not fit.
    KeyUnavailable,
    /// An algorithm cannot be used locally.
    UnsupportedAlgorithm,
    /// The policy requires a context, which local sealing does not support.
    ContextRequired,
    /// The cryptographic library failed.
    Cryptography,
    /// A file does not have the form of a sealed file.
    MalformedFile,
    /// A sealed file was changed, cut short or extended.
    FileNotAuthentic,
    /// A file cannot be written or read.
    File,
}

/// Why a credential cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The file cannot be read.
    #[error("cannot read the credential in {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The client has neither a credential nor a client certificate.
    #[error("the client has neither a credential nor a client certificate")]
    Missing,
    /// The credential is empty, or contains characters that a header cannot.
    #[error("the credential is empty or contains characters that a header cannot")]
    Malformed,
    /// A provider of the program failed.
    #[error("the credential is not available: {0}")]
    Provider(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What this client finds wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The text is not one JSON value.
    #[error("the text is not one JSON value")]
    Json,
    /// The value cannot be written as JSON.
    #[error("the value cannot be written as JSON")]
    Value,
    /// The value has no canonical form: it has duplicate names, or numbers that no double represents.
    #[error("the value has duplicate names, lone surrogates or numbers that no double represents")]
    Canonical,
    /// The text is not an envelope.
    #[error("the text is not an envelope")]
    Envelope,
    /// A request ID or another value contains characters that a header cannot.
    #[error("the value contains characters that a header cannot")]
    Header,
    /// A digest has another length than that of the algorithm.
    #[error("the digest does not have the length of the algorithm, or the algorithm takes none")]
    Digest,
}

/// Why local sealing or verification is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The policy is inactive, or has a status that this client does not know.
    #[error("the policy is not active")]
    PolicyNotActive,
    /// The destination, or everything, is frozen.
    #[error("the destination of the policy is frozen")]
    Frozen,
    /// There is no key, or it does not fit the algorithm.
    #[error("there is no key that fits")]
    KeyUnavailable,
    /// The algorithm cannot be used locally.
    #[error("{0} is not supported locally")]
    UnsupportedAlgorithm(String),
    /// The policy requires a context.
    #[error("the policy requires a context, which local sealing does not support")]
    ContextRequired,
    /// The public key of the policy or of the service is not valid.
    #[error("the public key is not valid")]
    InvalidKey,
    /// The cryptographic library failed.
    #[error("a local cryptographic operation failed")]
    Cryptography,
}

impl From<aws_lc_rs::error::Unspecified> for LocalError {
    fn from(_: aws_lc_rs::error::Unspecified) -> Self {
        Self::Cryptography
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// Why a sealed file cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file does not have the form of a sealed file.
    #[error("this is not a sealed file")]
    Malformed,
    /// The file has more segments than the format allows.
    #[error("the file is too long")]
    TooLong,
    /// The file was changed, cut short or extended.
    #[error("the file is not authentic or not complete")]
    NotAuthentic,
}

impl Error {
    /// The kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(refusal) => refusal.kind,
            Self::NotProtected { .. } => ErrorKind::NotProtected,
            Self::Deadline(_) => ErrorKind::DeadlineExceeded,
            Self::Connection { .. } => ErrorKind::ConnectionFailed,
            Self::Unexpected { .. } | Self::Type { .. } => ErrorKind::UnexpectedAnswer,
            Self::Configuration(_) => ErrorKind::InvalidConfiguration,
            Self::Credential(_) => ErrorKind::CredentialUnavailable,
            Self::Invalid(_) => ErrorKind::InvalidRequest,
            Self::Local(error) => match error {
                LocalError::PolicyNotActive => ErrorKind::PolicyNotActive,
                LocalError::Frozen => ErrorKind::Frozen,
                LocalError::KeyUnavailable => ErrorKind::KeyUnavailable,
                LocalError::UnsupportedAlgorithm(_) => ErrorKind::UnsupportedAlgorithm,
                LocalError::ContextRequired => ErrorKind::ContextRequired,
                LocalError::InvalidKey => ErrorKind::UnexpectedAnswer,
                LocalError::Cryptography => ErrorKind::Cryptography,
            },
            Self::File(error) => match error {
                FileError::Malformed => ErrorKind::MalformedFile,
                FileError::NotAuthentic => ErrorKind::FileNotAuthentic,
                FileError::Io(_) | FileError::TooLong => ErrorKind::File,
            },
        }
    }

    /// Whether the same call can succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::RateLimited
                | ErrorKind::Unavailable
                | ErrorKind::ConnectionFailed
                | ErrorKind::DeadlineExceeded
        )
    }

    /// The error response, if there was one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The code of the error response.
    pub fn code(&self) -> Option<&Code> {
        self.refusal().and_then(|refusal| refusal.code.as_ref())
    }

    /// The HTTP status, if there was a response.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Unexpected { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The ID of the request, which the log and the audit log contain.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.request_id.as_deref(),
            Self::Unexpected { request_id, .. } => request_id.as_deref(),
            Self::NotProtected { request_id, .. } => Some(request_id),
            _ => None,
        }
    }
}

/// An error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
