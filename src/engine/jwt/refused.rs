//! Why a token is refused.

/// Why a token is refused, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TokenRefused {
    /// It is longer than any token.
    #[error("the token is too long")]
    TooLong,
    /// It is not a signed token in compact serialization.
    #[error("not a JSON Web Token")]
    Malformed,
    /// The settings do not allow the algorithm for this issuer, or Sealward does not support it.
    #[error("the algorithm of the token is not allowed")]
    Algorithm,
    /// The header has an extension.
    #[error("the token requires an unknown extension")]
    Extension,
    /// The settings do not name the issuer.
    #[error("unknown issuer of a token")]
    Issuer,
    /// The issuer does not publish the key.
    #[error("the issuer of the token does not publish its key")]
    Key,
    /// The signature is wrong.
    #[error("the signature of the token is wrong")]
    Signature,
    /// The token is for others.
    #[error("the token has another audience")]
    Audience,
    /// The token is of a type with another purpose.
    #[error("the token has another type")]
    Type,
    /// A claim is missing or has the wrong type.
    #[error("the token has a missing or invalid claim")]
    Claim,
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet, or was issued in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
}
