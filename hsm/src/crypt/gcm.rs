//! AES-GCM with a key in the token, with 96-bit IVs and 128-bit tags only. Tokens would accept
//! shorter tags.

use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use zeroize::Zeroizing;

use crate::HsmError;
use crate::session::{Key, Session};

pub(crate) const IV: usize = 12;
pub(crate) const TAG: usize = 16;
const TAG_BITS: u64 = 128;

/// The result of AES-GCM encryption in a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcmSealed {
    /// The IV that the token used: some tokens generate their own.
    pub iv: [u8; IV],
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// The authentication tag.
    pub tag: [u8; TAG],
}

pub(crate) fn encrypt<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    aad: &[u8],
    plaintext: &[u8],
) -> Result<GcmSealed, HsmError> {
    let mut iv = [0; IV];
    let mut sealed = session.with_key(key, |handle| {
        aws_lc_rs::rand::fill(&mut iv).map_err(|_| HsmError::refused("no random IV"))?;
        let params = GcmParams::new(&mut iv, aad, TAG_BITS.into())?;
        session.raw().encrypt(&Mechanism::AesGcm(params), handle, plaintext)
    })?;
    if sealed.len() != plaintext.len() + TAG {
        return Err(HsmError::refused("the ciphertext has a wrong length"));
    }
    let tag = sealed.split_off(plaintext.len()).try_into();
    Ok(GcmSealed {
        // Read after the call, because a token that generates its own has written it there.
        iv,
        ciphertext: sealed,
        tag: tag.map_err(|_| HsmError::refused("the tag is not 16 bytes"))?,
    })
}

/// `sealed` is the ciphertext followed by the tag.
pub(crate) fn decrypt<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    iv: [u8; IV],
    aad: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    session.with_key(key, |handle| {
        let mut iv = iv;
        let params = GcmParams::new(&mut iv, aad, TAG_BITS.into())?;
        let opened = session.raw().decrypt(&Mechanism::AesGcm(params), handle, sealed);
        opened.map_err(HsmError::blaming_input)
    })
}
