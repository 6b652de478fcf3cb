//! The ciphertext that the API server stores: the byte 1, the IV, the tag and the encrypted bytes.

use sealward_client::{Cipher, Ciphertext};

/// The version of this form.
const VERSION: u8 = 1;
const IV: usize = 12;
const TAG: usize = 16;
const OVERHEAD: usize = 1 + IV + TAG;
/// Kubernetes refuses more than 1 kB.
const LIMIT: usize = 1_000;

/// The most bytes that can be encrypted. The seeds of Kubernetes have 32.
pub(crate) const MAX_PLAINTEXT: usize = LIMIT - OVERHEAD - 1;

/// The stored form of an encrypted value; none if it has another algorithm or other lengths.
pub(crate) fn join(encrypted: &Ciphertext) -> Option<Vec<u8>> {
    let Ciphertext { ciphertext, iv, tag, algorithm, .. } = encrypted;
    let joined = [&[VERSION], iv.as_slice(), tag, ciphertext].concat();
    let fits = iv.len() == IV && tag.len() == TAG && joined.len() < LIMIT;
    (fits && *algorithm == Cipher::Aes256Gcm).then_some(joined)
}

/// The encrypted value in its stored form; none if it does not have this form.
pub(crate) fn split(stored: &[u8], key_id: String) -> Option<Ciphertext> {
    if stored.len() >= LIMIT {
        return None;
    }
    let rest = stored.strip_prefix(&[VERSION])?;
    let (iv, rest) = rest.split_at_checked(IV)?;
    let (tag, ciphertext) = rest.split_at_checked(TAG)?;
    Some(Ciphertext {
        ciphertext: ciphertext.to_owned(),
        iv: iv.to_owned(),
        tag: tag.to_owned(),
        algorithm: Cipher::Aes256Gcm,
        key_id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(length: usize) -> Ciphertext {
        Ciphertext {
            ciphertext: vec![3; length],
            iv: vec![1; IV],
            tag: vec![2; TAG],
            algorithm: Cipher::Aes256Gcm,
            key_id: "key_1".to_owned(),
        }
    }

    #[test]
    fn the_parts_are_in_this_order() {
        let stored = join(&encrypted(2)).unwrap();
        let parts = [vec![1], vec![1; IV], vec![2; TAG], vec![3, 3]];
        assert_eq!(stored, parts.concat());
        assert_eq!(split(&stored, "key_1".to_owned()).unwrap(), encrypted(2));
    }

    #[test]
    fn the_longest_ciphertext_is_below_1_kb() {
        let longest = join(&encrypted(MAX_PLAINTEXT)).unwrap();
        assert_eq!(longest.len(), 999);
        assert!(split(&longest, String::new()).is_some());
        assert_eq!(join(&encrypted(MAX_PLAINTEXT + 1)), None);
        assert_eq!(split(&[longest, vec![0]].concat(), String::new()), None);
    }

    #[test]
    fn other_forms_are_refused() {
        let stored = join(&encrypted(0)).unwrap();
        for length in 0..stored.len() {
            assert_eq!(split(&stored[..length], String::new()), None, "{length}");
        }
        for version in (0..=255).filter(|version| *version != VERSION) {
            let other = [&[version], &stored[1..]].concat();
            assert_eq!(split(&other, String::new()), None, "{version}");
        }
    }

    #[test]
    fn other_lengths_and_algorithms_are_refused() {
        let fits = encrypted(32);
        for other in [
            Ciphertext { iv: vec![1; 16], ..fits.clone() },
            Ciphertext { tag: vec![2; 12], ..fits.clone() },
            Ciphertext { algorithm: Cipher::Aes128Gcm, ..fits },
        ] {
            assert_eq!(join(&other), None, "{other:?}");
        }
    }
}
