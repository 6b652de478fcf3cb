//! ECDH-ES with AES Key Wrap (RFC 7518, section 4.6).

use aws_lc_rs::agreement::{
    Algorithm, ECDH_P256, ECDH_P384, ECDH_P521, PrivateKey, UnparsedPublicKey, agree,
};
use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::key_wrap::{AES_128, AES_256, AesBlockCipher, AesKek, KeyWrap as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use zeroize::Zeroizing;

use super::point;
use crate::error::LocalError;
use crate::runtime::PublishedJwk;

/// The variants of ECDH-ES.
#[derive(Clone, Copy)]
pub(super) enum Agreement {
    Aes256,
    Aes128,
}

impl Agreement {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Aes256 => b"ECDH-ES+A256KW",
            Self::Aes128 => b"ECDH-ES+A128KW",
        }
    }

    fn wrapping(self) -> (&'static AesBlockCipher, usize) {
        match self {
            Self::Aes256 => (&AES_256, 32),
            Self::Aes128 => (&AES_128, 16),
        }
    }
}

/// The member `epk` of the header. Its members are in alphabetical order.
#[derive(Serialize)]
pub(super) struct EphemeralKey {
    crv: &'static str,
    kty: &'static str,
    x: String,
    y: String,
}

/// Wraps a content key for a public key on one of the curves.
pub(super) fn wrap(
    agreement: Agreement,
    key: &PublishedJwk,
    content_key: &[u8],
) -> Result<(Vec<u8>, EphemeralKey), LocalError> {
    let (crv, curve, length): (_, &'static Algorithm, _) = match key.crv.as_deref() {
        Some("P-256") => ("P-256", &ECDH_P256, 32),
        Some("P-384") => ("P-384", &ECDH_P384, 48),
        Some("P-521") => ("P-521", &ECDH_P521, 66),
        _ => return Err(LocalError::InvalidKey),
    };
    let recipient = point(key.x.as_ref(), key.y.as_ref(), length)?;
    let ephemeral = PrivateKey::generate(curve)?;
    let public = ephemeral.compute_public_key()?;
    let (x, y) = public.as_ref().get(1..).unwrap_or_default().split_at(length);
    let epk =
        EphemeralKey { crv, kty: "EC", x: URL_SAFE_NO_PAD.encode(x), y: URL_SAFE_NO_PAD.encode(y) };

    let recipient = UnparsedPublicKey::new(curve, recipient);
    let derive = |z: &[u8]| Ok(concat_kdf(agreement, z));
    let derived = agree(&ephemeral, recipient, LocalError::InvalidKey, derive)?;
    let (cipher, key_length) = agreement.wrapping();
    let wrapping_key = AesKek::new(cipher, derived.get(..key_length).unwrap_or_default())?;
    let mut wrapped = vec![0; content_key.len() + 8];
    let length = wrapping_key.wrap(content_key, &mut wrapped)?.len();
    wrapped.truncate(length);
    Ok((wrapped, epk))
}

/// The first block of the Concat KDF, which is enough for both lengths.
fn concat_kdf(agreement: Agreement, z: &[u8]) -> Zeroizing<Vec<u8>> {
    let (name, (_, length)) = (agreement.name(), agreement.wrapping());
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes();
    let mut block = Context::new(&SHA256);
    block.update(&number(1));
    block.update(z);
    block.update(&number(name.len()));
    block.update(name);
    // apu and apv are empty.
    block.update(&number(0));
    block.update(&number(0));
    block.update(&number(length * 8));
    Zeroizing::new(block.finish().as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derived_key_has_the_length_of_its_algorithm() {
        let long = concat_kdf(Agreement::Aes256, b"z");
        assert_ne!(long, concat_kdf(Agreement::Aes128, b"z"));
        assert_eq!(long.len(), 32);
    }
}
