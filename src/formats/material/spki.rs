//! SubjectPublicKeyInfo: the DER format of public keys, alone and in certificates.

use pkcs8::der::asn1::{AnyRef, BitStringRef, Null, UintRef};
use pkcs8::der::{self, Decode as _, Encode as _};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};
use x509_cert::Certificate;

use super::{Curve, PublicKey, PublicParts, kem, ml_dsa, pem, rsa};
use crate::problem::{Code, Problem};

pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
pub(super) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");

impl PublicKey {
    /// Reads a PEM block: a `PUBLIC KEY` (SPKI), or the key of a `CERTIFICATE`.
    pub fn from_pem(text: &str) -> Result<Self, Problem> {
        let block = pem::read_one(text)?;
        match block.label.as_str() {
            "PUBLIC KEY" => Self::from_spki(&block.bytes),
            "CERTIFICATE" => of_certificate(&block.bytes),
            "RSA PUBLIC KEY" => Err(unsupported(
                "must be PKCS#8, not PKCS#1; convert it: openssl rsa -RSAPublicKey_in -in FILE -pubout",
            )),
            label if label.contains("PRIVATE KEY") => {
                Err(unsupported("must be a public key; extract it: openssl pkey -in FILE -pubout"))
            }
            _ => Err(unsupported("must be a PUBLIC KEY or a CERTIFICATE")),
        }
    }

    /// Reads a SubjectPublicKeyInfo in DER.
    pub fn from_spki(der: &[u8]) -> Result<Self, Problem> {
        decode(der)
    }

    /// The SubjectPublicKeyInfo in DER.
    pub fn to_spki(&self) -> Vec<u8> {
        encode(self.parts())
    }

    /// The SubjectPublicKeyInfo in PEM.
    pub fn to_pem(&self) -> String {
        pem::write("PUBLIC KEY", &self.to_spki())
    }
}

/// Reads a SubjectPublicKeyInfo.
pub(super) fn decode(bytes: &[u8]) -> Result<PublicKey, Problem> {
    let info = SubjectPublicKeyInfoRef::from_der(bytes)
        .map_err(|_| Problem::of_body(Code::Format, "must be a SubjectPublicKeyInfo in DER"))?;
    let key = info
        .subject_public_key
        .as_bytes()
        .ok_or_else(|| Problem::of_body(Code::Format, "must be a bit string of whole bytes"))?;
    match info.algorithm.oid {
        RSA => {
            let numbers = pkcs1::RsaPublicKeyRef::from_der(key).map_err(|_| {
                Problem::of_body(Code::Format, "must hold the two numbers of an RSA key")
            })?;
            PublicKey::new(PublicParts::Rsa {
                modulus: rsa::trimmed(numbers.modulus.as_bytes()).to_vec(),
                exponent: rsa::trimmed(numbers.public_exponent.as_bytes()).to_vec(),
            })
        }
        EC => PublicKey::new(PublicParts::Ec {
            curve: curve_of(&info.algorithm)?,
            point: key.to_vec(),
        }),
        ED25519 => PublicKey::new(PublicParts::Ed25519 { point: key.to_vec() }),
        other if info.algorithm.parameters.is_none() => {
            let key = key.to_vec();
            match (ml_dsa::of_oid(other), kem::of_oid(other)) {
                (Some(set), _) => PublicKey::new(PublicParts::MlDsa { set, key }),
                (None, Some(kem)) => PublicKey::new(PublicParts::Kem { kem, key }),
                (None, None) => Err(unknown_kind()),
            }
        }
        _ => Err(unknown_kind()),
    }
}

/// Reads the key of a certificate. Its issuer and validity do not matter: the administrator has
/// verified the key.
pub(super) fn of_certificate(bytes: &[u8]) -> Result<PublicKey, Problem> {
    let broken = || Problem::of_body(Code::Format, "must be an X.509 certificate");
    let certificate = Certificate::from_der(bytes).map_err(|_| broken())?;
    let info = certificate.tbs_certificate().subject_public_key_info();
    decode(&info.to_der().map_err(|_| broken())?)
}

/// Writes a SubjectPublicKeyInfo.
pub(super) fn encode(parts: &PublicParts) -> Vec<u8> {
    // Validated keys can be encoded: lengths are bounded, numbers are positive.
    try_encode(parts).unwrap_or_default()
}

fn try_encode(parts: &PublicParts) -> der::Result<Vec<u8>> {
    let rsa;
    let (oid, parameters, key) = match parts {
        PublicParts::Rsa { modulus, exponent } => {
            rsa = pkcs1::RsaPublicKeyRef {
                modulus: UintRef::new(modulus)?,
                public_exponent: UintRef::new(exponent)?,
            }
            .to_der()?;
            (RSA, Some(AnyRef::from(Null)), rsa.as_slice())
        }
        PublicParts::Ec { curve, point } => (EC, Some(curve_parameters(*curve)), point.as_slice()),
        PublicParts::Ed25519 { point } => (ED25519, None, point.as_slice()),
        PublicParts::MlDsa { set, key } => (ml_dsa::oid(*set), None, key.as_slice()),
        PublicParts::Kem { kem, key } => (kem::oid(*kem), None, key.as_slice()),
    };
    SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef { oid, parameters },
        subject_public_key: BitStringRef::from_bytes(key)?,
    }
    .to_der()
}

/// The curve in the parameters of an EC key.
pub(super) fn curve_of(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Curve, Problem> {
    match algorithm.parameters_oid() {
        Ok(oid) => curve_named(oid),
        Err(_) => Err(Problem::of_body(
            Code::Unsupported,
            "must give the curve by its name, not by its parameters",
        )),
    }
}

pub(super) fn curve_named(oid: ObjectIdentifier) -> Result<Curve, Problem> {
    match oid {
        P256 => Ok(Curve::P256),
        P384 => Ok(Curve::P384),
        P521 => Ok(Curve::P521),
        _ => Err(Problem::of_body(Code::Unsupported, "must be a key on P-256, P-384 or P-521")),
    }
}

/// The object identifier of a curve.
pub(super) fn curve_parameters(curve: Curve) -> AnyRef<'static> {
    match curve {
        Curve::P256 => AnyRef::from(&P256),
        Curve::P384 => AnyRef::from(&P384),
        Curve::P521 => AnyRef::from(&P521),
    }
}

/// The problem of an unsupported kind of key.
fn unknown_kind() -> Problem {
    Problem::of_body(
        Code::Unsupported,
        "must be an RSA (rsaEncryption), EC, Ed25519, ML-DSA or ML-KEM key, or ML-KEM-768 with P-256",
    )
}

fn unsupported(message: &'static str) -> Problem {
    Problem::of_body(Code::Unsupported, message)
}
