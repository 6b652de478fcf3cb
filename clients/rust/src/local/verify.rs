//! Signatures, verified in this process with the published public keys of a service.

use aws_lc_rs::digest::{self, SHA256, SHA384, SHA512};
use aws_lc_rs::signature::{
    self as algorithms, EcdsaVerificationAlgorithm, ParsedPublicKey, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

use super::canonical::signed_bytes;
use super::{member, point};
use crate::Client;
use crate::error::{Error, Invalid, LocalError};
use crate::runtime::{Data, JwkSet, PublishedJwk, Signature, SignatureAlgorithm, SignatureFormat};

impl Client {
    /// Whether a signature of a service is valid. Only its public keys are requested, at most once a minute.
    ///
    /// The service must publish its keys.
    pub async fn verify_locally(
        &self,
        service_id: &str,
        data: Data<'_>,
        signature: &Signature,
    ) -> Result<bool, Error> {
        let scheme = Scheme::of(signature)?;
        let bytes = signed_bytes(data)?;
        let digest = match signature.prehashed {
            true => Some(scheme.digest(&bytes)?),
            false => None,
        };
        let keys = self.recent_keys(service_id).await?;
        let key = scheme.parse(signing_key(&keys, &signature.key_id)?)?;
        Ok(match digest {
            Some(digest) => key.verify_digest_sig(&digest, &signature.signature).is_ok(),
            None => key.verify_sig(&bytes, &signature.signature).is_ok(),
        })
    }
}

fn signing_key<'a>(keys: &'a JwkSet, id: &str) -> Result<&'a PublishedJwk, LocalError> {
    let mut keys = keys.keys.iter().filter(|key| key.usage == "sig");
    keys.find(|key| key.kid == id).ok_or(LocalError::KeyUnavailable)
}

/// How a signature is verified.
enum Scheme {
    Rsa(&'static RsaParameters, &'static digest::Algorithm),
    Ecdsa(&'static EcdsaVerificationAlgorithm, Curve, &'static digest::Algorithm),
    Ed25519,
    MlDsa(&'static dyn VerificationAlgorithm, &'static str),
}

struct Curve {
    name: &'static str,
    length: usize,
}

impl Scheme {
    fn of(signature: &Signature) -> Result<Self, LocalError> {
        use SignatureAlgorithm as Name;

        let unsupported = |name: &str| LocalError::UnsupportedAlgorithm(name.to_owned());
        let is_der = match &signature.format {
            None | Some(SignatureFormat::P1363) => false,
            Some(SignatureFormat::Der) => true,
            Some(SignatureFormat::Other(name)) => return Err(unsupported(name)),
        };
        let ecdsa = |fixed, der| if is_der { der } else { fixed };
        let curve = |name, length| Curve { name, length };
        Ok(match &signature.algorithm {
            Name::RsaSha256 => Self::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA256, &SHA256),
            Name::RsaSha384 => Self::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA384, &SHA384),
            Name::RsaSha512 => Self::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA512, &SHA512),
            Name::RsaPssSha256 => Self::Rsa(&algorithms::RSA_PSS_2048_8192_SHA256, &SHA256),
            Name::RsaPssSha384 => Self::Rsa(&algorithms::RSA_PSS_2048_8192_SHA384, &SHA384),
            Name::RsaPssSha512 => Self::Rsa(&algorithms::RSA_PSS_2048_8192_SHA512, &SHA512),
            Name::EcdsaSha256 => Self::Ecdsa(
                ecdsa(&algorithms::ECDSA_P256_SHA256_FIXED, &algorithms::ECDSA_P256_SHA256_ASN1),
                curve("P-256", 32),
                &SHA256,
            ),
            Name::EcdsaSha384 => Self::Ecdsa(
                ecdsa(&algorithms::ECDSA_P384_SHA384_FIXED, &algorithms::ECDSA_P384_SHA384_ASN1),
                curve("P-384", 48),
                &SHA384,
            ),
            Name::EcdsaSha512 => Self::Ecdsa(
                ecdsa(&algorithms::ECDSA_P521_SHA512_FIXED, &algorithms::ECDSA_P521_SHA512_ASN1),
                curve("P-521", 66),
                &SHA512,
            ),
            Name::Ed25519 => Self::Ed25519,
            Name::MlDsa44 => Self::MlDsa(&algorithms::ML_DSA_44, "ML-DSA-44"),
            Name::MlDsa65 => Self::MlDsa(&algorithms::ML_DSA_65, "ML-DSA-65"),
            Name::MlDsa87 => Self::MlDsa(&algorithms::ML_DSA_87, "ML-DSA-87"),
            other @ (Name::HmacSha256 | Name::Other(_)) => {
                return Err(unsupported(other.as_str()));
            }
        })
    }

    fn parse(&self, key: &PublishedJwk) -> Result<ParsedPublicKey, LocalError> {
        let unfit = |_| LocalError::KeyUnavailable;
        match self {
            Self::Rsa(parameters, _) if key.kty == "RSA" => {
                let (n, e) = (member(key.n.as_ref())?, member(key.e.as_ref())?);
                let numbers = RsaPublicKeyComponents { n, e };
                numbers.to_parsed_public_key(parameters).map_err(unfit)
            }
            Self::Ecdsa(algorithm, curve, _) if key.crv.as_deref() == Some(curve.name) => {
                let point = point(key.x.as_ref(), key.y.as_ref(), curve.length)?;
                UnparsedPublicKey::new(*algorithm, point).parse().map_err(unfit)
            }
            Self::Ed25519 if key.crv.as_deref() == Some("Ed25519") => {
                let key = member(key.x.as_ref())?;
                UnparsedPublicKey::new(&algorithms::ED25519, key).parse().map_err(unfit)
            }
            Self::MlDsa(algorithm, name) if key.alg == *name => {
                let key = member(key.r#pub.as_ref())?;
                UnparsedPublicKey::new(*algorithm, key).parse().map_err(unfit)
            }
            _ => Err(LocalError::KeyUnavailable),
        }
    }

    /// The digest with these bytes.
    fn digest(&self, bytes: &[u8]) -> Result<digest::Digest, Error> {
        let (Self::Rsa(_, hash) | Self::Ecdsa(_, _, hash)) = self else {
            return Err(Error::Invalid(Invalid::Digest));
        };
        digest::Digest::import_less_safe(bytes, hash).map_err(|_| Error::Invalid(Invalid::Digest))
    }
}
