//! What a token lets a key do.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::{HsmError, Purpose};
use formats::algorithms::{Algorithm, Family};

/// The usages of a private or secret key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usages {
    /// `CKA_DECRYPT`.
    pub decrypt: bool,
    /// `CKA_ENCRYPT`.
    pub encrypt: bool,
    /// `CKA_SIGN`.
    pub sign: bool,
    /// `CKA_SIGN_RECOVER`. No purpose needs it.
    pub sign_recover: bool,
    /// `CKA_DERIVE`.
    pub derive: bool,
    /// `CKA_UNWRAP`.
    pub unwrap: bool,
    /// `CKA_WRAP`.
    pub wrap: bool,
    /// `CKA_DECAPSULATE`.
    pub decapsulate: bool,
}

impl Usages {
    /// The usages that a purpose needs; none where keys of the algorithm cannot serve it.
    pub(crate) fn of(algorithm: Algorithm, purpose: Purpose) -> Option<Self> {
        let mut usages = Self::default();
        match (purpose, algorithm.family()) {
            (Purpose::Envelope, Family::Rsa) => usages.decrypt = true,
            (Purpose::Envelope, Family::Ec) => usages.derive = true,
            (Purpose::Envelope, Family::MlKem768 | Family::MlKem1024) => usages.decapsulate = true,
            (Purpose::Envelope, Family::P256MlKem768) => {
                (usages.decapsulate, usages.derive) = (true, true);
            }
            (
                Purpose::Sign,
                Family::Rsa | Family::Ec | Family::Ed25519 | Family::MlDsa | Family::Hmac,
            ) => usages.sign = true,
            (Purpose::Data, Family::Aes) => (usages.encrypt, usages.decrypt) = (true, true),
            (Purpose::Import, Family::Rsa) => usages.unwrap = true,
            (Purpose::Envelope, Family::Ed25519 | Family::MlDsa | Family::Aes | Family::Hmac)
            | (
                Purpose::Sign,
                Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768 | Family::Aes,
            )
            | (
                Purpose::Data,
                Family::Rsa
                | Family::Ec
                | Family::Ed25519
                | Family::MlDsa
                | Family::MlKem768
                | Family::MlKem1024
                | Family::P256MlKem768
                | Family::Hmac,
            )
            | (
                Purpose::Import,
                Family::Ec
                | Family::Ed25519
                | Family::MlDsa
                | Family::MlKem768
                | Family::MlKem1024
                | Family::P256MlKem768
                | Family::Aes
                | Family::Hmac,
            ) => return None,
        }
        Some(usages)
    }

    /// The same as an error where there are none.
    pub(crate) fn needed(algorithm: Algorithm, purpose: Purpose) -> Result<Self, HsmError> {
        Self::of(algorithm, purpose)
            .ok_or_else(|| HsmError::refused(format!("{algorithm} keys cannot serve {purpose:?}")))
    }

    /// Whether every needed usage is allowed.
    pub(crate) fn covers(self, needed: Self) -> bool {
        !needed.exceeds(self)
    }

    /// Whether a usage is allowed that is not needed.
    pub(crate) fn exceeds(self, needed: Self) -> bool {
        let mut pairs = self.each().into_iter().zip(needed.each());
        pairs.any(|(allowed, needed)| allowed && !needed)
    }

    /// The usages that one of both has.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            decrypt: self.decrypt || other.decrypt,
            encrypt: self.encrypt || other.encrypt,
            sign: self.sign || other.sign,
            sign_recover: self.sign_recover || other.sign_recover,
            derive: self.derive || other.derive,
            unwrap: self.unwrap || other.unwrap,
            wrap: self.wrap || other.wrap,
            decapsulate: self.decapsulate || other.decapsulate,
        }
    }

    fn each(self) -> [bool; 8] {
        let Self { decrypt, encrypt, sign, sign_recover, derive, unwrap, wrap, decapsulate } = self;
        [decrypt, encrypt, sign, sign_recover, derive, unwrap, wrap, decapsulate]
    }
}
