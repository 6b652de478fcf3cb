//! Public keys.

use super::{Algorithm, PublicParts, ec, ed25519, kem, ml_dsa, rsa};
use crate::problem::Problem;

/// A validated public key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey {
    parts: PublicParts,
    algorithm: Algorithm,
}

impl PublicKey {
    /// Checks the parts of a key.
    pub fn new(parts: PublicParts) -> Result<Self, Problem> {
        let algorithm = match &parts {
            PublicParts::Rsa { modulus, exponent } => {
                rsa::check_public(modulus, exponent)?;
                rsa::algorithm(modulus)?
            }
            PublicParts::Ec { curve, point } => {
                ec::check_point(*curve, point)?;
                curve.algorithm()
            }
            PublicParts::Ed25519 { point } => {
                ed25519::check_point(point)?;
                Algorithm::Ed25519
            }
            PublicParts::MlDsa { set, key } => {
                ml_dsa::check(*set, key)?;
                set.algorithm()
            }
            PublicParts::Kem { kem, key } => {
                kem::check(*kem, key)?;
                kem.algorithm()
            }
        };
        Ok(Self { parts, algorithm })
    }

    /// Checks the numbers of a new key, in addition to the checks of every read.
    pub fn check_strength(&self) -> Result<(), Problem> {
        match &self.parts {
            PublicParts::Rsa { modulus, .. } => rsa::check_strength(modulus),
            PublicParts::Kem { kem, key } => kem::check_numbers(*kem, key),
            PublicParts::Ec { curve, point } => ec::check_strength(*curve, point),
            PublicParts::Ed25519 { .. } | PublicParts::MlDsa { .. } => Ok(()),
        }
    }

    /// The parts of the key.
    pub fn parts(&self) -> &PublicParts {
        &self.parts
    }

    /// The kind of key.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;
    use crate::material::{Curve, Kem, MlDsa};
    use crate::problem::Problems;

    /// The key and the thumbprint of RFC 7638, section 3.1.
    const JWK: &str = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;

    fn read(jwk: &str) -> Result<PublicKey, Problems> {
        PublicKey::from_jwk(Text::parse(jwk.as_bytes()).unwrap())
    }

    #[test]
    fn the_thumbprint_matches_the_rfc() {
        assert_eq!(read(JWK).unwrap().thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    }

    #[test]
    fn every_format_parses_as_the_same_key() {
        let ec = |curve: Curve| PublicParts::Ec {
            curve,
            point: ec::public_of(curve, &ec::scalar(curve, &[3]).unwrap()).unwrap(),
        };
        let ml_dsa = |set: MlDsa| PublicParts::MlDsa { set, key: vec![3; set.public_len()] };
        let kem = |kem: Kem| {
            let part =
                |curve: Curve| ec::public_of(curve, &ec::scalar(curve, &[3]).unwrap()).unwrap();
            let ml_kem = vec![3; kem.ml_kem().public_len()];
            let key = [ml_kem, kem.curve().map(part).unwrap_or_default()].concat();
            PublicParts::Kem { kem, key }
        };
        let mut keys = vec![read(JWK).unwrap()];
        for parts in [
            ec(Curve::P256),
            ec(Curve::P384),
            ec(Curve::P521),
            PublicParts::Ed25519 { point: ed25519::public_of(&[3; 32]).unwrap().to_vec() },
            ml_dsa(MlDsa::MlDsa44),
            ml_dsa(MlDsa::MlDsa65),
            ml_dsa(MlDsa::MlDsa87),
            kem(Kem::MlKem768),
            kem(Kem::MlKem1024),
            kem(Kem::P256MlKem768),
        ] {
            keys.push(PublicKey::new(parts).unwrap());
        }
        for key in keys {
            let jwk = serde_json::to_string(&key.to_jwk()).unwrap();
            assert_eq!(read(&jwk), Ok(key.clone()));
            assert_eq!(PublicKey::from_spki(&key.to_spki()), Ok(key.clone()));
            assert_eq!(PublicKey::from_pem(&key.to_pem()), Ok(key));
        }
    }
}
