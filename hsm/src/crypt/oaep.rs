//! Unwrapping a content key with RSA-OAEP, with each hash in the way that the token has shown.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use zeroize::Zeroizing;

use super::{OaepHash, OaepWay, OaepWays};
use crate::HsmError;
use crate::oaep;
use crate::session::{Key, Session};

/// What the [trial](crate::trial) has shown of one token.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<OaepWays>);

/// The mechanism of OAEP with an empty label.
pub(crate) fn mechanism(hash: OaepHash) -> Mechanism<'static> {
    Mechanism::RsaPkcsOaep(params(hash))
}

/// The parameters of OAEP with an empty label.
pub(crate) fn params(hash: OaepHash) -> PkcsOaepParams<'static> {
    let (hash, mask) = match hash {
        OaepHash::Sha1 => (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1),
        OaepHash::Sha256 => (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256),
    };
    PkcsOaepParams::new(hash, mask, PkcsOaepSource::empty())
}

/// Decrypts in the way that this token has shown.
pub(crate) fn decrypt<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    hash: OaepHash,
    wrapped: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let way = session.device().oaep.way(hash);
    decrypt_by(way, session, key, hash, wrapped)
}

/// Decrypts in this way. A token that lacks the hash is not asked: its answer would pass for that
/// to a bad ciphertext.
pub(crate) fn decrypt_by<'k>(
    way: OaepWay,
    session: &Session,
    key: impl Into<Key<'k>>,
    hash: OaepHash,
    wrapped: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let by = match way {
        OaepWay::InToken | OaepWay::Untried => mechanism(hash),
        OaepWay::RawRsa => Mechanism::RsaX509,
        OaepWay::Lacking => return Err(lacking(session, hash)),
    };
    let opened = session.with_key(key, |handle| {
        let opened = session.decrypt(&by, handle, wrapped);
        opened.map_err(HsmError::blaming_input)
    })?;
    if way != OaepWay::RawRsa {
        return Ok(opened);
    }
    // A ciphertext has the length of the modulus, and so has the block.
    oaep::decode(hash, wrapped.len(), &opened)
        .map_err(|_| HsmError::bad_input("the padding of the raw block is wrong"))
}

fn lacking(session: &Session, hash: OaepHash) -> HsmError {
    let remedy = if session.device().bounds.allow_raw_rsa {
        "raw RSA does not open it either"
    } else {
        "hsm.allow_raw_rsa is not set"
    };
    HsmError::refused(format!(
        "the token lacks RSA-OAEP with {hash:?}, and {remedy}"
    ))
}

impl Shown {
    pub(crate) fn ways(&self) -> OaepWays {
        *self.lock()
    }

    pub(crate) fn way(&self, hash: OaepHash) -> OaepWay {
        self.lock().of(hash)
    }

    pub(crate) fn note(&self, hash: OaepHash, way: OaepWay) {
        let mut ways = self.lock();
        match hash {
            OaepHash::Sha1 => ways.sha1 = way,
            OaepHash::Sha256 => ways.sha256 = way,
        }
    }

    fn lock(&self) -> MutexGuard<'_, OaepWays> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
