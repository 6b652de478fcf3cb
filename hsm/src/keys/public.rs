//! The public half of a key pair, read from the token.

use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass};

use super::attributes::{ED25519_NAME, ED25519_OID};
use super::inspect::{self, read, trimmed};
use crate::attribute_values;
use crate::pkcs11::ObjectHandle;
use crate::session::{Session, named};
use crate::{HsmError, KeyClass, KeyName, KeyRef};
use formats::algorithms::PublicParts;

/// The public half of a private key: of an RSA key from the key itself, of others from the public
/// object of the same name and type, or from the private key where the token keeps the point with it.
pub(crate) fn of_private(
    session: &Session,
    private: ObjectHandle,
    name: &KeyName,
) -> Result<Option<PublicParts>, HsmError> {
    if let Some(public) = of_rsa(session, private)? {
        return Ok(Some(public));
    }
    let mut template =
        vec![Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::Token(true), named(name)];
    template.extend(read(session, private, AttributeType::KeyType)?);
    let halves = session.find(&template)?;
    match halves.as_slice() {
        [half] => of_object(session, *half).map(Some),
        // Some tokens keep the point with the private key; others do not know the attribute.
        [] => Ok(of_object(session, private).ok()),
        several => Err(HsmError::ambiguous_name(several.len(), name)),
    }
}

/// The public half of a key from those of its parts.
pub(crate) fn of_parts(key: &KeyRef, halves: Vec<PublicParts>) -> Option<PublicParts> {
    match key.class {
        KeyClass::Hybrid(kem) => PublicParts::joined(kem.algorithm(), halves),
        KeyClass::Private | KeyClass::Secret | KeyClass::Part(_) => halves.into_iter().next(),
    }
}

/// The modulus and exponent of an RSA key; none for other objects.
pub(crate) fn of_rsa(
    session: &Session,
    object: ObjectHandle,
) -> Result<Option<PublicParts>, HsmError> {
    let modulus = read(session, object, AttributeType::Modulus)?;
    let exponent = read(session, object, AttributeType::PublicExponent)?;
    Ok(match (modulus, exponent) {
        (Some(Attribute::Modulus(modulus)), Some(Attribute::PublicExponent(exponent)))
            if !exponent.is_empty() =>
        {
            Some(PublicParts::Rsa {
                modulus: trimmed(&modulus).to_vec(),
                exponent: trimmed(&exponent).to_vec(),
            })
        }
        _ => None,
    })
}

/// The public key in an object.
pub(crate) fn of_object(session: &Session, object: ObjectHandle) -> Result<PublicParts, HsmError> {
    let Some(Attribute::KeyType(key_type)) = read(session, object, AttributeType::KeyType)? else {
        return Err(HsmError::refused("the token does not report the key type"));
    };
    match key_type {
        KeyType::RSA => of_rsa(session, object)?
            .ok_or_else(|| HsmError::refused("the token does not report the modulus")),
        KeyType::EC | KeyType::EC_EDWARDS => {
            let params = read(session, object, AttributeType::EcParams)?;
            let point = read(session, object, AttributeType::EcPoint)?;
            match (params, point) {
                (Some(Attribute::EcParams(params)), Some(Attribute::EcPoint(point))) => {
                    on_curve(&params, &point)
                }
                _ => Err(HsmError::refused("the token does not report the point")),
            }
        }
        KeyType::ML_DSA => {
            let set = inspect::ml_dsa(session, object)?;
            let value = read(session, object, AttributeType::Value)?;
            match (set, value) {
                (Some(set), Some(Attribute::Value(key))) if key.len() == set.public_len() => {
                    Ok(PublicParts::MlDsa { set, key })
                }
                _ => Err(HsmError::refused("the token does not report the ML-DSA key")),
            }
        }
        KeyType::ML_KEM => {
            let set = inspect::ml_kem(session, object)?;
            let value = read(session, object, AttributeType::Value)?;
            match (set, value) {
                (Some(set), Some(Attribute::Value(key))) if key.len() == set.public_len() => {
                    let kem = set.alone();
                    Ok(PublicParts::Kem { kem, key })
                }
                _ => Err(HsmError::refused("the token does not report the ML-KEM key")),
            }
        }
        other => Err(HsmError::refused(format!("a {other} key has no public half"))),
    }
}

fn on_curve(params: &[u8], point: &[u8]) -> Result<PublicParts, HsmError> {
    if params == ED25519_OID || params == ED25519_NAME {
        return match bare(point, 32) {
            Some(point) => Ok(PublicParts::Ed25519 { point: point.to_vec() }),
            None => Err(HsmError::refused("the point is not an Ed25519 point")),
        };
    }
    let curve = attribute_values::curve_of(params)
        .ok_or_else(|| HsmError::refused("the curve of the key is not supported"))?;
    match bare(point, curve.point_len()) {
        Some(point) if curve.is_uncompressed(point) => {
            Ok(PublicParts::Ec { curve, point: point.to_vec() })
        }
        _ => Err(HsmError::refused("the point is not an uncompressed point of its curve")),
    }
}

/// The bytes of a point that is bare or, as PKCS#11 requires, in a DER octet string. The length
/// shows which.
fn bare(point: &[u8], len: usize) -> Option<&[u8]> {
    if point.len() == len {
        return Some(point);
    }
    let (tag, rest) = point.split_first()?;
    let rest = match rest.split_first()? {
        (0x81, rest) => rest,
        _ => rest,
    };
    let (length, content) = rest.split_first()?;
    (*tag == 4 && usize::from(*length) == len && content.len() == len).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_read_bare_and_in_an_octet_string() {
        let point = [4; 65];
        let wrapped = [&[4, 65][..], &point].concat();
        assert_eq!(bare(&point, 65), Some(&point[..]));
        assert_eq!(bare(&wrapped, 65), Some(&point[..]));
        let long = [4; 133];
        let wrapped = [&[4, 0x81, 133][..], &long].concat();
        assert_eq!(bare(&wrapped, 133), Some(&long[..]));
    }

    #[test]
    fn malformed_points_are_rejected() {
        let point = [4; 65];
        for wrong in [&[4, 64][..], &[3, 65], &[4], &[]] {
            assert_eq!(bare(&[wrong, &point].concat(), 65).filter(|_| wrong.len() > 1), None);
        }
        assert_eq!(bare(&[], 65), None);
    }
}
