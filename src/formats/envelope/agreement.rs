//! ECDH-ES with key wrapping (RFC 7518, section 4.6): the wrapping key, derived from the shared
//! secret, and AES key wrap (RFC 3394). All derived values are wiped when dropped.

use aws_lc_rs::key_wrap::{AES_128, AES_256, AesBlockCipher, AesKek, KeyWrap as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::algorithm::Alg;

/// The number of bytes that AES key wrap adds.
pub(super) const WRAP_OVERHEAD: usize = 8;

/// A content key or key-encryption key: at most 256 bits.
pub(super) const LONGEST_KEY: usize = 32;

/// The inputs of the key derivation in addition to the shared secret.
pub(super) struct Parties<'a> {
    pub(super) apu: &'a [u8],
    pub(super) apv: &'a [u8],
}

/// Wraps `content_key` under the key derived from the shared secret.
pub(super) fn wrap(
    alg: Alg,
    parties: &Parties<'_>,
    shared_secret: &[u8],
    content_key: &[u8],
) -> Option<Vec<u8>> {
    let mut wrapped = vec![0; content_key.len() + WRAP_OVERHEAD];
    kek(alg, parties, shared_secret)?.wrap(content_key, &mut wrapped).ok()?;
    Some(wrapped)
}

/// Unwraps a content key. `None` if the wrapped key is not authentic.
pub(super) fn unwrap(
    alg: Alg,
    parties: &Parties<'_>,
    shared_secret: &[u8],
    wrapped: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let mut key = Zeroizing::new(vec![0; wrapped.len().checked_sub(WRAP_OVERHEAD)?]);
    kek(alg, parties, shared_secret)?.unwrap(wrapped, &mut key).ok()?;
    Some(key)
}

fn kek(alg: Alg, parties: &Parties<'_>, shared_secret: &[u8]) -> Option<AesKek> {
    let (cipher, len): (&'static AesBlockCipher, _) = match alg {
        Alg::EcdhEsA256Kw => (&AES_256, 32),
        Alg::EcdhEsA128Kw => (&AES_128, 16),
        Alg::RsaOaep | Alg::RsaOaep256 | Alg::Hpke8Ke | Alg::Hpke12Ke | Alg::Hpke13Ke => {
            return None;
        }
    };
    let derived = concat_kdf(alg.name(), parties, shared_secret, len);
    AesKek::new(cipher, derived.get(..usize::from(len))?).ok()
}

/// The Concat KDF of NIST SP 800-56A with one round of SHA-256, for `key_len` up to 32 bytes.
fn concat_kdf(
    algorithm: &str,
    parties: &Parties<'_>,
    shared_secret: &[u8],
    key_len: u8,
) -> Zeroizing<[u8; LONGEST_KEY]> {
    let mut hash = Sha256::new();
    hash.update(1_u32.to_be_bytes());
    hash.update(shared_secret);
    for datum in [algorithm.as_bytes(), parties.apu, parties.apv] {
        hash.update(u32::try_from(datum.len()).unwrap_or(u32::MAX).to_be_bytes());
        hash.update(datum);
    }
    hash.update((u32::from(key_len) * 8).to_be_bytes());
    let mut key = Zeroizing::new([0; LONGEST_KEY]);
    hash.finalize_into((&mut *key).into());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7518, appendix C.
    #[test]
    fn derives_the_key_of_the_rfc() {
        let shared_secret = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49,
            110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
        ];
        let parties = Parties { apu: b"Alice", apv: b"Bob" };
        let key = concat_kdf("A128GCM", &parties, &shared_secret, 16);
        let expected = [86, 170, 141, 234, 248, 35, 109, 32, 92, 34, 40, 205, 113, 167, 16, 26];
        assert_eq!(key[..16], expected);
    }

    #[test]
    fn a_wrapped_key_requires_the_same_secret_and_parties() {
        let parties = Parties { apu: b"", apv: b"" };
        let others = Parties { apu: b"x", apv: b"" };
        let wrapped = wrap(Alg::EcdhEsA256Kw, &parties, &[1; 32], &[7; 32]).unwrap();
        let unwrapped =
            |alg, parties, secret| unwrap(alg, parties, secret, &wrapped).map(|key| key.to_vec());
        assert_eq!(unwrapped(Alg::EcdhEsA256Kw, &parties, &[1; 32]), Some(vec![7; 32]));
        assert_eq!(unwrapped(Alg::EcdhEsA128Kw, &parties, &[1; 32]), None);
        assert_eq!(unwrapped(Alg::EcdhEsA256Kw, &others, &[1; 32]), None);
        assert_eq!(unwrapped(Alg::EcdhEsA256Kw, &parties, &[2; 32]), None);
    }
}
