//! Envelopes made without a request, as `src/formats/envelope/FORMAT.md` of Sealward specifies them.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rand;
use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm, OaepPublicEncryptingKey,
    PublicEncryptingKey,
};
use aws_lc_rs::signature::RsaPublicKeyComponents;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use zeroize::Zeroizing;

use super::agreement::{self, Agreement, EphemeralKey};
use super::member;
use crate::error::{Error, LocalError};
use crate::runtime::{EnvelopeHeaders, PolicySummary, PolicySummaryStatus, PublishedJwk};
use crate::{Client, Envelope, Payload};

impl Client {
    /// Seals a payload in this process with the public key of a policy.
    ///
    /// Sealward neither records nor limits such an envelope, and a freeze stops it only when the look-up of the
    /// policy is a minute old. It has no context. A policy that is inactive, that requires a context or that
    /// has another algorithm is an error.
    pub async fn seal_locally(&self, policy: &str, payload: &Payload) -> Result<Envelope, Error> {
        let policy = self.recent_policy(policy).await?;
        Ok(policy.sealing_key()?.seal(payload)?)
    }
}

/// What seals payloads without a request: the public key of a policy, and the header of its envelopes.
///
/// It can be kept, for example in a file. It then no longer shows whether the policy is active, or whether its
/// destination has a newer key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealingKey {
    /// The algorithm of the content key.
    pub alg: String,
    /// The algorithm of the content.
    pub enc: String,
    /// The ID of the policy; none if Sealward does not hold the private key.
    pub policy_id: Option<String>,
    /// The optional members of the header.
    pub headers: EnvelopeHeaders,
    /// The public key.
    pub key: PublishedJwk,
}

impl PolicySummary {
    /// What seals payloads under this policy without a request, as [`Client::seal_locally`] does.
    ///
    /// A policy that is inactive, that requires a context or that has another algorithm is an error.
    pub fn sealing_key(&self) -> Result<SealingKey, LocalError> {
        match self.status {
            PolicySummaryStatus::Active => {}
            PolicySummaryStatus::Frozen => return Err(LocalError::Frozen),
            PolicySummaryStatus::Inactive | PolicySummaryStatus::Other(_) => {
                return Err(LocalError::PolicyNotActive);
            }
        }
        if self.context_required {
            return Err(LocalError::ContextRequired);
        }
        Wrapping::of(&self.alg)?;
        cipher(&self.enc)?;
        let json =
            || EnvelopeHeaders { cty: Some("json".to_owned()), ..EnvelopeHeaders::default() };
        Ok(SealingKey {
            alg: self.alg.clone(),
            enc: self.enc.clone(),
            policy_id: (self.key_ownership == "service_managed").then(|| self.id.clone()),
            headers: self.headers.clone().unwrap_or_else(json),
            key: self.key.clone().ok_or(LocalError::KeyUnavailable)?,
        })
    }
}

impl SealingKey {
    /// Makes an envelope of a payload. Sealward neither records nor limits it.
    pub fn seal(&self, payload: &Payload) -> Result<Envelope, LocalError> {
        let (wrapping, cipher) = (Wrapping::of(&self.alg)?, cipher(&self.enc)?);
        let mut content_key = Zeroizing::new(vec![0; cipher.key_len()]);
        let mut iv = [0; 12];
        rand::fill(&mut content_key)?;
        rand::fill(&mut iv)?;
        let (wrapped, epk) = wrapping.wrap(&self.key, &content_key)?;
        let protected = URL_SAFE_NO_PAD.encode(self.header(epk)?);

        let mut content = payload.text().as_bytes().to_vec();
        let cipher = LessSafeKey::new(UnboundKey::new(cipher, &content_key)?);
        let nonce = Nonce::assume_unique_for_key(iv);
        let aad = Aad::from(protected.as_bytes());
        let tag = cipher.seal_in_place_separate_tag(nonce, aad, &mut content)?;
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        Ok(Envelope::of([protected, text(&wrapped), text(&iv), text(&content), text(tag.as_ref())]))
    }

    fn header(&self, epk: Option<EphemeralKey>) -> Result<Vec<u8>, LocalError> {
        let header = Header {
            alg: &self.alg,
            cty: self.headers.cty.as_deref(),
            enc: &self.enc,
            epk,
            iat: self.headers.iat.then(seconds_since_1970),
            kid: &self.key.kid,
            pol: self.policy_id.as_deref(),
            typ: self.headers.typ.as_deref(),
        };
        serde_json::to_vec(&header).map_err(|_| LocalError::InvalidKey)
    }
}

/// The header. Its members are in alphabetical order.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cty: Option<&'a str>,
    enc: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    epk: Option<EphemeralKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<u64>,
    kid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pol: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    typ: Option<&'a str>,
}

enum Wrapping {
    Oaep(&'static OaepAlgorithm),
    Agreement(Agreement),
}

impl Wrapping {
    fn of(alg: &str) -> Result<Self, LocalError> {
        Ok(match alg {
            "RSA-OAEP-256" => Self::Oaep(&OAEP_SHA256_MGF1SHA256),
            "RSA-OAEP" => Self::Oaep(&OAEP_SHA1_MGF1SHA1),
            "ECDH-ES+A256KW" => Self::Agreement(Agreement::Aes256),
            "ECDH-ES+A128KW" => Self::Agreement(Agreement::Aes128),
            other => return Err(LocalError::UnsupportedAlgorithm(other.to_owned())),
        })
    }

    /// The wrapped content key, and the ephemeral key.
    fn wrap(
        &self,
        key: &PublishedJwk,
        content_key: &[u8],
    ) -> Result<(Vec<u8>, Option<EphemeralKey>), LocalError> {
        match self {
            Self::Oaep(algorithm) => Ok((oaep(algorithm, key, content_key)?, None)),
            Self::Agreement(algorithm) => {
                let (wrapped, ephemeral) = agreement::wrap(*algorithm, key, content_key)?;
                Ok((wrapped, Some(ephemeral)))
            }
        }
    }
}

fn cipher(enc: &str) -> Result<&'static Algorithm, LocalError> {
    match enc {
        "A256GCM" => Ok(&AES_256_GCM),
        "A128GCM" => Ok(&AES_128_GCM),
        other => Err(LocalError::UnsupportedAlgorithm(other.to_owned())),
    }
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn oaep(
    algorithm: &'static OaepAlgorithm,
    key: &PublishedJwk,
    content_key: &[u8],
) -> Result<Vec<u8>, LocalError> {
    if key.kty != "RSA" {
        return Err(LocalError::InvalidKey);
    }
    let numbers = RsaPublicKeyComponents { n: member(key.n.as_ref())?, e: member(key.e.as_ref())? };
    let invalid = |_| LocalError::InvalidKey;
    let key: PublicEncryptingKey = numbers.try_into().map_err(invalid)?;
    let key = OaepPublicEncryptingKey::new(key).map_err(invalid)?;
    let mut wrapped = vec![0; key.ciphertext_size()];
    let length = key.encrypt(algorithm, content_key, &mut wrapped, None).map_err(invalid)?.len();
    wrapped.truncate(length);
    Ok(wrapped)
}
