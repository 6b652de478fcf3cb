//! The keys of a JWK Set, and the verification of a signature with one of them.

use std::sync::Arc;

use aws_lc_rs::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

use super::compact::Header;
use formats::algorithms::{Algorithm, JwsAlgorithm};
use formats::json::{Members, Text};
use formats::material::PublicKey;

/// The most keys of a set. Issuers publish a handful.
const MOST_KEYS: usize = 100;

/// A public key that an issuer publishes for signatures.
#[derive(Debug, PartialEq, Eq)]
pub struct PublishedKey {
    kid: Option<String>,
    /// The only algorithm of the key, if the set names it.
    algorithm: Option<String>,
    family: Algorithm,
    spki: Vec<u8>,
}

/// The response is not a JWK Set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a JWK Set with at most {MOST_KEYS} keys")]
pub struct NotAKeySet;

/// The signature keys of a JWK Set. Keys of other types and for other uses are left out. A key that
/// `before` has is shared with it.
pub(super) fn parse(
    json: &[u8],
    before: &[Arc<PublishedKey>],
) -> Result<Vec<Arc<PublishedKey>>, NotAKeySet> {
    let text = Text::parse(json).map_err(|_| NotAKeySet)?;
    let members = Members::of(text, &["keys"]);
    let keys = members.get("keys");
    let keys = members.finish(|| keys).map_err(|_| NotAKeySet)?;
    let keys = keys.elements(MOST_KEYS + 1).ok_or(NotAKeySet)?;
    if keys.len() > MOST_KEYS {
        return Err(NotAKeySet);
    }
    let keys = keys.into_iter().filter_map(PublishedKey::parse);
    Ok(keys
        .map(|key| {
            let same = before.iter().find(|known| ***known == key);
            same.map_or_else(|| Arc::new(key), Arc::clone)
        })
        .collect())
}

impl PublishedKey {
    fn parse(jwk: Text<'_>) -> Option<Self> {
        let mut members = Members::of(jwk, &["kid", "alg", "use", "key_ops"]);
        let [kid, algorithm, purpose] = ["kid", "alg", "use"].map(|name| {
            let text = members.optional_string(name)?;
            Some(text.map(std::borrow::Cow::into_owned))
        });
        let operations = members.get("key_ops");
        let (kid, algorithm, purpose) =
            members.finish(|| Some((kid?, algorithm?, purpose?))).ok()?;
        if purpose.is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        if let Some(operations) = operations {
            let operations = operations.elements(MOST_KEYS)?;
            operations.iter().find(|it| it.as_str() == "\"verify\"")?;
        }
        let key = PublicKey::from_jwk(jwk).ok()?;
        Some(Self { kid, algorithm, family: key.algorithm(), spki: key.to_spki() })
    }

    /// Whether the header of a token can name this key.
    pub(super) fn fits(&self, header: &Header) -> bool {
        let algorithm = header.algorithm;
        let is_named = header.kid.is_none() || header.kid == self.kid;
        let is_allowed = self.algorithm.as_deref();
        is_named
            && is_allowed.is_none_or(|only| only == algorithm.name())
            && self.supports(algorithm)
    }

    fn supports(&self, algorithm: JwsAlgorithm) -> bool {
        match self.family {
            Algorithm::Rsa2048 | Algorithm::Rsa3072 | Algorithm::Rsa4096 => matches!(
                algorithm,
                JwsAlgorithm::Rs256
                    | JwsAlgorithm::Rs384
                    | JwsAlgorithm::Rs512
                    | JwsAlgorithm::Ps256
                    | JwsAlgorithm::Ps384
                    | JwsAlgorithm::Ps512
            ),
            Algorithm::P256 => algorithm == JwsAlgorithm::Es256,
            Algorithm::P384 => algorithm == JwsAlgorithm::Es384,
            Algorithm::P521 => algorithm == JwsAlgorithm::Es512,
            Algorithm::Ed25519 => algorithm == JwsAlgorithm::EdDsa,
            Algorithm::MlDsa44
            | Algorithm::MlDsa65
            | Algorithm::MlDsa87
            | Algorithm::MlKem768
            | Algorithm::MlKem1024
            | Algorithm::P256MlKem768
            | Algorithm::Aes128
            | Algorithm::Aes256
            | Algorithm::HmacSha256 => false,
        }
    }

    /// Whether the signature of `signed` is valid.
    pub(super) fn verifies(&self, algorithm: JwsAlgorithm, signed: &str, signature: &[u8]) -> bool {
        UnparsedPublicKey::new(verification(algorithm), &self.spki)
            .verify(signed.as_bytes(), signature)
            .is_ok()
    }
}

fn verification(algorithm: JwsAlgorithm) -> &'static dyn VerificationAlgorithm {
    match algorithm {
        JwsAlgorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        JwsAlgorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        JwsAlgorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        JwsAlgorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        JwsAlgorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        JwsAlgorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        JwsAlgorithm::Es256 => &signature::ECDSA_P256_SHA256_FIXED,
        JwsAlgorithm::Es384 => &signature::ECDSA_P384_SHA384_FIXED,
        JwsAlgorithm::Es512 => &signature::ECDSA_P521_SHA512_FIXED,
        JwsAlgorithm::EdDsa => &signature::ED25519,
    }
}
