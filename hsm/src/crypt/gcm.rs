//! AES-GCM with a key in the token: 96-bit IV, 128-bit tag, nothing else. Tokens would take
//! shorter tags.

use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use zeroize::Zeroizing;

use super::GcmSealed;
use crate::HsmError;
use crate::session::{Key, Session};

pub(crate) const IV: usize = 12;
pub(crate) const TAG: usize = 16;
const TAG_BITS: u64 = 128;

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
        session.encrypt(&Mechanism::AesGcm(params), handle, plaintext)
    })?;
    // `iv` is read after the call: a token that makes its own has written it there.
    match sealed
        .len()
        .checked_sub(TAG)
        .filter(|length| *length == plaintext.len())
    {
        Some(length) => {
            let tag = sealed.split_off(length);
            let tag = tag
                .try_into()
                .map_err(|_| HsmError::refused("the tag is not 16 bytes"))?;
            Ok(GcmSealed {
                iv,
                ciphertext: sealed,
                tag,
            })
        }
        None => Err(HsmError::refused(
            "the ciphertext is not as long as AES-GCM makes it",
        )),
    }
}

/// `sealed` is the ciphertext and the tag behind it.
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
        let opened = session.decrypt(&Mechanism::AesGcm(params), handle, sealed);
        opened.map_err(HsmError::blaming_input)
    })
}
