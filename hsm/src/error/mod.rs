//! The error of operations on a token. It keeps the failed call and its return code for the log;
//! callers see only the [`ErrorKind`].

#![deny(clippy::wildcard_enum_match_arm)]

mod codes;
mod kind;

use std::fmt;

use cryptoki::context::Function;
use cryptoki::error::{Error as Pkcs11Error, RvError};

use crate::KeyName;

pub use kind::ErrorKind;

/// A failed operation. `Display` shows the kind of failure; the failed call and its code are only
/// in `Debug`, for the log.
#[derive(Clone)]
pub struct HsmError {
    kind: ErrorKind,
    fault: Fault,
    token: Option<String>,
}

/// The cause of a failure.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// A call into the module returned this code.
    Call(Function, RvError),
    /// Anything else.
    Other(String),
}

impl HsmError {
    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The failure with its token and its call, for logs.
    pub fn report(&self) -> String {
        let token = self.token.as_deref().unwrap_or("no token");
        match &self.fault {
            Fault::Call(call, code) => format!("{self} ({token}: C_{call:?} returned {code:?})"),
            Fault::Other(detail) => format!("{self} ({token}: {detail})"),
        }
    }

    /// The label of the token that failed; none where no token was involved.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, fault: Fault::Other(detail.into()), token: None }
    }

    pub(crate) fn bad_input(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadInput, detail)
    }

    pub(crate) fn refused(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, detail)
    }

    pub(crate) fn queue_full() -> Self {
        Self::new(ErrorKind::Busy, "the queue is full")
    }

    pub(crate) fn key_missing() -> Self {
        Self::new(ErrorKind::KeyMissing, "not found")
    }

    pub(crate) fn ambiguous_name(count: usize, name: &KeyName) -> Self {
        Self::refused(format!("{count} objects have the name {name:?}"))
    }

    /// The same failure as another kind, for operations that know more about it.
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn on(mut self, token: &str) -> Self {
        self.token.get_or_insert_with(|| token.to_owned());
        self
    }

    /// The token has lost the login.
    pub(crate) fn login_lost() -> Self {
        Pkcs11Error::Pkcs11(RvError::UserNotLoggedIn, Function::GetSessionInfo).into()
    }

    /// The token does not change an attribute.
    pub(crate) fn attribute_rejected() -> Self {
        Pkcs11Error::Pkcs11(RvError::AttributeReadOnly, Function::SetAttributeValue).into()
    }

    /// Whether the session must not be used again. The operation has had no effect.
    pub(crate) fn ends_session(&self) -> bool {
        self.code().is_some_and(codes::ends_session)
    }

    /// Whether broken tokens and bad inputs share this code.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.code().is_some_and(codes::is_ambiguous)
    }

    /// Whether the failed call only starts an operation, so that it has seen no input.
    pub(crate) fn came_before_input(&self) -> bool {
        matches!(
            self.call(),
            Some(Function::DecryptInit | Function::EncryptInit | Function::SignInit)
        )
    }

    /// Attributes an ambiguous failure to the input, if the failed call has seen the input. For
    /// operations on untrusted input; the canary checks the token independently.
    pub(crate) fn blaming_input(self) -> Self {
        let seen = matches!(
            self.call(),
            Some(
                Function::Decrypt
                    | Function::DeriveKey
                    | Function::DecapsulateKey
                    | Function::UnwrapKey
            )
        );
        let may_be_input = |code| codes::is_ambiguous(code) || codes::may_concern_input(code);
        let is_vague = self.code().is_some_and(may_be_input);
        if seen && is_vague { self.with_kind(ErrorKind::BadInput) } else { self }
    }

    /// Attributes a refusal that no input causes to the key or the token, so that it never counts as an answer
    /// to an input. For operations with a key.
    pub(crate) fn blaming_key(self) -> Self {
        let is_open = self.kind == ErrorKind::Refused;
        if is_open && self.ignores_input() { self.with_kind(ErrorKind::Unusable) } else { self }
    }

    /// Whether every input has this failure.
    fn ignores_input(&self) -> bool {
        match self.call() {
            // These calls see the input.
            Some(Function::DeriveKey | Function::DecapsulateKey) => {
                self.code().is_some_and(codes::concerns_key)
            }
            // Some tokens derive a secret and do not give it away.
            Some(Function::GetAttributeValue) => self.code() == Some(RvError::AttributeSensitive),
            _ => self.came_before_input(),
        }
    }

    /// Whether the token lacks the ability to make or use such a key. The operation has had no effect.
    pub fn lacks_ability(&self) -> bool {
        self.kind == ErrorKind::Unusable || self.code().is_some_and(codes::lacks_ability)
    }

    /// Whether the token does not offer the mechanism of an operation with this key.
    pub fn lacks_mechanism(&self) -> bool {
        self.came_before_input() && self.code().is_some_and(codes::lacks_mechanism)
    }

    /// Whether the token's health should be checked after this failure.
    pub(crate) fn suggests_outage(&self) -> bool {
        self.is_ambiguous()
            || matches!(self.code(), Some(RvError::DeviceMemory | RvError::HostMemory))
            || (self.code().is_some() && self.kind == ErrorKind::TokenOut)
    }

    /// Whether the token rejects an attribute.
    pub(crate) fn rejects_attribute(&self) -> bool {
        self.code().is_some_and(codes::rejects_attribute)
    }

    /// Whether the token may mean that it rejects an attribute, or may be broken.
    pub(crate) fn may_reject_attribute(&self) -> bool {
        self.code().is_some_and(codes::may_reject_attribute)
    }

    /// The return code of the failed call; none where no call failed.
    pub(crate) fn code(&self) -> Option<RvError> {
        match self.fault {
            Fault::Call(_, code) => Some(code),
            Fault::Other(_) => None,
        }
    }

    /// The failed call; none where no call failed.
    pub(crate) fn call(&self) -> Option<Function> {
        match self.fault {
            Fault::Call(call, _) => Some(call),
            Fault::Other(_) => None,
        }
    }
}

impl From<Pkcs11Error> for HsmError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only one error of cryptoki has a return code"
    )]
    fn from(error: Pkcs11Error) -> Self {
        match error {
            Pkcs11Error::Pkcs11(code, call) => {
                Self { kind: codes::kind_of(code), fault: Fault::Call(call, code), token: None }
            }
            other => Self::refused(other.to_string()),
        }
    }
}

impl fmt::Display for HsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl fmt::Debug for HsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        if let Some(token) = &self.token {
            write!(f, " on token {token:?}")?;
        }
        match &self.fault {
            Fault::Call(call, code) => write!(f, ": C_{call:?} returned {code:?}"),
            Fault::Other(detail) => write!(f, ": {detail}"),
        }
    }
}

impl std::error::Error for HsmError {}
