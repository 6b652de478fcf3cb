//! What the return codes of a module mean.

use cryptoki::error::RvError;

use super::kind::ErrorKind;

/// The kind of failure for a return code when nothing more is known about the operation. Codes
/// that broken devices and bad ciphertexts share are `Refused`; operations on ciphertexts turn
/// them into bad input, and the canary checks the device.
#[expect(clippy::wildcard_enum_match_arm, reason = "PKCS#11 has about 90 return codes")]
pub(super) fn kind_of(code: RvError) -> ErrorKind {
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

/// Whether a session with this failure must not be used again.
pub(super) fn ends_session(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::SessionHandleInvalid
            | Rv::SessionClosed
            | Rv::UserNotLoggedIn
            | Rv::OperationActive
            | Rv::OperationNotInitialized
    )
}

/// Whether broken tokens and bad inputs share this code.
pub(super) fn is_ambiguous(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::GeneralError
            | Rv::FunctionFailed
            | Rv::DeviceError
            | Rv::FunctionCanceled
            | Rv::FunctionRejected
            | Rv::VendorDefined(_)
            | Rv::UnknownErrorCode(_)
    )
}

/// Whether some tokens return this code for a bad input.
pub(super) fn may_concern_input(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::ArgumentsBad
            | Rv::MechanismParamInvalid
            | Rv::PublicKeyInvalid
            | Rv::DomainParamsInvalid
    )
}

/// Whether the code of a call that sees an input concerns only the key or the mechanism.
pub(super) fn concerns_key(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::KeyFunctionNotPermitted
            | Rv::KeyTypeInconsistent
            | Rv::MechanismInvalid
            | Rv::FunctionNotSupported
    )
}

/// Whether the token lacks an ability.
pub(super) fn lacks_ability(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::MechanismInvalid
            | Rv::MechanismParamInvalid
            | Rv::FunctionNotSupported
            | Rv::CurveNotSupported
            | Rv::DomainParamsInvalid
            | Rv::KeySizeRange
            | Rv::KeyTypeInconsistent
            | Rv::AttributeTypeInvalid
            | Rv::AttributeValueInvalid
            | Rv::TemplateInconsistent
            | Rv::TemplateIncomplete
    )
}

/// Whether the token does not offer the mechanism of a call.
pub(super) fn lacks_mechanism(code: RvError) -> bool {
    use RvError as Rv;
    matches!(code, Rv::MechanismInvalid | Rv::MechanismParamInvalid | Rv::FunctionNotSupported)
}

/// Whether the token rejects an attribute.
pub(super) fn rejects_attribute(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::AttributeTypeInvalid
            | Rv::AttributeValueInvalid
            | Rv::AttributeReadOnly
            | Rv::TemplateInconsistent
    )
}

/// Whether the token may mean that it rejects an attribute, or may be broken.
pub(super) fn may_reject_attribute(code: RvError) -> bool {
    use RvError as Rv;
    matches!(
        code,
        Rv::GeneralError | Rv::FunctionFailed | Rv::VendorDefined(_) | Rv::UnknownErrorCode(_)
    )
}
