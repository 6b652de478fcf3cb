//! The proof that a token works: a real operation with a small key of our own, which is kept in
//! the token. Only the canary's failure says that a token is out.

use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};

use crate::keys::template;
use crate::session::Session;
use crate::{Curve, HsmError, KeyClass, Usages};

/// Labels that begin so are keys this crate keeps for itself.
pub(crate) const INTERNAL: &str = "sealward-internal";

const LABEL: &str = "sealward-internal canary";
const ID: &[u8] = b"sealward-internal canary";

/// The kinds of key a canary can have: not every token makes HMAC keys.
const VOICES: [Voice; 2] = [Voice::Hmac, Voice::Ecdsa];

#[derive(Debug, Clone, Copy)]
enum Voice {
    Hmac,
    Ecdsa,
}

/// Finds the canary's key and uses it.
pub(crate) fn exercise(session: &Session) -> Result<(), HsmError> {
    for voice in VOICES {
        if let Some(key) = voice.find(session)? {
            return voice.sing(session, key);
        }
    }
    Err(HsmError::refused("the canary's key is not in the token"))
}

/// Makes the canary's key where the token does not have it yet.
pub(crate) fn settle(session: &Session) -> Result<(), HsmError> {
    for voice in VOICES {
        if voice.find(session)?.is_some() {
            return Ok(());
        }
    }
    let [first, second] = VOICES;
    let hatch = |voice: Voice| {
        // Once more, because tokens fail now and then while they write.
        let key = voice.hatch(session).or_else(|_| voice.hatch(session))?;
        voice.sing(session, key)
    };
    hatch(first).or_else(|error| {
        tracing::info!(
            ?error,
            "the token does not take the canary's first kind of key"
        );
        hatch(second).map_err(|_| error)
    })
}

impl Voice {
    /// Several processes may have made the key at the same time; any of them will do.
    fn find(self, session: &Session) -> Result<Option<ObjectHandle>, HsmError> {
        let class = match self {
            Self::Hmac => ObjectClass::SECRET_KEY,
            Self::Ecdsa => ObjectClass::PRIVATE_KEY,
        };
        let label = Attribute::Label(LABEL.as_bytes().to_vec());
        let found = session.find(&[Attribute::Class(class), Attribute::Token(true), label])?;
        Ok(found.first().copied())
    }

    fn hatch(self, session: &Session) -> Result<ObjectHandle, HsmError> {
        let usages = Usages {
            sign: true,
            ..Usages::default()
        };
        match self {
            Self::Hmac => {
                let mut key = template::guarded(ID, LABEL, KeyClass::Secret, usages, true);
                key.extend([
                    Attribute::Class(ObjectClass::SECRET_KEY),
                    Attribute::KeyType(KeyType::GENERIC_SECRET),
                    Attribute::ValueLen(32.into()),
                ]);
                Ok(session
                    .raw()
                    .generate_key(&Mechanism::GenericSecretKeyGen, &key)?)
            }
            Self::Ecdsa => {
                let mut private = template::guarded(ID, LABEL, KeyClass::Private, usages, true);
                private.extend([
                    Attribute::Class(ObjectClass::PRIVATE_KEY),
                    Attribute::KeyType(KeyType::EC),
                ]);
                let mut public = template::open_half(ID, LABEL, usages, true);
                public.extend([
                    Attribute::Class(ObjectClass::PUBLIC_KEY),
                    Attribute::KeyType(KeyType::EC),
                    Attribute::EcParams(Curve::P256.params().to_vec()),
                ]);
                let by = Mechanism::EccKeyPairGen;
                Ok(session.raw().generate_key_pair(&by, &public, &private)?.1)
            }
        }
    }

    fn sing(self, session: &Session, key: ObjectHandle) -> Result<(), HsmError> {
        let (by, length) = match self {
            Self::Hmac => (Mechanism::Sha256Hmac, 32),
            Self::Ecdsa => (Mechanism::Ecdsa, 64),
        };
        // As long as a SHA-256 hash: what ECDSA takes, and HMAC takes anything.
        let song = session.sign(&by, key, &[0x5a; 32])?;
        if song.len() == length {
            return Ok(());
        }
        Err(HsmError::refused(format!(
            "the canary's song has {} bytes",
            song.len()
        )))
    }
}
