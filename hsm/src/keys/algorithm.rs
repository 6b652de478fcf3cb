//! What a key is and what it is for.

/// The kinds of key this crate makes and uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyAlgorithm {
    /// RSA with a modulus of 2048 bits.
    Rsa2048,
    /// RSA with a modulus of 3072 bits.
    Rsa3072,
    /// RSA with a modulus of 4096 bits.
    Rsa4096,
    /// An EC key on NIST P-256.
    P256,
    /// An EC key on NIST P-384.
    P384,
    /// An EC key on NIST P-521.
    P521,
    /// An EdDSA key on Curve25519.
    Ed25519,
    /// AES with 16 bytes.
    Aes128,
    /// AES with 32 bytes.
    Aes256,
    /// A secret of 32 bytes or more for HMAC.
    HmacSha256,
}

/// The elliptic curves of ECDH and ECDSA keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Curve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// NIST P-521.
    P521,
}

/// What a key may be used for. The token is told, and enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Opening envelopes: RSA keys decrypt, EC keys derive.
    Envelope,
    /// Signing, or HMAC.
    Sign,
    /// AES-GCM over data, both ways.
    Data,
    /// Unwrapping other keys into the token, and nothing else.
    Import,
}

/// The public half of a key pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// Big-endian, without leading zeros.
    Rsa {
        /// n.
        modulus: Vec<u8>,
        /// e.
        exponent: Vec<u8>,
    },
    /// The uncompressed point of SEC 1: 04, x, y.
    Ec {
        /// The curve it lies on.
        curve: Curve,
        /// As many bytes as the curve has it.
        point: Vec<u8>,
    },
    /// The 32 bytes of RFC 8032.
    Ed25519 {
        /// The encoded point.
        point: Vec<u8>,
    },
}
