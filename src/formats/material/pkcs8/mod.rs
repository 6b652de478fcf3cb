//! PKCS#8: the DER format of private keys.

mod encrypted;

use pkcs8::der::asn1::{AnyRef, Null, OctetStringRef, UintRef};
use pkcs8::der::{self, Decode as _, Encode as _};
use pkcs8::spki::AlgorithmIdentifierRef;
use pkcs8::{PrivateKeyInfo, PrivateKeyInfoRef};
use zeroize::Zeroizing;

pub use self::encrypted::{EncryptedKey, Unlock};
use super::private::PrivateParts;

use super::{PrivateKey, PublicParts, RsaParts, ec, rsa, spki};
use crate::problem::{Code, Problem};

impl PrivateKey {
    /// Reads a PrivateKeyInfo of PKCS#8 in DER.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, Problem> {
        decode(der)
    }

    /// The PrivateKeyInfo of PKCS#8 in DER.
    pub fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        encode(self)
    }
}

/// Reads a PrivateKeyInfo.
pub(super) fn decode(bytes: &[u8]) -> Result<PrivateKey, Problem> {
    let info = PrivateKeyInfoRef::from_der(bytes)
        .map_err(|_| malformed("must be a PrivateKeyInfo of PKCS#8 in DER"))?;
    let inner = info.private_key.as_bytes();
    let attached = info.public_key.and_then(|bits| bits.as_bytes());
    match info.algorithm.oid {
        spki::RSA => rsa_key(inner),
        spki::EC => ec_key(&info.algorithm, inner, attached),
        spki::ED25519 => ed25519_key(inner, attached),
        _ => Err(Problem::of_body(
            Code::Unsupported,
            "must be an RSA (rsaEncryption), EC or Ed25519 key",
        )),
    }
}

fn rsa_key(inner: &[u8]) -> Result<PrivateKey, Problem> {
    let numbers = pkcs1::RsaPrivateKeyRef::from_der(inner)
        .map_err(|_| malformed("must hold the numbers of an RSA key"))?;
    if numbers.other_prime_infos.is_some() {
        return Err(Problem::of_body(Code::Unsupported, "must be an RSA key of two primes"));
    }
    let plain = |number: &UintRef<'_>| rsa::trimmed(number.as_bytes()).to_vec();
    let secret = |number: &UintRef<'_>| Zeroizing::new(plain(number));
    PrivateKey::new(PrivateParts::Rsa(RsaParts {
        modulus: plain(&numbers.modulus),
        exponent: plain(&numbers.public_exponent),
        private_exponent: secret(&numbers.private_exponent),
        prime1: secret(&numbers.prime1),
        prime2: secret(&numbers.prime2),
        exponent1: secret(&numbers.exponent1),
        exponent2: secret(&numbers.exponent2),
        coefficient: secret(&numbers.coefficient),
    }))
}

fn ec_key(
    algorithm: &AlgorithmIdentifierRef<'_>,
    inner: &[u8],
    attached: Option<&[u8]>,
) -> Result<PrivateKey, Problem> {
    let curve = spki::curve_of(algorithm)?;
    let inner = sec1::EcPrivateKey::from_der(inner)
        .map_err(|_| malformed("must hold an EC private key"))?;
    let repeated = inner.parameters.and_then(|named| named.named_curve());
    if repeated.is_some_and(|oid| spki::curve_named(oid) != Ok(curve)) {
        return Err(Problem::of_body(Code::Conflict, "must name one curve"));
    }
    let key =
        PrivateKey::new(PrivateParts::Ec { curve, scalar: ec::scalar(curve, inner.private_key)? })?;
    for point in [inner.public_key, attached].into_iter().flatten() {
        key.belongs_to(&PublicParts::Ec { curve, point: point.to_vec() })?;
    }
    Ok(key)
}

fn ed25519_key(inner: &[u8], attached: Option<&[u8]>) -> Result<PrivateKey, Problem> {
    let seed = <&OctetStringRef>::from_der(inner)
        .map_err(|_| malformed("must hold the seed of an Ed25519 key"))?;
    let key =
        PrivateKey::new(PrivateParts::Ed25519 { seed: Zeroizing::new(seed.as_bytes().to_vec()) })?;
    if let Some(point) = attached {
        key.belongs_to(&PublicParts::Ed25519 { point: point.to_vec() })?;
    }
    Ok(key)
}

/// Writes a PrivateKeyInfo.
pub(super) fn encode(key: &PrivateKey) -> Zeroizing<Vec<u8>> {
    // Validated keys can be encoded: lengths are bounded, numbers are positive.
    try_encode(key).unwrap_or_default()
}

fn try_encode(key: &PrivateKey) -> der::Result<Zeroizing<Vec<u8>>> {
    let (oid, parameters, inner) = match key.parts() {
        PrivateParts::Rsa(numbers) => {
            let inner = pkcs1::RsaPrivateKeyRef {
                modulus: UintRef::new(&numbers.modulus)?,
                public_exponent: UintRef::new(&numbers.exponent)?,
                private_exponent: UintRef::new(&numbers.private_exponent)?,
                prime1: UintRef::new(&numbers.prime1)?,
                prime2: UintRef::new(&numbers.prime2)?,
                exponent1: UintRef::new(&numbers.exponent1)?,
                exponent2: UintRef::new(&numbers.exponent2)?,
                coefficient: UintRef::new(&numbers.coefficient)?,
                other_prime_infos: None,
            };
            (spki::RSA, Some(AnyRef::from(Null)), inner.to_der()?)
        }
        PrivateParts::Ec { curve, scalar } => {
            let point = match key.public().parts() {
                PublicParts::Ec { point, .. } => Some(point.as_slice()),
                PublicParts::Rsa { .. }
                | PublicParts::Ed25519 { .. }
                | PublicParts::MlDsa { .. }
                | PublicParts::Kem { .. } => None,
            };
            let inner =
                sec1::EcPrivateKey { private_key: scalar, parameters: None, public_key: point };
            let parameters = spki::curve_parameters(*curve);
            (spki::EC, Some(parameters), inner.to_der()?)
        }
        PrivateParts::Ed25519 { seed } => {
            (spki::ED25519, None, OctetStringRef::new(seed)?.to_der()?)
        }
    };
    let inner = Zeroizing::new(inner);
    let algorithm = AlgorithmIdentifierRef { oid, parameters };
    let info: PrivateKeyInfoRef<'_> = PrivateKeyInfo::new(algorithm, OctetStringRef::new(&inner)?);
    Ok(Zeroizing::new(info.to_der()?))
}

fn malformed(message: &'static str) -> Problem {
    Problem::of_body(Code::Format, message)
}
