//! The NIST curves.

use aws_lc_rs::agreement;

use super::Algorithm;
use crate::closed_set;

closed_set! {
    /// The NIST curves.
    pub enum Curve: "Curve" {
        /// P-256.
        P256 = "P-256",
        /// P-384.
        P384 = "P-384",
        /// P-521.
        P521 = "P-521",
    }
}

impl Curve {
    /// The first byte of an uncompressed point.
    pub(crate) const UNCOMPRESSED: u8 = 0x04;

    /// The length of a coordinate in bytes, which is also that of a shared secret.
    pub const fn coordinate_len(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// The length of an uncompressed point in bytes.
    pub const fn point_len(self) -> usize {
        1 + 2 * self.coordinate_len()
    }

    /// Whether `point` has the uncompressed form (04, x, y) and the length of this curve. The compressed and
    /// the hybrid form of a point are accepted nowhere: not every token reads them.
    pub fn is_uncompressed(self, point: &[u8]) -> bool {
        point.len() == self.point_len() && point.first() == Some(&Self::UNCOMPRESSED)
    }

    /// The kind of key on this curve.
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::P256 => Algorithm::P256,
            Self::P384 => Algorithm::P384,
            Self::P521 => Algorithm::P521,
        }
    }

    /// The key agreement on this curve.
    pub fn agreement(self) -> &'static agreement::Algorithm {
        match self {
            Self::P256 => &agreement::ECDH_P256,
            Self::P384 => &agreement::ECDH_P384,
            Self::P521 => &agreement::ECDH_P521,
        }
    }
}

impl Algorithm {
    /// The curve; none for keys that are not on a NIST curve.
    pub fn curve(self) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| curve.algorithm() == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_algorithms() {
        for curve in Curve::ALL {
            assert_eq!(curve.algorithm().name(), curve.name());
            assert_eq!(curve.algorithm().curve(), Some(curve));
        }
    }
}
