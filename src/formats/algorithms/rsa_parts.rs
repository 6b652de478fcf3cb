//! The numbers of RSA private keys.

use std::fmt;

use zeroize::Zeroizing;

/// The numbers of an RSA private key, big-endian, without leading zeros.
#[derive(Clone)]
pub struct RsaParts {
    /// n.
    pub modulus: Vec<u8>,
    /// e.
    pub exponent: Vec<u8>,
    /// d.
    pub private_exponent: Zeroizing<Vec<u8>>,
    /// p.
    pub prime1: Zeroizing<Vec<u8>>,
    /// q.
    pub prime2: Zeroizing<Vec<u8>>,
    /// d mod (p - 1).
    pub exponent1: Zeroizing<Vec<u8>>,
    /// d mod (q - 1).
    pub exponent2: Zeroizing<Vec<u8>>,
    /// The inverse of q, mod p.
    pub coefficient: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for RsaParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
