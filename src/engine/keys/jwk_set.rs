//! The public keys of a service as a JWK Set (RFC 7517, section 5).

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Key, Usage};
use crate::floor::Floor;
use formats::clock::Timestamp;
use formats::envelope::Alg;
use formats::material::{Algorithm, Family, Jwk, PublicKey};

/// A JWK Set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct JwkSet {
    keys: Vec<PublishedJwk>,
}

/// A public key with its JOSE parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PublishedJwk {
    kid: String,
    r#use: Usage,
    alg: &'static str,
    #[serde(flatten)]
    key: Jwk,
    #[serde(skip)]
    #[schema(ignore)]
    expires_at: Option<Timestamp>,
}

impl PublishedJwk {
    pub(super) fn for_envelopes(kid: String, alg: Alg, key: Jwk) -> Self {
        Self { kid, r#use: Usage::Enc, alg: alg.name(), key: key.without_alg(), expires_at: None }
    }

    /// Whether partners can use the key: an expired key still verifies signatures.
    fn is_useful(&self, now: Timestamp) -> bool {
        match self.r#use {
            Usage::Enc => self.expires_at.is_none_or(|end| end > now),
            Usage::Sig | Usage::Data => true,
        }
    }
}

impl JwkSet {
    /// Without the envelope keys below the floor, which would receive something new.
    pub(super) fn of(keys: &[Key], floor: Floor) -> Self {
        let receives = |key: &&Key| {
            let published = alg(key.usage, key.algorithm);
            let mut refused = Alg::ALL.into_iter().filter(|alg| floor.refuses(*alg));
            key.usage != Usage::Enc
                || !floor.refuses(key.algorithm)
                    && !refused.any(|alg| Some(alg.name()) == published)
        };
        let keys = keys.iter().filter(receives).filter_map(|key| {
            Some(PublishedJwk {
                kid: key.kid(),
                r#use: key.usage,
                alg: alg(key.usage, key.algorithm)?,
                key: key.public_key.as_ref()?.to_jwk().without_alg(),
                expires_at: key.expires_at,
            })
        });
        Self { keys: keys.collect() }
    }

    /// The keys that sign reports, which have their thumbprints as identifiers.
    pub(crate) fn of_reports(keys: impl Iterator<Item = PublicKey>) -> Self {
        let keys = keys.filter_map(|key| {
            Some(PublishedJwk {
                kid: key.thumbprint(),
                r#use: Usage::Sig,
                alg: alg(Usage::Sig, key.algorithm())?,
                key: key.to_jwk().without_alg(),
                expires_at: None,
            })
        });
        Self { keys: keys.collect() }
    }

    /// The keys that partners can use at this time.
    pub(super) fn at(self: Arc<Self>, now: Timestamp) -> Arc<Self> {
        if self.keys.iter().all(|key| key.is_useful(now)) {
            return self;
        }
        let useful = self.keys.iter().filter(|key| key.is_useful(now));
        Arc::new(Self { keys: useful.cloned().collect() })
    }
}

/// The JOSE algorithm of the key; none for secret keys.
///
/// An RSA key supports six signature algorithms, but many libraries require one in the JWK. All
/// libraries support `RS256`, which is RSA-SHA256.
fn alg(usage: Usage, algorithm: Algorithm) -> Option<&'static str> {
    match (usage, algorithm.family()) {
        (Usage::Enc, Family::Rsa) => Some("RSA-OAEP-256"),
        (Usage::Enc, Family::Ec) => Some("ECDH-ES+A256KW"),
        (Usage::Enc, Family::P256MlKem768) => Some(Alg::Hpke8Ke.name()),
        (Usage::Enc, Family::MlKem768) => Some(Alg::Hpke12Ke.name()),
        (Usage::Enc, Family::MlKem1024) => Some(Alg::Hpke13Ke.name()),
        (Usage::Sig, _) => match algorithm {
            Algorithm::Rsa2048 | Algorithm::Rsa3072 | Algorithm::Rsa4096 => Some("RS256"),
            Algorithm::P256 => Some("ES256"),
            Algorithm::P384 => Some("ES384"),
            Algorithm::P521 => Some("ES512"),
            Algorithm::Ed25519 => Some("EdDSA"),
            Algorithm::MlDsa44 | Algorithm::MlDsa65 | Algorithm::MlDsa87 => Some(algorithm.name()),
            Algorithm::MlKem768
            | Algorithm::MlKem1024
            | Algorithm::P256MlKem768
            | Algorithm::Aes256
            | Algorithm::Aes128
            | Algorithm::HmacSha256 => None,
        },
        (Usage::Enc | Usage::Data, _) => None,
    }
}
