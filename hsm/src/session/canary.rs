//! The canary: a real operation with a small key that this crate keeps in the token. Only the
//! failure of the canary means that a token is out.

use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};

use super::Session;
use crate::pkcs11::ObjectHandle;
use crate::{ErrorKind, HsmError};

/// The kinds of canary key. Not every token makes HMAC keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CanaryKey {
    Hmac,
    Ecdsa,
}

impl CanaryKey {
    /// In order of preference.
    pub(crate) const ALL: [Self; 2] = [Self::Hmac, Self::Ecdsa];
    pub(crate) const LABEL: &str = "sealward-internal canary";

    pub(crate) fn class(self) -> ObjectClass {
        match self {
            Self::Hmac => ObjectClass::SECRET_KEY,
            Self::Ecdsa => ObjectClass::PRIVATE_KEY,
        }
    }

    /// Finds such a key. Several processes may have made one at the same time; any will do.
    pub(crate) fn find(self, session: &Session) -> Result<Option<ObjectHandle>, HsmError> {
        let found = session.find(&[
            Attribute::Class(self.class()),
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Label(Self::LABEL.as_bytes().to_vec()),
        ])?;
        Ok(found.first().copied())
    }

    pub(crate) fn sign(self, session: &Session, key: ObjectHandle) -> Result<(), HsmError> {
        let (by, length) = match self {
            Self::Hmac => (Mechanism::Sha256Hmac, 32),
            Self::Ecdsa => (Mechanism::Ecdsa, 64),
        };
        // As long as a SHA-256 hash, which ECDSA expects.
        let signature = session.raw().sign(&by, key, &[0x5a; 32])?;
        if signature.len() == length {
            return Ok(());
        }
        Err(HsmError::refused(format!("the canary signature has {} bytes", signature.len())))
    }
}

impl Session {
    /// Finds the canary key and signs with it.
    pub(crate) fn run_canary(&self) -> Result<(), HsmError> {
        for kind in CanaryKey::ALL {
            if let Some(key) = kind.find(self)? {
                return kind.sign(self, key);
            }
        }
        Err(HsmError::refused("the canary key is not in the token"))
    }

    /// Proves that the token works and that the user is logged in.
    pub(crate) fn prove(&self) -> Result<(), HsmError> {
        self.check_login()?;
        self.run_canary().or_else(|error| {
            self.check_login()?;
            self.connection().canary.raise();
            Err(error.with_kind(ErrorKind::TokenOut))
        })
    }
}
