//! ML-KEM keys (FIPS 203).

use aws_lc_rs::kem::EncapsulationKey;
use pkcs8::spki::ObjectIdentifier;

use super::MlKem;
use crate::problem::{Code, Problem};

/// Checks the length of an encapsulation key.
pub(super) fn check(set: MlKem, key: &[u8]) -> Result<(), Problem> {
    if key.len() == set.public_len() {
        return Ok(());
    }
    let message = format!("must be {} bytes for {set}", set.public_len());
    Err(Problem::of_body(Code::Length, message))
}

/// Checks the numbers of an encapsulation key (FIPS 203, section 7.2).
pub(super) fn check_numbers(set: MlKem, key: &[u8]) -> Result<(), Problem> {
    let usable =
        EncapsulationKey::new(set.encapsulation(), key).is_ok_and(|key| key.encapsulate().is_ok());
    if usable {
        return Ok(());
    }
    let message = "must be an encapsulation key of FIPS 203";
    Err(Problem::of_body(Code::Format, message))
}

/// The JOSE algorithm of a JWK, which names the parameter set (draft-ietf-jose-hpke-pq-pqt).
pub(super) const fn alg(set: MlKem) -> &'static str {
    match set {
        MlKem::MlKem768 => "HPKE-12-KE",
        MlKem::MlKem1024 => "HPKE-13-KE",
    }
}

/// The object identifier of RFC 9935.
pub(super) const fn oid(set: MlKem) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(match set {
        MlKem::MlKem768 => "2.16.840.1.101.3.4.4.2",
        MlKem::MlKem1024 => "2.16.840.1.101.3.4.4.3",
    })
}

/// The parameter set with this object identifier.
pub(super) fn of_oid(oid_of_key: ObjectIdentifier) -> Option<MlKem> {
    MlKem::ALL.into_iter().find(|set| oid(*set) == oid_of_key)
}

/// The parameter set with this JOSE algorithm.
pub(super) fn of_alg(alg_of_key: &str) -> Option<MlKem> {
    MlKem::ALL.into_iter().find(|set| alg(*set) == alg_of_key)
}
