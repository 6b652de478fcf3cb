//! The ciphers of keys that encrypt data.

use super::Algorithm;
use super::strength::strongest;
use crate::closed_set;

closed_set! {
    /// The encryption algorithm.
    pub enum Cipher: "Cipher" {
        /// AES-256 in GCM.
        Aes256Gcm = "AES-256-GCM",
        /// AES-128 in GCM.
        Aes128Gcm = "AES-128-GCM",
    }
}

impl Cipher {
    /// The algorithms of the keys it takes.
    pub const fn keys(self) -> &'static [Algorithm] {
        match self {
            Self::Aes256Gcm => &[Algorithm::Aes256],
            Self::Aes128Gcm => &[Algorithm::Aes128],
        }
    }

    /// The strength in bits: that of its keys.
    pub fn strength(self) -> usize {
        strongest(self.keys())
    }

    /// The cipher of a key; none for keys that do not encrypt data.
    pub fn of_key(algorithm: Algorithm) -> Option<Self> {
        Self::ALL.into_iter().find(|cipher| cipher.keys().contains(&algorithm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aes_key_has_one_cipher() {
        assert_eq!(Cipher::of_key(Algorithm::Aes256), Some(Cipher::Aes256Gcm));
        assert_eq!(Cipher::of_key(Algorithm::Aes128), Some(Cipher::Aes128Gcm));
        assert_eq!(Cipher::of_key(Algorithm::HmacSha256), None);
    }
}
