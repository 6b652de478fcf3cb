//! Key encryption with HPKE in base mode (draft-ietf-jose-hpke-encrypt-20, section 6, and
//! draft-ietf-jose-hpke-pq-pqt-01): the key schedule with SHAKE256, and AES-256-GCM. All derived values
//! are wiped when dropped.

use shake::Shake256;
use shake::digest::{ExtendableOutput as _, Update as _, XofReader as _};
use zeroize::Zeroizing;

use super::agreement::LONGEST_KEY;
use super::algorithm::{Enc, HpkeRevision};
use super::content::{self, ContentKey, IV_LEN, TAG_LEN};
use crate::algorithms::Kem;

/// The number of bytes that the encryption of a content key adds.
pub(super) const SEAL_OVERHEAD: usize = TAG_LEN;

/// The identifiers of SHAKE256 and of AES-256-GCM.
const KDF_AND_AEAD: [u8; 4] = [0x00, 0x11, 0x00, 0x02];
/// The length of key, nonce and exporter secret, of which the exporter secret is not used.
const DERIVED_LEN: u16 = 32 + 12 + 64;

/// Encrypts `content_key` under the shared secret.
pub(super) fn wrap(
    revision: HpkeRevision,
    kem: Kem,
    enc: Enc,
    shared_secret: &[u8],
    content_key: &[u8],
) -> Option<Vec<u8>> {
    let (key, nonce) = schedule(revision, kem, enc, shared_secret);
    let (mut wrapped, tag) = content::encrypt(Enc::A256GCM, &key, &nonce, &[], content_key)?;
    wrapped.extend_from_slice(&tag);
    Some(wrapped)
}

/// Decrypts a content key. `None` if it is not authentic, after the same work.
pub(super) fn unwrap(
    revision: HpkeRevision,
    kem: Kem,
    enc: Enc,
    shared_secret: &[u8],
    wrapped: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (key, nonce) = schedule(revision, kem, enc, shared_secret);
    let (ciphertext, tag) = wrapped.split_last_chunk::<TAG_LEN>()?;
    let mut content_key = Zeroizing::new(ciphertext.to_vec());
    let authentic = content::decrypt(Enc::A256GCM, &key, &nonce, &[], &mut content_key, tag);
    authentic.then_some(content_key)
}

/// The key and the nonce of the single message (`CombineSecrets_OneStage`, without a pre-shared key).
fn schedule(
    revision: HpkeRevision,
    kem: Kem,
    enc: Enc,
    shared_secret: &[u8],
) -> (ContentKey, [u8; IV_LEN]) {
    let info = [b"JOSE-HPKE rcpt\xff", enc.name().as_bytes(), b"\xff"].concat();
    let mut hash = Shake256::default();
    hash.update(&length(&[]));
    hash.update(&length(shared_secret));
    hash.update(shared_secret);
    hash.update(b"HPKE-v1HPKE");
    hash.update(&kem_id(revision, kem));
    hash.update(&KDF_AND_AEAD);
    hash.update(&length(b"secret"));
    hash.update(b"secret");
    hash.update(&DERIVED_LEN.to_be_bytes());
    // Base mode, and no identifier of a pre-shared key.
    hash.update(&[0]);
    hash.update(&length(&[]));
    hash.update(&length(&info));
    hash.update(&info);
    let mut output = hash.finalize_xof();
    let (mut key, mut nonce) = (ContentKey::new([0; LONGEST_KEY]), [0; IV_LEN]);
    output.read(&mut *key);
    output.read(&mut nonce);
    (key, nonce)
}

/// The identifier of the key encapsulation.
const fn kem_id(revision: HpkeRevision, kem: Kem) -> [u8; 2] {
    match (revision, kem) {
        (HpkeRevision::Pqt01, Kem::MlKem768) => [0x00, 0x41],
        (HpkeRevision::Pqt01, Kem::MlKem1024) => [0x00, 0x42],
        (HpkeRevision::Pqt01, Kem::P256MlKem768) => [0x00, 0x50],
    }
}

/// The length of a string of bytes, in two bytes.
fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_key_requires_the_same_secret_and_parameters() {
        let wrapped =
            wrap(HpkeRevision::Pqt01, Kem::MlKem768, Enc::A256GCM, &[1; 32], &[7; 32]).unwrap();
        assert_eq!(wrapped.len(), 32 + SEAL_OVERHEAD);
        let unwrapped = |kem, enc, secret: &[u8]| {
            unwrap(HpkeRevision::Pqt01, kem, enc, secret, &wrapped).map(|key| key.to_vec())
        };
        let own = unwrapped(Kem::MlKem768, Enc::A256GCM, &[1; 32]);
        assert_eq!(own, Some(vec![7; 32]));
        assert_eq!(unwrapped(Kem::MlKem1024, Enc::A256GCM, &[1; 32]), None);
        assert_eq!(unwrapped(Kem::MlKem768, Enc::A128GCM, &[1; 32]), None);
        assert_eq!(unwrapped(Kem::MlKem768, Enc::A256GCM, &[2; 32]), None);
        assert_eq!(
            unwrap(HpkeRevision::Pqt01, Kem::MlKem768, Enc::A256GCM, &[1; 32], &[0; 15]),
            None
        );
    }
}
