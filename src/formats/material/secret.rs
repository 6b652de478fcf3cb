//! Secret keys: their bytes.

use std::fmt;

use zeroize::Zeroizing;

use super::Algorithm;
use crate::binary;
use crate::problem::{Code, Problem};

/// The bytes of an AES or HMAC key.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<Vec<u8>>);

/// HMAC keys that are shorter than the hash weaken it (RFC 7518, section 3.2). Keys that are longer
/// than its block are hashed first.
const HMAC_LENGTHS: std::ops::RangeInclusive<usize> = 32..=64;

impl SecretKey {
    /// Reads base64 of either alphabet, with or without padding.
    pub fn from_base64(text: &str) -> Result<Self, Problem> {
        binary::from_base64(text)
            .map(|bytes| Self(Zeroizing::new(bytes)))
            .map_err(|_| Problem::of_body(Code::Format, "must be base64"))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The default algorithm for these bytes: AES if the length is an AES key length, otherwise
    /// HMAC.
    pub fn likely_algorithm(&self) -> Algorithm {
        match self.0.len() {
            16 => Algorithm::Aes128,
            32 => Algorithm::Aes256,
            _ => Algorithm::HmacSha256,
        }
    }

    /// Checks that these bytes can be a key of `algorithm`.
    pub fn check_for(&self, algorithm: Algorithm) -> Result<(), Problem> {
        let length = self.0.len();
        let (fits, message) = match algorithm {
            Algorithm::Aes128 => (length == 16, "must be 16 bytes for AES-128"),
            Algorithm::Aes256 => (length == 32, "must be 32 bytes for AES-256"),
            Algorithm::HmacSha256 => {
                (HMAC_LENGTHS.contains(&length), "must be 32 to 64 bytes for HMAC-SHA256")
            }
            Algorithm::Rsa2048
            | Algorithm::Rsa3072
            | Algorithm::Rsa4096
            | Algorithm::P256
            | Algorithm::P384
            | Algorithm::P521
            | Algorithm::Ed25519
            | Algorithm::MlDsa44
            | Algorithm::MlDsa65
            | Algorithm::MlDsa87
            | Algorithm::MlKem768
            | Algorithm::MlKem1024
            | Algorithm::P256MlKem768 => (false, "must be absent: this algorithm has key pairs"),
        };
        if !fits {
            return Err(Problem::of_body(Code::Length, message));
        }
        if self.0.iter().all(|byte| *byte == 0) {
            return Err(Problem::of_body(Code::Range, "must not consist of zeros"));
        }
        Ok(())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_must_match_the_algorithm() {
        let key = |length| SecretKey(Zeroizing::new(vec![1; length]));
        assert!(key(16).check_for(Algorithm::Aes128).is_ok());
        assert!(key(32).check_for(Algorithm::Aes256).is_ok());
        assert!(key(64).check_for(Algorithm::HmacSha256).is_ok());
        assert!(key(24).check_for(Algorithm::Aes256).is_err());
        assert!(key(31).check_for(Algorithm::HmacSha256).is_err());
        assert!(key(32).check_for(Algorithm::Ed25519).is_err());
        assert_eq!(format!("{:?}", key(16)), "SecretKey([redacted])");
    }
}
