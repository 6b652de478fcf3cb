//! Verification of RSA-PSS with a salt of any length (RFC 8017, section 9.1.2).
//!
//! Common libraries verify salts of one length only. Everything here is public, so that its time may depend
//! on it.

use aws_lc_rs::digest::{self, Context};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};

use super::bits;
use crate::algorithms::PublicParts;
use crate::material::PublicKey;

/// The last byte of every encoded message.
const TRAILER: u8 = 0xbc;

/// Whether a signature of a digest with the hash `of` is valid. Its salt has the given length, or any length.
/// Keys of other kinds verify nothing.
pub fn verify_pss(
    key: &PublicKey,
    of: &'static digest::Algorithm,
    digest: &[u8],
    salt: Option<usize>,
    signature: &[u8],
) -> bool {
    let PublicParts::Rsa { modulus, exponent } = key.parts() else { return false };
    let encoded = recovered(modulus, exponent, signature);
    encoded
        .and_then(|encoded| salt_of(&encoded, of, digest))
        .is_some_and(|found| salt.is_none_or(|wanted| wanted == found))
}

/// The encoded message in a signature, as long as the modulus.
fn recovered(modulus: &[u8], exponent: &[u8], signature: &[u8]) -> Option<Vec<u8>> {
    if signature.len() != modulus.len() || signature >= modulus || !bits(modulus).is_multiple_of(8)
    {
        return None;
    }
    let number = BoxedUint::from_be_slice_vartime;
    let modulus = Odd::new(number(modulus)).into_option()?;
    let precision = modulus.bits_precision();
    let params = BoxedMontyParams::new_vartime(modulus);
    let signature = BoxedUint::from_be_slice(signature, precision).ok()?;
    let message = BoxedMontyForm::new(signature, &params).pow(&number(exponent)).retrieve();
    Some(message.to_be_bytes().to_vec())
}

/// The length of the salt of an encoded message; none if it does not encode the digest.
fn salt_of(encoded: &[u8], of: &'static digest::Algorithm, digest: &[u8]) -> Option<usize> {
    let (rest, trailer) = encoded.split_at_checked(encoded.len().checked_sub(1)?)?;
    let (masked, hash) = rest.split_at_checked(rest.len().checked_sub(of.output_len())?)?;
    if trailer != [TRAILER] || masked.first()? & 0x80 != 0 {
        return None;
    }
    let mut block: Vec<u8> =
        masked.iter().zip(mask(of, hash, masked.len())).map(|(byte, mask)| byte ^ mask).collect();
    // The encoded message has one bit less than the modulus.
    *block.first_mut()? &= 0x7f;
    let start = block.iter().position(|byte| *byte != 0)?;
    let (one, salt) = block.get(start..)?.split_first()?;
    let mut expected = Context::new(of);
    for part in [&[0; 8], digest, salt] {
        expected.update(part);
    }
    (*one == 1 && expected.finish().as_ref() == hash).then_some(salt.len())
}

/// MGF1 (RFC 8017, appendix B.2.1).
fn mask(of: &'static digest::Algorithm, seed: &[u8], length: usize) -> Vec<u8> {
    let mut mask = Vec::with_capacity(length + of.output_len());
    for counter in 0_u32.. {
        if mask.len() >= length {
            break;
        }
        let mut block = Context::new(of);
        block.update(seed);
        block.update(&counter.to_be_bytes());
        mask.extend(block.finish().as_ref());
    }
    mask.truncate(length);
    mask
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::{KeyPair as _, RSA_PSS_SHA256};

    use super::*;

    #[test]
    fn a_signature_verifies_with_its_digest_and_its_salt_only() {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let spki = pair.public_key().as_der().unwrap();
        let key = PublicKey::from_spki(spki.as_ref()).unwrap();
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(&RSA_PSS_SHA256, &SystemRandom::new(), b"message", &mut signature).unwrap();
        let of = &digest::SHA256;
        let digest = digest::digest(of, b"message");
        let verifies =
            |digest: &[u8], salt, signature: &[u8]| verify_pss(&key, of, digest, salt, signature);
        assert!(verifies(digest.as_ref(), None, &signature));
        assert!(verifies(digest.as_ref(), Some(32), &signature));
        assert!(!verifies(digest.as_ref(), Some(20), &signature));
        assert!(!verifies(digest::digest(of, b"another").as_ref(), None, &signature));
        assert!(!verifies(digest.as_ref(), None, &signature[1..]));
        for place in 0..signature.len() {
            let mut changed = signature.clone();
            changed[place] ^= 1;
            assert!(!verifies(digest.as_ref(), None, &changed), "{place}");
        }
    }
}
