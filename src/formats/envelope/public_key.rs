//! The public key that envelopes are made for, parsed once so that sealing pays nothing for it.

use aws_lc_rs::agreement::{ParsedPublicKey, ParsedPublicKeyFormat, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::kem::EncapsulationKey;
use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey, PublicKey as RsaNumbers};

use super::algorithm::HpkeRevision;
use crate::algorithms::{Curve, Family, Kem};

/// A public key that an envelope can be made for. Cloning is not offered: share it.
#[derive(Debug)]
pub enum PublicKey {
    Rsa(RsaPublicKey),
    Ec(EcPublicKey),
    Kem(KemPublicKey),
}

/// An RSA key of 2048 to 8192 bits.
#[derive(Debug)]
pub struct RsaPublicKey {
    pub(super) oaep: OaepPublicEncryptingKey,
    /// Big-endian, without leading zeros.
    modulus: Box<[u8]>,
}

/// A point on one of the curves.
#[derive(Debug)]
pub struct EcPublicKey {
    pub(super) curve: Curve,
    pub(super) parsed: ParsedPublicKey,
    /// Some point of the curve, uncompressed: what its private half is asked to agree with where
    /// an envelope has no such point.
    pub(super) substitute: Vec<u8>,
}

/// A key for key encapsulation.
#[derive(Debug)]
pub struct KemPublicKey {
    pub(super) revision: HpkeRevision,
    pub(super) kem: Kem,
    pub(super) key: EncapsulationKey,
    /// The second part of a hybrid key.
    pub(super) ec: Option<EcPart>,
}

/// The EC key of a hybrid key.
#[derive(Debug)]
pub(super) struct EcPart {
    pub(super) key: EcPublicKey,
    /// Uncompressed.
    pub(super) point: Vec<u8>,
}

/// The key is none that envelopes can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no RSA key of 2048 to 8192 bits, point on P-256, P-384 or P-521, ML-KEM key or hybrid of both"
)]
pub struct UnusableKey;

impl PublicKey {
    /// Reads a `SubjectPublicKeyInfo` (RFC 5280) in DER.
    pub fn from_spki(der: &[u8]) -> Result<Self, UnusableKey> {
        if let Ok(key) = PublicEncryptingKey::from_der(der) {
            let numbers = RsaNumbers::from_der(der).map_err(|_| UnusableKey)?;
            let modulus = numbers.modulus().big_endian_without_leading_zero().into();
            let oaep = OaepPublicEncryptingKey::new(key).map_err(|_| UnusableKey)?;
            return Ok(Self::Rsa(RsaPublicKey { oaep, modulus }));
        }
        Curve::ALL
            .into_iter()
            .find_map(|curve| EcPublicKey::from_spki(curve, der))
            .map(Self::Ec)
            .ok_or(UnusableKey)
    }

    /// Reads a key for key encapsulation, for envelopes of this revision.
    pub fn of_kem(revision: HpkeRevision, kem: Kem, key: &[u8]) -> Result<Self, UnusableKey> {
        let (key, point) = kem.split_public(key).ok_or(UnusableKey)?;
        let set = kem.ml_kem();
        let key = EncapsulationKey::new(set.encapsulation(), key).map_err(|_| UnusableKey)?;
        let ec = match kem.curve() {
            Some(curve) => Some(EcPart {
                key: EcPublicKey::from_point(curve, point).ok_or(UnusableKey)?,
                point: point.to_vec(),
            }),
            None => None,
        };
        Ok(Self::Kem(KemPublicKey { revision, kem, key, ec }))
    }

    /// Which algorithms it fits.
    pub fn family(&self) -> Family {
        match self {
            Self::Rsa(_) => Family::Rsa,
            Self::Ec(_) => Family::Ec,
            Self::Kem(key) => key.kem.algorithm().family(),
        }
    }
}

impl RsaPublicKey {
    /// The length in bytes of whatever this key encrypts.
    pub(super) fn ciphertext_len(&self) -> usize {
        self.modulus.len()
    }

    /// Whether `bytes` can be a ciphertext of this key at all: as long as the modulus, and below it.
    pub(super) fn can_have_produced(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.modulus.len() && bytes < &*self.modulus
    }
}

impl EcPublicKey {
    fn from_spki(curve: Curve, der: &[u8]) -> Option<Self> {
        let unparsed = UnparsedPublicKey::new(curve.agreement(), der);
        let parsed = ParsedPublicKey::try_from(unparsed).ok()?;
        if parsed.format() != ParsedPublicKeyFormat::X509 {
            return None;
        }
        Self::new(curve, parsed)
    }

    fn from_point(curve: Curve, point: &[u8]) -> Option<Self> {
        Self::new(curve, point_on(curve, point)?)
    }

    fn new(curve: Curve, parsed: ParsedPublicKey) -> Option<Self> {
        let anyone = PrivateKey::generate(curve.agreement()).ok()?;
        let substitute = anyone.compute_public_key().ok()?.as_ref().to_vec();
        Some(Self { curve, parsed, substitute })
    }
}

/// Checks that `point` is uncompressed and on the curve, and parses it. The parser alone also accepts the
/// other forms, which the token is not asked about, so that the answer would come without its work.
pub(super) fn point_on(curve: Curve, point: &[u8]) -> Option<ParsedPublicKey> {
    if !curve.is_uncompressed(point) {
        return None;
    }
    ParsedPublicKey::try_from(UnparsedPublicKey::new(curve.agreement(), point)).ok()
}
