//! The formats of ECDSA signatures.

use formats::algorithms::SignatureScheme;
use spki::der::Decode as _;
use spki::der::asn1::Uint;

use crate::closed_set::ClosedSet;
use formats::algorithms::{Algorithm, Curve};
use formats::closed_set;

closed_set! {
    /// The format of an ECDSA signature.
    pub enum SignatureFormat: "SignatureFormat" {
        /// `r` and `s`, concatenated (IEEE P1363), as JOSE uses it.
        P1363 = "p1363",
        /// An ASN.1 `SEQUENCE` of `r` and `s` (RFC 3279), as X.509 and OpenSSL use it.
        Der = "der",
    }
}

impl ClosedSet for SignatureFormat {}

/// The curve of an ECDSA scheme; none for other schemes.
pub(in crate::protection) fn curve(scheme: SignatureScheme) -> Option<Curve> {
    scheme.keys().first().copied().and_then(Algorithm::curve)
}

/// DER of a signature that is `r` and `s`, concatenated.
pub(in crate::protection) fn to_der(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let halves = [integer(r), integer(s)].concat();
    let mut der = header(0x30, halves.len());
    der.extend(halves);
    der
}

/// `r` and `s`, concatenated, each with `coordinate_len` bytes; none if the DER is malformed.
pub(super) fn from_der(der: &[u8], coordinate_len: usize) -> Option<Vec<u8>> {
    let halves = Vec::<Uint>::from_der(der).ok()?;
    let [r, s] = &halves[..] else { return None };
    let mut signature = Vec::with_capacity(2 * coordinate_len);
    for half in [r, s] {
        let missing = coordinate_len.checked_sub(half.as_bytes().len())?;
        signature.resize(signature.len() + missing, 0);
        signature.extend(half.as_bytes());
    }
    Some(signature)
}

fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..).unwrap_or_default();
    // A first bit that is set would make the number negative.
    let has_sign = digits.first().is_none_or(|first| *first >= 0x80);
    let mut der = header(0x02, digits.len() + usize::from(has_sign));
    if has_sign {
        der.push(0);
    }
    der.extend(digits);
    der
}

/// The tag and the length, which is below 256.
fn header(tag: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length).unwrap_or(u8::MAX) {
        short @ ..0x80 => vec![tag, short],
        long => vec![tag, 0x81, long],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_convert_into_each_other() {
        for (half, der) in [
            (vec![0, 0, 0, 1], vec![0x30, 6, 2, 1, 1, 2, 1, 1]),
            (vec![0, 0, 0, 0], vec![0x30, 6, 2, 1, 0, 2, 1, 0]),
            (vec![0, 0x80, 0, 1], vec![0x30, 12, 2, 4, 0, 0x80, 0, 1, 2, 4, 0, 0x80, 0, 1]),
        ] {
            let signature = [half.clone(), half].concat();
            assert_eq!(to_der(&signature), der);
            assert_eq!(from_der(&der, 4), Some(signature));
        }
        let longest = vec![0xff; 132];
        let der = to_der(&longest);
        assert_eq!((der[..3].to_vec(), der.len()), (vec![0x30, 0x81, 138], 141));
        assert_eq!(from_der(&der, 66), Some(longest));
    }

    #[test]
    fn malformed_der_is_refused() {
        for der in [
            &[][..],
            &[0x30, 3, 2, 1, 1],
            &[0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1],
            // A leading zero, a negative number, a long length, a byte too much, a number too long.
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 1],
            &[0x30, 6, 2, 1, 0x80, 2, 1, 1],
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],
            &[0x30, 6, 2, 1, 1, 2, 1, 1, 0],
            &[0x30, 10, 2, 5, 1, 1, 1, 1, 1, 2, 1, 1],
        ] {
            assert_eq!(from_der(der, 4), None, "{der:?}");
        }
    }
}
