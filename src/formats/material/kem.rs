//! Keys for key encapsulation: ML-KEM (FIPS 203), alone or with a point of P-256.

use aws_lc_rs::kem::EncapsulationKey;
use pkcs8::spki::ObjectIdentifier;

use super::{Kem, ec};
use crate::problem::{Code, Problem};

/// Checks the length of a key and the point of a hybrid key.
pub(super) fn check(kem: Kem, key: &[u8]) -> Result<(), Problem> {
    let Some((_, point)) = kem.split_public(key) else {
        let message = format!("must be {} bytes for {kem}", kem.public_len());
        return Err(Problem::of_body(Code::Length, message));
    };
    match kem.curve() {
        Some(curve) => ec::check_point(curve, point),
        None => Ok(()),
    }
}

/// Checks the numbers of an encapsulation key (FIPS 203, section 7.2), and of the point of a hybrid key.
pub(super) fn check_numbers(kem: Kem, key: &[u8]) -> Result<(), Problem> {
    let (key, point) = kem.split_public(key).unwrap_or_default();
    let usable = EncapsulationKey::new(kem.ml_kem().encapsulation(), key)
        .is_ok_and(|key| key.encapsulate().is_ok());
    if !usable {
        let message = "must be an encapsulation key of FIPS 203";
        return Err(Problem::of_body(Code::Format, message));
    }
    match kem.curve() {
        Some(curve) => ec::check_strength(curve, point),
        None => Ok(()),
    }
}

/// The JOSE algorithm of a JWK, which names the encapsulation (draft-ietf-jose-hpke-pq-pqt).
pub(super) const fn alg(kem: Kem) -> &'static str {
    match kem {
        Kem::P256MlKem768 => "HPKE-8-KE",
        Kem::MlKem768 => "HPKE-12-KE",
        Kem::MlKem1024 => "HPKE-13-KE",
    }
}

/// The object identifier of RFC 9935, and of draft-ietf-lamps-pq-composite-kem for a hybrid, which has the
/// same public key as in JOSE.
pub(super) const fn oid(kem: Kem) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(match kem {
        Kem::MlKem768 => "2.16.840.1.101.3.4.4.2",
        Kem::MlKem1024 => "2.16.840.1.101.3.4.4.3",
        Kem::P256MlKem768 => "1.3.6.1.5.5.7.6.59",
    })
}

/// The encapsulation with this object identifier.
pub(super) fn of_oid(oid_of_key: ObjectIdentifier) -> Option<Kem> {
    Kem::ALL.into_iter().find(|kem| oid(*kem) == oid_of_key)
}

/// The encapsulation with this JOSE algorithm.
pub(super) fn of_alg(alg_of_key: &str) -> Option<Kem> {
    Kem::ALL.into_iter().find(|kem| alg(*kem) == alg_of_key)
}
