//! Keys on NIST curves: points and scalars.

use aws_lc_rs::agreement::{ParsedPublicKey, PrivateKey, UnparsedPublicKey};
use zeroize::Zeroizing;

use super::Curve;
use crate::problem::{Code, Problem};

/// Checks that `point` is the uncompressed form of a point on the curve and not infinity.
pub(super) fn check_point(curve: Curve, point: &[u8]) -> Result<(), Problem> {
    if !curve.is_uncompressed(point) {
        return Err(Problem::of_body(
            Code::Unsupported,
            "must be an uncompressed point (04, x, y) of its curve's length",
        ));
    }
    ParsedPublicKey::try_from(UnparsedPublicKey::new(curve.agreement(), point))
        .map(drop)
        .map_err(|_| Problem::of_body(Code::Range, format!("must be a point on {}", curve.name())))
}

/// Refuses the base point and its inverse, whose private keys everyone knows: 1 and the order minus 1.
pub(super) fn check_strength(curve: Curve, point: &[u8]) -> Result<(), Problem> {
    let base = public_of(curve, &scalar(curve, &[1])?)?;
    if split(curve, point).0 == split(curve, &base).0 {
        let message = format!("must not be the base point of {} or its inverse", curve.name());
        return Err(Problem::of_body(Code::Range, message));
    }
    Ok(())
}

/// The uncompressed point of these coordinates.
pub(super) fn join(curve: Curve, x: &[u8], y: &[u8]) -> Result<Vec<u8>, Problem> {
    for (member, coordinate) in [("x", x), ("y", y)] {
        if coordinate.len() != curve.coordinate_len() {
            let wanted = curve.coordinate_len();
            let message =
                format!("must be {wanted} bytes, as every coordinate of {}", curve.name());
            return Err(Problem::new(member, Code::Length, message));
        }
    }
    Ok([&[Curve::UNCOMPRESSED], x, y].concat())
}

/// The coordinates of a point.
pub(super) fn split(curve: Curve, point: &[u8]) -> (&[u8], &[u8]) {
    point.get(1..).unwrap_or_default().split_at_checked(curve.coordinate_len()).unwrap_or_default()
}

/// The scalar with the length of the curve. Some encoders omit leading zeros.
pub(super) fn scalar(curve: Curve, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let missing = curve.coordinate_len().checked_sub(bytes.len());
    let Some(missing) = missing.filter(|_| !bytes.is_empty()) else {
        let message = format!("must be {} bytes", curve.coordinate_len());
        return Err(Problem::of_body(Code::Length, message));
    };
    let mut scalar = Zeroizing::new(Vec::with_capacity(curve.coordinate_len()));
    scalar.resize(missing, 0);
    scalar.extend_from_slice(bytes);
    Ok(scalar)
}

/// The public point of a scalar, which must be between zero and the order of the curve.
pub(super) fn public_of(curve: Curve, scalar: &[u8]) -> Result<Vec<u8>, Problem> {
    PrivateKey::from_private_key(curve.agreement(), scalar)
        .ok()
        .and_then(|private| private.compute_public_key().ok())
        .map(|public| public.as_ref().to_vec())
        .ok_or_else(|| {
            Problem::of_body(Code::Range, "must be above zero and below the order of its curve")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_point_of_a_scalar_lies_on_the_curve() {
        for curve in Curve::ALL {
            let point = public_of(curve, &scalar(curve, &[7]).unwrap()).unwrap();
            check_point(curve, &point).unwrap();
            let (x, y) = split(curve, &point);
            assert_eq!(join(curve, x, y).unwrap(), point);
        }
    }

    #[test]
    fn a_point_that_is_not_on_the_curve_is_refused() {
        for curve in Curve::ALL {
            let mut point = public_of(curve, &scalar(curve, &[7]).unwrap()).unwrap();
            *point.last_mut().unwrap() ^= 1;
            assert_eq!(check_point(curve, &point).unwrap_err().code, Code::Range);
            let origin =
                [&[Curve::UNCOMPRESSED][..], &vec![0; 2 * curve.coordinate_len()]].concat();
            assert_eq!(check_point(curve, &origin).unwrap_err().code, Code::Range);
        }
    }

    #[test]
    fn the_base_point_and_its_inverse_are_refused() {
        const ORDERS: [(Curve, &str); 3] = [
            (Curve::P256, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
            (
                Curve::P384,
                "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf\
                 581a0db248b0a77aecec196accc52973",
            ),
            (
                Curve::P521,
                "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa\
                 51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
            ),
        ];
        for (curve, order) in ORDERS {
            let digits = (0..order.len()).step_by(2);
            let byte = |at: usize| u8::from_str_radix(&order[at..at + 2], 16).unwrap();
            let order: Vec<u8> = digits.map(byte).collect();
            let [mut last, mut one_less] = [order.clone(), order];
            *last.last_mut().unwrap() -= 1;
            *one_less.last_mut().unwrap() -= 2;
            for (private, is_weak) in
                [(&[1][..], true), (&last, true), (&[2], false), (&one_less, false)]
            {
                let point = public_of(curve, &scalar(curve, private).unwrap()).unwrap();
                let checked = check_strength(curve, &point).map_err(|problem| problem.code);
                assert_eq!(checked.is_err(), is_weak, "{curve:?} {private:?} {checked:?}");
            }
        }
    }

    #[test]
    fn a_scalar_out_of_range_is_refused() {
        for curve in Curve::ALL {
            let length = curve.coordinate_len();
            assert_eq!(public_of(curve, &vec![0; length]).unwrap_err().code, Code::Range);
            assert_eq!(public_of(curve, &vec![255; length]).unwrap_err().code, Code::Range);
            assert_eq!(scalar(curve, &vec![1; length + 1]).unwrap_err().code, Code::Length);
            assert_eq!(scalar(curve, &[]).unwrap_err().code, Code::Length);
        }
    }
}
