//! The error codes of the API, each with its status and default message.
//!
//! Responses ([`ApiError`](super::error::ApiError)) and the OpenAPI document use this one table.

use std::collections::BTreeMap;
use std::fmt;

use axum::http::StatusCode;
use utoipa::openapi::{RefOr, Response};

use engine::management::ResourceType;
use engine::protection::AnswerStatus;

macro_rules! codes {
    ($($variant:ident $name:ident $status:ident $message:literal,)*) => {
        /// An error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum ErrorCode {
            $(#[doc = $message] $variant,)*
        }

        impl ErrorCode {
            /// Every code.
            pub(super) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the API.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($name),)*
                }
            }

            /// The HTTP status.
            pub(super) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$variant => StatusCode::$status,)*
                }
            }

            /// The default message.
            pub(super) const fn message(self) -> &'static str {
                match self {
                    $(Self::$variant => $message,)*
                }
            }
        }

        /// Every code as a type, for the `responses` of a handler.
        #[allow(dead_code, reason = "handlers do not list the codes that follow from the route")]
        pub(in crate) mod errors {
            $(
                #[doc = $message]
                pub(in crate) enum $variant {}

                impl utoipa::IntoResponses for $variant {
                    fn responses() -> super::Responses {
                        super::declared(super::ErrorCode::$variant)
                    }
                }
            )*
        }
    };
}

codes! {
    InvalidRequest INVALID_REQUEST BAD_REQUEST
        "The request is not valid",
    InvalidProtectedPayload INVALID_PROTECTED_PAYLOAD BAD_REQUEST
        "The protected payload cannot be parsed",
    UnprotectNotAvailable UNPROTECT_NOT_AVAILABLE BAD_REQUEST
        "Only the destination service holds the private key of this policy",
    DecryptionFailed DECRYPTION_FAILED BAD_REQUEST
        "The ciphertext is not authentic for this key",
    AuthenticationFailed AUTHENTICATION_FAILED UNAUTHORIZED
        "The credential is missing, invalid, expired or revoked",
    Forbidden FORBIDDEN FORBIDDEN
        "The type or the roles of the API key do not allow this request",
    OperationNotAllowed OPERATION_NOT_ALLOWED FORBIDDEN
        "The API key, the policy, the key's state or a setting forbids this operation",
    ServiceFrozen SERVICE_FROZEN FORBIDDEN
        "The service is frozen",
    PolicyNotActive POLICY_NOT_ACTIVE FORBIDDEN
        "The policy is not active",
    NotFound NOT_FOUND NOT_FOUND
        "No resource exists at this path",
    ServiceNotFound SERVICE_NOT_FOUND NOT_FOUND
        "The service does not exist",
    PolicyNotFound POLICY_NOT_FOUND NOT_FOUND
        "The policy does not exist",
    KeyNotFound KEY_NOT_FOUND NOT_FOUND
        "The key does not exist",
    ApiKeyNotFound API_KEY_NOT_FOUND NOT_FOUND
        "The API key does not exist",
    ChangeNotFound CHANGE_NOT_FOUND NOT_FOUND
        "The change does not exist",
    IdentityNotFound IDENTITY_NOT_FOUND NOT_FOUND
        "The workload identity does not exist",
    MethodNotAllowed METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED
        "This path does not support the method; see the Allow header",
    RequestTimeout REQUEST_TIMEOUT REQUEST_TIMEOUT
        "The body did not arrive in time",
    Conflict CONFLICT CONFLICT
        "The change conflicts with the current state",
    PreconditionFailed PRECONDITION_FAILED PRECONDITION_FAILED
        "The resource has changed; read it again",
    PayloadTooLarge PAYLOAD_TOO_LARGE PAYLOAD_TOO_LARGE
        "The body is too large",
    UnsupportedMediaType UNSUPPORTED_MEDIA_TYPE UNSUPPORTED_MEDIA_TYPE
        "The Content-Type must be application/json, or application/merge-patch+json for PATCH",
    RateLimitExceeded RATE_LIMIT_EXCEEDED TOO_MANY_REQUESTS
        "Too many requests; try again later",
    DestinationKeyNotFound DESTINATION_KEY_NOT_FOUND INTERNAL_SERVER_ERROR
        "The destination service has no active key for this algorithm",
    InternalError INTERNAL_ERROR INTERNAL_SERVER_ERROR
        "The operation failed",
    ServiceUnavailable SERVICE_UNAVAILABLE SERVICE_UNAVAILABLE
        "The service is temporarily unavailable; try again soon",
}

impl ErrorCode {
    /// The code of a resource of this type that does not exist.
    pub(super) const fn missing(of: ResourceType) -> Self {
        match of {
            ResourceType::Service => Self::ServiceNotFound,
            ResourceType::Policy => Self::PolicyNotFound,
            ResourceType::Key => Self::KeyNotFound,
            ResourceType::ApiKey => Self::ApiKeyNotFound,
            ResourceType::Change => Self::ChangeNotFound,
            ResourceType::Identity => Self::IdentityNotFound,
            ResourceType::Emergency
            | ResourceType::ImportKey
            | ResourceType::Person
            | ResourceType::Dashboard
            | ResourceType::Request
            | ResourceType::AuditLog
            | ResourceType::Instance
            | ResourceType::Token => Self::NotFound,
        }
    }
}

impl ErrorCode {
    /// The status and the code.
    pub(super) fn answer_status(self) -> AnswerStatus {
        (self.status().as_u16(), self.name())
    }
}

type Responses = BTreeMap<String, RefOr<Response>>;

/// A placeholder under the name of `code`, which the OpenAPI document replaces by a response.
fn declared(code: ErrorCode) -> Responses {
    Responses::from([(code.name().to_owned(), Response::default().into())])
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
