//! The algorithms that are offered, and the kinds of key each takes.

use aws_lc_rs::digest::{self, Digest};
use hsm::SignatureScheme;

use crate::material::Algorithm;
use crate::problem::{Code, Problem};

/// An algorithm that a request can name.
pub(crate) trait Offered: Copy + 'static {
    /// All that are offered.
    const ALL: &'static [Self];

    /// Its name in the API.
    fn name(self) -> &'static str;

    /// The names of all that are offered.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|one| one.name()).collect()
    }

    /// The algorithm of that name, or what is wrong with the member `algorithm`.
    fn named(name: &str) -> Result<Self, Problem> {
        let mut offered = Self::ALL.iter().copied();
        offered.find(|one| one.name() == name).ok_or_else(|| {
            let message = format!("this must be one of {}", Self::names().join(", "));
            Problem::new("algorithm", Code::Unsupported, message)
        })
    }
}

/// How data is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    Aes256Gcm,
    Aes128Gcm,
}

/// How a message is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme(SignatureScheme);

/// How a message is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Offered for Cipher {
    const ALL: &'static [Self] = &[Self::Aes256Gcm, Self::Aes128Gcm];

    fn name(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "AES-256-GCM",
            Self::Aes128Gcm => "AES-128-GCM",
        }
    }
}

impl Cipher {
    /// The keys it takes.
    pub(super) const fn keys(self) -> &'static [Algorithm] {
        match self {
            Self::Aes256Gcm => &[Algorithm::Aes256],
            Self::Aes128Gcm => &[Algorithm::Aes128],
        }
    }
}

impl Offered for Scheme {
    const ALL: &'static [Self] = &[
        Self(SignatureScheme::RsaPkcs1Sha256),
        Self(SignatureScheme::RsaPkcs1Sha384),
        Self(SignatureScheme::RsaPkcs1Sha512),
        Self(SignatureScheme::RsaPssSha256),
        Self(SignatureScheme::RsaPssSha384),
        Self(SignatureScheme::RsaPssSha512),
        Self(SignatureScheme::EcdsaSha256),
        Self(SignatureScheme::EcdsaSha384),
        Self(SignatureScheme::EcdsaSha512),
        Self(SignatureScheme::Ed25519),
        Self(SignatureScheme::HmacSha256),
    ];

    fn name(self) -> &'static str {
        match self.0 {
            SignatureScheme::RsaPkcs1Sha256 => "RSA-SHA256",
            SignatureScheme::RsaPkcs1Sha384 => "RSA-SHA384",
            SignatureScheme::RsaPkcs1Sha512 => "RSA-SHA512",
            SignatureScheme::RsaPssSha256 => "RSA-PSS-SHA256",
            SignatureScheme::RsaPssSha384 => "RSA-PSS-SHA384",
            SignatureScheme::RsaPssSha512 => "RSA-PSS-SHA512",
            SignatureScheme::EcdsaSha256 => "ECDSA-SHA256",
            SignatureScheme::EcdsaSha384 => "ECDSA-SHA384",
            SignatureScheme::EcdsaSha512 => "ECDSA-SHA512",
            SignatureScheme::Ed25519 => "Ed25519",
            SignatureScheme::HmacSha256 => "HMAC-SHA256",
        }
    }
}

impl Scheme {
    /// The same, in the token's terms.
    pub(super) const fn in_token(self) -> SignatureScheme {
        self.0
    }

    /// The keys it takes.
    pub(super) const fn keys(self) -> &'static [Algorithm] {
        match self.0 {
            SignatureScheme::RsaPkcs1Sha256
            | SignatureScheme::RsaPkcs1Sha384
            | SignatureScheme::RsaPkcs1Sha512
            | SignatureScheme::RsaPssSha256
            | SignatureScheme::RsaPssSha384
            | SignatureScheme::RsaPssSha512 => {
                &[Algorithm::Rsa2048, Algorithm::Rsa3072, Algorithm::Rsa4096]
            }
            SignatureScheme::EcdsaSha256 => &[Algorithm::P256],
            SignatureScheme::EcdsaSha384 => &[Algorithm::P384],
            SignatureScheme::EcdsaSha512 => &[Algorithm::P521],
            SignatureScheme::Ed25519 => &[Algorithm::Ed25519],
            SignatureScheme::HmacSha256 => &[Algorithm::HmacSha256],
        }
    }
}

impl Offered for Hash {
    const ALL: &'static [Self] = &[Self::Sha256, Self::Sha384, Self::Sha512];

    fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }
}

impl Hash {
    /// The hash of `message`.
    pub(super) fn of(self, message: &[u8]) -> Digest {
        let algorithm = match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read_back<T: Offered + PartialEq>() -> bool {
        T::ALL
            .iter()
            .all(|one| T::named(one.name()).as_ref() == Ok(one))
    }

    #[test]
    fn names_are_read_back_and_others_refused() {
        assert!(is_read_back::<Cipher>() && is_read_back::<Scheme>() && is_read_back::<Hash>());
        let problem = Hash::named("MD5").err().unwrap();
        assert_eq!(
            problem.message,
            "this must be one of SHA-256, SHA-384, SHA-512"
        );
        assert!(Cipher::named("aes-256-gcm").is_err());
    }
}
