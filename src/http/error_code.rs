//! The codes that clients tell errors apart by: each with its status and what it says to people.
//!
//! One table, from which the answers are made ([`Fault`](super::error::Fault)) and the document of
//! the API alike.

use std::fmt;

use axum::http::StatusCode;

macro_rules! codes {
    ($($variant:ident $name:ident $status:ident $message:literal,)*) => {
        /// What an error is called.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum ErrorCode {
            $(#[doc = $message] $variant,)*
        }

        impl ErrorCode {
            /// Its name in the API.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($name),)*
                }
            }

            /// The status that it is answered with.
            pub(super) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$variant => StatusCode::$status,)*
                }
            }

            /// What is said to people where nothing more can be said.
            pub(super) const fn message(self) -> &'static str {
                match self {
                    $(Self::$variant => $message,)*
                }
            }
        }
    };
}

codes! {
    InvalidRequest INVALID_REQUEST BAD_REQUEST
        "The request is not valid",
    InvalidProtectedPayload INVALID_PROTECTED_PAYLOAD BAD_REQUEST
        "The protected payload cannot be parsed",
    UnprotectNotAvailable UNPROTECT_NOT_AVAILABLE BAD_REQUEST
        "The destination service alone holds the private key of this policy",
    DecryptionFailed DECRYPTION_FAILED BAD_REQUEST
        "The ciphertext does not authenticate with this key",
    AuthenticationFailed AUTHENTICATION_FAILED UNAUTHORIZED
        "The API key is missing, not valid, or not valid any more",
    Forbidden FORBIDDEN FORBIDDEN
        "An API key of this type may not call this API",
    OperationNotAllowed OPERATION_NOT_ALLOWED FORBIDDEN
        "The API key, the policy, the key's state or a setting forbids this",
    PolicyNotActive POLICY_NOT_ACTIVE FORBIDDEN
        "The policy is not active",
    NotFound NOT_FOUND NOT_FOUND
        "There is nothing at this path",
    ServiceNotFound SERVICE_NOT_FOUND NOT_FOUND
        "There is no such service",
    PolicyNotFound POLICY_NOT_FOUND NOT_FOUND
        "There is no such policy",
    KeyNotFound KEY_NOT_FOUND NOT_FOUND
        "There is no such key",
    ApiKeyNotFound API_KEY_NOT_FOUND NOT_FOUND
        "There is no such API key",
    MethodNotAllowed METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED
        "This method is not offered here; see the header Allow",
    Conflict CONFLICT CONFLICT
        "This would contradict what is there",
    PreconditionFailed PRECONDITION_FAILED PRECONDITION_FAILED
        "The resource has changed since; read it again",
    PayloadTooLarge PAYLOAD_TOO_LARGE PAYLOAD_TOO_LARGE
        "The body is too large",
    UnsupportedMediaType UNSUPPORTED_MEDIA_TYPE UNSUPPORTED_MEDIA_TYPE
        "The body must be sent as Content-Type: application/json",
    RateLimitExceeded RATE_LIMIT_EXCEEDED TOO_MANY_REQUESTS
        "Too many requests; try again later",
    DestinationKeyNotFound DESTINATION_KEY_NOT_FOUND INTERNAL_SERVER_ERROR
        "The destination service has no active key for this",
    InternalError INTERNAL_ERROR INTERNAL_SERVER_ERROR
        "The operation failed",
    ServiceUnavailable SERVICE_UNAVAILABLE SERVICE_UNAVAILABLE
        "The service cannot do this at the moment; try again soon",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
