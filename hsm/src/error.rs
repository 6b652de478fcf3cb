//! The one error of operations on a token. It keeps the call that failed and its return code for
//! the log, and tells the caller only the [`ErrorKind`].

use std::fmt;

use cryptoki::context::Function;
use cryptoki::error::{Error as Pkcs11Error, RvError};

/// An operation that did not succeed. `Display` says what kind of failure it is; the failing
/// call and its code are only in `Debug`, for the log.
#[derive(Clone)]
pub struct HsmError {
    kind: ErrorKind,
    fault: Fault,
    token: Option<String>,
}

/// The sorts of failure a caller can act upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// What was given fails cryptographically: a ciphertext, a point, a wrapped key.
    BadInput,
    /// No token that is proven to be there holds this key.
    KeyMissing,
    /// No token that could do it works at the moment.
    TokenOut,
    /// The queue is full, or the token has no room.
    Busy,
    /// The deadline passed first.
    Late,
    /// The token works and will not do this.
    Refused,
}

/// Where a failure comes from.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// A call into the module answered with this code.
    Call(Function, RvError),
    /// Anything else, said in words.
    Told(String),
}

impl HsmError {
    /// What sort of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The label of the token the failure came from, where it came from one.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub(crate) fn new(kind: ErrorKind, told: impl Into<String>) -> Self {
        Self {
            kind,
            fault: Fault::Told(told.into()),
            token: None,
        }
    }

    pub(crate) fn bad_input(told: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadInput, told)
    }

    pub(crate) fn refused(told: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, told)
    }

    /// The same failure, sorted anew by someone who knows more about the operation.
    pub(crate) fn sorted(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn on(mut self, token: &str) -> Self {
        self.token.get_or_insert_with(|| token.to_owned());
        self
    }

    /// The token has forgotten that the user is logged in.
    pub(crate) fn login_lost() -> Self {
        Pkcs11Error::Pkcs11(RvError::UserNotLoggedIn, Function::GetSessionInfo).into()
    }

    /// Whether the session it came from must not be used again; the operation did not begin.
    pub(crate) fn condemns_the_session(&self) -> bool {
        use RvError as Rv;
        matches!(
            self.code(),
            Some(
                Rv::SessionHandleInvalid
                    | Rv::SessionClosed
                    | Rv::UserNotLoggedIn
                    | Rv::OperationActive
                    | Rv::OperationNotInitialized
            )
        )
    }

    /// Whether a broken token and a bad input are answered alike with this code.
    pub(crate) fn is_ambiguous(&self) -> bool {
        use RvError as Rv;
        matches!(
            self.code(),
            Some(
                Rv::GeneralError
                    | Rv::FunctionFailed
                    | Rv::DeviceError
                    | Rv::FunctionCanceled
                    | Rv::FunctionRejected
                    | Rv::VendorDefined(_)
                    | Rv::UnknownErrorCode(_)
            )
        )
    }

    /// Whether the call that failed only begins an operation.
    pub(crate) fn came_before_input(&self) -> bool {
        matches!(
            self.call(),
            Some(Function::DecryptInit | Function::EncryptInit | Function::SignInit)
        )
    }

    /// Sorts a failure of an operation whose input comes from outside: a code that says nothing
    /// blames the input, if the call that answered it had seen the input. Whether it is the token
    /// after all, the canary finds out.
    pub(crate) fn blaming_input(self) -> Self {
        use RvError as Rv;
        let seen = matches!(
            self.call(),
            Some(Function::Decrypt | Function::DeriveKey | Function::UnwrapKey)
        );
        let vague = self.is_ambiguous()
            || matches!(
                self.code(),
                Some(
                    Rv::ArgumentsBad
                        | Rv::MechanismParamInvalid
                        | Rv::PublicKeyInvalid
                        | Rv::DomainParamsInvalid
                )
            );
        if seen && vague {
            self.sorted(ErrorKind::BadInput)
        } else {
            self
        }
    }

    /// Whether the token's health should be looked at after this.
    pub(crate) fn doubts_the_token(&self) -> bool {
        self.is_ambiguous()
            || matches!(
                self.code(),
                Some(RvError::DeviceMemory | RvError::HostMemory)
            )
            || (self.code().is_some() && self.kind == ErrorKind::TokenOut)
    }

    /// Whether the token does not take an attribute it was given.
    pub(crate) fn dislikes_an_attribute(&self) -> bool {
        use RvError as Rv;
        matches!(
            self.code(),
            Some(
                Rv::AttributeTypeInvalid
                    | Rv::AttributeValueInvalid
                    | Rv::AttributeReadOnly
                    | Rv::TemplateInconsistent
            )
        )
    }

    /// The return code of the call that failed, where one did.
    pub(crate) fn code(&self) -> Option<RvError> {
        match self.fault {
            Fault::Call(_, code) => Some(code),
            Fault::Told(_) => None,
        }
    }

    /// The call that failed, where one did.
    pub(crate) fn call(&self) -> Option<Function> {
        match self.fault {
            Fault::Call(call, _) => Some(call),
            Fault::Told(_) => None,
        }
    }
}

impl From<Pkcs11Error> for HsmError {
    fn from(error: Pkcs11Error) -> Self {
        match error {
            Pkcs11Error::Pkcs11(code, call) => Self {
                kind: sort(code),
                fault: Fault::Call(call, code),
                token: None,
            },
            other => Self::refused(other.to_string()),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadInput => "the input does not fit the key",
            Self::KeyMissing => "no token holds this key",
            Self::TokenOut => "no token that could do this works at the moment",
            Self::Busy => "the token is busy",
            Self::Late => "the token did not answer in time",
            Self::Refused => "the token refused the operation",
        })
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
            Fault::Call(call, code) => write!(f, ": C_{call:?} answered {code:?}"),
            Fault::Told(told) => write!(f, ": {told}"),
        }
    }
}

impl std::error::Error for HsmError {}

/// What a return code means when nothing more is known about the operation. Codes that a broken
/// device and a bad ciphertext share are `Refused` here; operations that take ciphertexts sort
/// them as bad input, and a canary finds out about the device.
fn sort(code: RvError) -> ErrorKind {
    use RvError as Rv;
    match code {
        Rv::EncryptedDataInvalid
        | Rv::EncryptedDataLenRange
        | Rv::DataInvalid
        | Rv::DataLenRange
        | Rv::SignatureInvalid
        | Rv::SignatureLenRange
        | Rv::WrappedKeyInvalid
        | Rv::WrappedKeyLenRange => ErrorKind::BadInput,
        Rv::ObjectHandleInvalid | Rv::KeyHandleInvalid => ErrorKind::KeyMissing,
        Rv::DeviceRemoved
        | Rv::TokenNotPresent
        | Rv::TokenNotRecognized
        | Rv::SlotIdInvalid
        | Rv::CryptokiNotInitialized
        | Rv::SessionHandleInvalid
        | Rv::SessionClosed
        | Rv::UserNotLoggedIn => ErrorKind::TokenOut,
        Rv::DeviceMemory | Rv::HostMemory | Rv::SessionCount => ErrorKind::Busy,
        _ => ErrorKind::Refused,
    }
}
