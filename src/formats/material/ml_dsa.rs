//! ML-DSA keys (FIPS 204): every string of bytes with the length of the parameter set is a public key.

use pkcs8::spki::ObjectIdentifier;

use super::MlDsa;
use crate::problem::{Code, Problem};

/// Checks the length of an encoded public key.
pub(super) fn check(set: MlDsa, key: &[u8]) -> Result<(), Problem> {
    if key.len() == set.public_len() {
        return Ok(());
    }
    let message = format!("must be {} bytes for {set}", set.public_len());
    Err(Problem::of_body(Code::Length, message))
}

/// The object identifier of RFC 9881.
pub(super) const fn oid(set: MlDsa) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(match set {
        MlDsa::MlDsa44 => "2.16.840.1.101.3.4.3.17",
        MlDsa::MlDsa65 => "2.16.840.1.101.3.4.3.18",
        MlDsa::MlDsa87 => "2.16.840.1.101.3.4.3.19",
    })
}

/// The parameter set with this object identifier.
pub(super) fn of_oid(oid_of_key: ObjectIdentifier) -> Option<MlDsa> {
    MlDsa::ALL.into_iter().find(|set| oid(*set) == oid_of_key)
}
