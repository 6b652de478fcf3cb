//! What the keys of a token are used for.

/// What a key may be used for. The token enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Opening envelopes: RSA keys decrypt, EC keys derive, ML-KEM keys decapsulate, and hybrid keys do the
    /// last two.
    Envelope,
    /// Signatures and HMAC.
    Sign,
    /// AES-GCM encryption and decryption of data.
    Data,
    /// Unwrapping other keys into the token, and nothing else.
    Import,
}
