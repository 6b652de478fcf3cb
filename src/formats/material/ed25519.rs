//! Ed25519 keys: points of the full order, and seeds.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use curve25519_dalek::edwards::CompressedEdwardsY;

use crate::problem::{Code, Problem};

/// Bytes of a seed and of a point.
pub(super) const LEN: usize = 32;

/// Checks that `point` encodes a point on the curve that does not allow trivial forgeries.
pub(super) fn check_point(point: &[u8]) -> Result<[u8; LEN], Problem> {
    let bytes: [u8; LEN] =
        point.try_into().map_err(|_| Problem::of_body(Code::Length, "must be 32 bytes"))?;
    let Some(decoded) = CompressedEdwardsY(bytes).decompress() else {
        return Err(Problem::of_body(Code::Range, "must be a point on the curve of Ed25519"));
    };
    if decoded.is_small_order() || decoded.compress().0 != bytes {
        return Err(Problem::of_body(Code::Range, "must be a canonical point of large order"));
    }
    Ok(bytes)
}

/// The public point of a seed.
pub(super) fn public_of(seed: &[u8]) -> Result<[u8; LEN], Problem> {
    if seed.iter().all(|byte| *byte == 0) && !seed.is_empty() {
        return Err(Problem::of_body(Code::Range, "must not consist of zeros"));
    }
    Ed25519KeyPair::from_seed_unchecked(seed)
        .ok()
        .and_then(|pair| pair.public_key().as_ref().try_into().ok())
        .ok_or_else(|| Problem::of_body(Code::Length, "must be 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_of_a_seed_is_accepted() {
        check_point(&public_of(&[9; LEN]).unwrap()).unwrap();
        assert_eq!(public_of(&[9; 31]).unwrap_err().code, Code::Length);
    }

    #[test]
    fn points_that_allow_forgery_are_refused() {
        let mut identity = [0; LEN];
        identity[0] = 1;
        for point in [[0; LEN], identity, [0xff; LEN]] {
            assert_eq!(check_point(&point).unwrap_err().code, Code::Range);
        }
        assert_eq!(check_point(&[1; 33]).unwrap_err().code, Code::Length);
    }
}
