//! The kinds of failure.

use std::fmt;

/// The kinds of failure that callers can act upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input fails cryptographically: a ciphertext, a point, a wrapped key.
    BadInput,
    /// The key is on none of the tokens, and they have proven to work.
    KeyMissing,
    /// No suitable token works at the moment.
    TokenOut,
    /// The queue or the token is full.
    Busy,
    /// The deadline has passed.
    Late,
    /// The token refuses the operation whatever its input: the key lacks the usage, or the token the
    /// mechanism.
    Unusable,
    /// The token works and refuses the operation.
    Refused,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadInput => "the input does not fit the key",
            Self::KeyMissing => "no token holds this key",
            Self::TokenOut => "no suitable token works at the moment",
            Self::Busy => "the token is busy",
            Self::Late => "the token did not answer in time",
            Self::Unusable => "the token does not use the key for this operation",
            Self::Refused => "the token refused the operation",
        })
    }
}
