//! Encryption and decryption with AES-GCM.

use hsm::{ErrorKind, GcmSealed};
use zeroize::Zeroizing;

use super::{NamedResult, VersionedSealed};
use crate::keys::{KeyError, KeyVersion, PermittedKey};
use crate::policy::{Permit, to};
use crate::protection::{Call, Protection, Refusal};
use formats::material::Algorithm;

/// The algorithms of keys that encrypt.
const CIPHERS: [Algorithm; 2] = [Algorithm::Aes256, Algorithm::Aes128];

const IV: usize = 12;
const TAG: usize = 16;

impl Protection {
    pub(super) async fn seal_by_name(
        &self,
        call: &mut Call,
        permit: &Permit<to::Encrypt>,
        name: &str,
        version: Option<KeyVersion>,
        plaintext: &[u8],
        aad: &[u8],
    ) -> Result<VersionedSealed, Refusal> {
        let key = self.choose_by_name(call, permit, name, version, &CIPHERS).await?;
        let version = key.version().ok_or(Refusal::KeyNotFound)?;
        let sealed = key.encrypt(plaintext, aad).await?;
        Ok(VersionedSealed { version, sealed })
    }

    pub(super) async fn open_by_name(
        &self,
        call: &mut Call,
        permit: &Permit<to::Decrypt>,
        name: &str,
        version: KeyVersion,
        sealed: &[u8],
        aad: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Refusal> {
        let key = self.choose_by_name(call, permit, name, Some(version), &CIPHERS).await?;
        opened(&key, sealed, aad).await
    }

    /// Decrypts and encrypts again. The record has both keys.
    pub(super) async fn rewrap_by_name(
        &self,
        call: &mut Call,
        (opening, sealing): &(Permit<to::Decrypt>, Permit<to::Encrypt>),
        name: &str,
        (from, to): (KeyVersion, Option<KeyVersion>),
        sealed: &[u8],
        aad: &[u8],
    ) -> Result<VersionedSealed, Refusal> {
        let old = self.choose_by_name(call, opening, name, Some(from), &CIPHERS).await?;
        let new = self.choose_by_name(call, sealing, name, to, &CIPHERS).await;
        call.note_key(old.id());
        let new = new?;
        call.sealing().key_id = Some(new.id());
        let version = new.version().ok_or(Refusal::KeyNotFound)?;
        let plaintext = opened(&old, sealed, aad).await?;
        let sealed = new.encrypt(&plaintext, aad).await?;
        Ok(VersionedSealed { version, sealed })
    }

    pub(super) async fn data_key_by_name(
        &self,
        call: &mut Call,
        permit: &Permit<to::Encrypt>,
        name: &str,
        version: Option<KeyVersion>,
        length: usize,
        aad: &[u8],
    ) -> Result<NamedResult, Refusal> {
        match length {
            16 => self.dependencies.floor.check(Algorithm::Aes128)?,
            32 => self.dependencies.floor.check(Algorithm::Aes256)?,
            // It is no key of AES, and stronger than every minimum.
            _ => {}
        }
        let mut key = Zeroizing::new(vec![0; length]);
        self.dependencies.entropy.fill(key.as_mut_slice());
        let sealed = self.seal_by_name(call, permit, name, version, &key, aad).await?;
        Ok(NamedResult::DataKey { key, sealed })
    }
}

async fn opened(
    key: &PermittedKey<'_, Permit<to::Decrypt>>,
    sealed: &[u8],
    aad: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    let (iv, ciphertext, tag) = parts(sealed).ok_or(Refusal::DecryptionFailed)?;
    let opened = key.decrypt(iv, ciphertext, tag, aad).await;
    opened.map_err(|not_done| match &not_done {
        KeyError::Token(error) if error.kind() == ErrorKind::BadInput => Refusal::DecryptionFailed,
        KeyError::NoPrivateHalf
        | KeyError::NotCounted(_)
        | KeyError::BelowFloor(_)
        | KeyError::Token(_) => not_done.into(),
    })
}

/// The IV, the ciphertext and the tag; none if the text is too short.
fn parts(sealed: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (iv, rest) = sealed.split_at_checked(IV)?;
    let (ciphertext, tag) = rest.split_at_checked(rest.len().checked_sub(TAG)?)?;
    Some((iv, ciphertext, tag))
}

impl VersionedSealed {
    /// The IV, the ciphertext and the tag, one after the other.
    pub fn parts(&self) -> [&[u8]; 3] {
        let GcmSealed { iv, ciphertext, tag } = &self.sealed;
        [iv, ciphertext, tag]
    }
}
