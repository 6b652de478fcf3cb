//! ECDH with a private key in the token.

use aws_lc_rs::agreement::{ParsedPublicKey, UnparsedPublicKey};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use zeroize::Zeroizing;

use crate::HsmError;
use crate::session::{Key, Session, Temporary};
use formats::algorithms::Curve;

/// The curve of this uncompressed point. Points that are on no curve reveal the key to an attacker
/// who sends enough of them, and not every token checks.
pub(crate) fn curve_of(point: &[u8]) -> Result<Curve, HsmError> {
    let curve = Curve::ALL
        .into_iter()
        .find(|curve| curve.is_uncompressed(point))
        .ok_or_else(|| HsmError::bad_input("not an uncompressed point"))?;
    match ParsedPublicKey::try_from(UnparsedPublicKey::new(curve.agreement(), point)) {
        Ok(_) => Ok(curve),
        Err(_) => Err(HsmError::bad_input("the point is not on its curve")),
    }
}

pub(crate) fn derive<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    curve: Curve,
    peer_point: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let length = curve.coordinate_len();
    // Tokens derive into an object and not into bytes, so this object is short-lived and readable.
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::ValueLen(length.try_into()?),
    ];
    let secret = session.with_key(key, |handle| {
        let by = Mechanism::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), peer_point));
        let derived = session.raw().derive_key(&by, handle, &template);
        derived.map_err(HsmError::blaming_input)
    })?;
    let secret = Temporary::new(session, secret);
    let value = session.raw().read_value(secret.handle(), length)?;
    if value.len() == length {
        return Ok(value);
    }
    Err(HsmError::bad_input("the length of the shared secret is wrong"))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::agreement::PrivateKey;

    use super::*;

    #[test]
    fn only_points_on_their_curve_are_accepted() {
        for curve in Curve::ALL {
            let key =
                PrivateKey::generate(curve.agreement()).unwrap().compute_public_key().unwrap();
            let mut point = key.as_ref().to_vec();
            assert_eq!(curve_of(&point).unwrap(), curve);
            for index in 0..point.len() {
                point[index] ^= 1;
                assert!(curve_of(&point).is_err(), "byte {index} of a point on {curve:?}");
                point[index] ^= 1;
            }
            assert!(curve_of(&point[1..]).is_err());
        }
        assert!(curve_of(&[]).is_err());
        assert!(curve_of(&[0]).is_err());
    }
}
