//! The hybrid key encapsulation MLKEM768-P256 (draft-irtf-cfrg-concrete-hybrid-kems): one secret from
//! those of ML-KEM and ECDH. An attacker must break both. All derived values are wiped when dropped.

use sha3::{Digest as _, Sha3_256};
use zeroize::Zeroizing;

use crate::algorithms::{Kem, MlKem};

/// The shared secret of a key encapsulation.
pub(super) type SharedSecret = Zeroizing<[u8; MlKem::SECRET_LEN]>;

/// The points of ECDH in the encapsulation, both uncompressed and empty for ML-KEM alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points<'a> {
    /// The ephemeral point of the sender.
    pub(super) sender: &'a [u8],
    /// The point of the public key.
    pub(super) recipient: &'a [u8],
}

/// The shared secret from `secrets`: that of ML-KEM, followed by that of ECDH for a hybrid. None if their
/// length is wrong.
pub(super) fn combine(kem: Kem, secrets: &[u8], points: Points<'_>) -> Option<SharedSecret> {
    if secrets.len() != kem.secrets_len() {
        return None;
    }
    let mut secret = SharedSecret::default();
    match label(kem) {
        None => secret.copy_from_slice(secrets),
        Some(label) => {
            let mut hash = Sha3_256::new();
            for input in [secrets, points.sender, points.recipient, label] {
                hash.update(input);
            }
            hash.finalize_into((&mut *secret).into());
        }
    }
    Some(secret)
}

/// The name that separates the hybrid from others; none for ML-KEM alone.
const fn label(kem: Kem) -> Option<&'static [u8]> {
    match kem {
        Kem::MlKem768 | Kem::MlKem1024 => None,
        Kem::P256MlKem768 => Some(b"MLKEM768-P256"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_depends_on_every_input() {
        let combined = |secrets: &[u8], sender, recipient| {
            let points = Points { sender, recipient };
            combine(Kem::P256MlKem768, secrets, points).map(|secret| secret.to_vec())
        };
        let own = combined(&[1; 64], &[2; 65], &[3; 65]).unwrap();
        let (mut first, mut second) = ([1; 64], [1; 64]);
        (first[0], second[63]) = (0, 0);
        for other in [
            combined(&first, &[2; 65], &[3; 65]),
            combined(&second, &[2; 65], &[3; 65]),
            combined(&[1; 64], &[4; 65], &[3; 65]),
            combined(&[1; 64], &[2; 65], &[4; 65]),
        ] {
            assert_ne!(other, Some(own.clone()));
        }
        assert_eq!(combined(&[1; 32], &[2; 65], &[3; 65]), None);
    }

    #[test]
    fn ml_kem_alone_is_not_combined() {
        let points = Points { sender: &[], recipient: &[] };
        let secret = combine(Kem::MlKem768, &[5; 32], points).unwrap();
        assert_eq!(*secret, [5; 32]);
    }
}
