//! Operations with an algorithm of the application's choice.

mod hash;
mod member;
mod request;
mod signature;

use std::borrow::Cow;

use aws_lc_rs::digest::Digest;
use formats::algorithms::SignatureScheme;
use hsm::ErrorKind;
use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;

pub use self::hash::hash;
pub(super) use self::member::AssociatedData;
use self::member::{DecryptedData, Encoding, Message, base64_required};
pub use self::request::OperationRequest;
use self::request::{DecryptPayload, EncryptPayload, SignPayload};
pub use self::signature::SignatureFormat;
use self::signature::from_der;
pub(super) use self::signature::{curve, to_der};
use super::body::{Base64, written};
use super::long_work::Cost;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::body_memory::BodyBytes;
use crate::ids::KeyId;
use crate::keys::{KeyError, NoKey, PermittedKey, SignatureInput};
use crate::policy::{Permit, Permittable, authorize, to};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use formats::clock::Timestamp;
use formats::json::Text;
use formats::material::Algorithm;
use formats::problem::{Code, Problem};

/// The result of an operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationAnswer<'a> {
    request_id: &'a RequestTag,
    result: OperationResult<'a>,
    timestamp: Timestamp,
}

/// One object per operation: `encrypt`, `decrypt`, `sign`, `verify`, `hash`.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperationResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    ciphertext: Option<Base64<Vec<u8>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    iv: Option<Base64<Vec<u8>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    tag: Option<Base64<Vec<u8>>>,
    /// The unchanged text of the encrypted data, or its bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    data: Option<DecryptedData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    signature: Option<Base64<Vec<u8>>>,
    /// Whether the signature is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    hash: Option<Base64<Digest>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = KeyId)]
    key_id: Option<KeyId>,
}

impl Protection {
    /// Does what `body` asks for. A body with more than `limit` bytes is allowed for operations that open
    /// or verify only.
    pub async fn operate(
        &self,
        mut call: Call,
        body: BodyBytes,
        limit: usize,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let outcome = this.try_operate(&mut call, &body, limit).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_operate(
        &self,
        call: &mut Call,
        body: &[u8],
        limit: usize,
    ) -> Result<Body, Refusal> {
        let (application, text) = self.admit(call, body).await?;
        let (lane, size) = (call.lane(), body.len());
        let read = || request::read(call, text, size > limit);
        let request = self.long_work.run(lane, Cost::High, size, read).await?;
        let performed = self.perform(call, &application, request);
        let performed = performed.instrument(step!("crypto")).await?;
        self.check_again(call, &application, None).await?;
        Ok(performed)
    }

    async fn perform(
        &self,
        call: &mut Call,
        caller: &Application,
        request: OperationRequest<'_>,
    ) -> Result<Body, Refusal> {
        let floor = self.dependencies.floor;
        let result = match request {
            OperationRequest::Encrypt(payload) => {
                let permit = permit(caller)?;
                floor.check(payload.algorithm)?;
                self.encrypt(call, &permit, payload).await?
            }
            OperationRequest::Decrypt(payload) => {
                return self.decrypt(call, &permit(caller)?, payload).await;
            }
            OperationRequest::Sign(payload) => {
                let permit = permit(caller)?;
                floor.check(payload.algorithm)?;
                self.sign(call, &permit, payload).await?
            }
            OperationRequest::Verify(payload) => {
                let permit: Permit<to::Verify> = permit(caller)?;
                let scheme = payload.algorithm;
                let key = self.choose(call, &permit, Some(&payload.key_id), scheme.keys());
                let key = key.await?;
                let input = input(&payload.data, payload.prehashed);
                let signature = p1363(scheme, payload.signature_format, &payload.signature.0);
                let valid = match signature {
                    Some(signature) => {
                        let verified = key.verify(scheme, input, &signature).await;
                        verified.map_err(|error| refused(error, payload.prehashed))?
                    }
                    None => false,
                };
                OperationResult { valid: Some(valid), ..OperationResult::default() }
            }
            OperationRequest::Hash(payload) => {
                let algorithm = payload.algorithm;
                let digest = hash(&permit(caller)?, floor, algorithm, payload.data.bytes())?;
                OperationResult {
                    hash: Some(Base64(digest)),
                    algorithm: Some(algorithm.name()),
                    ..OperationResult::default()
                }
            }
        };
        self.answer(call, result)
    }

    async fn encrypt(
        &self,
        call: &mut Call,
        permit: &Permit<to::Encrypt>,
        payload: EncryptPayload<'_>,
    ) -> Result<OperationResult<'static>, Refusal> {
        let algorithm = payload.algorithm;
        let key = self.choose(call, permit, payload.key_id.as_deref(), algorithm.keys());
        let key = key.await?;
        let sealed = key.encrypt(payload.data.bytes(), aad(&payload.aad)).await;
        let sealed = sealed.map_err(|error| refused(error, None))?;
        Ok(OperationResult {
            ciphertext: Some(Base64(sealed.ciphertext)),
            iv: Some(Base64(sealed.iv.to_vec())),
            tag: Some(Base64(sealed.tag.to_vec())),
            algorithm: Some(algorithm.name()),
            key_id: Some(key.id()),
            ..OperationResult::default()
        })
    }

    async fn decrypt(
        &self,
        call: &mut Call,
        permit: &Permit<to::Decrypt>,
        payload: DecryptPayload<'_>,
    ) -> Result<Body, Refusal> {
        let kinds = payload.algorithm.keys();
        let key = self.choose(call, permit, Some(&payload.key_id), kinds).await?;
        let opened =
            key.decrypt(&payload.iv.0, &payload.ciphertext.0, &payload.tag.0, aad(&payload.aad));
        let plaintext = opened.await.map_err(|not_done| {
            if let KeyError::Token(error) = &not_done
                && error.kind() == ErrorKind::BadInput
            {
                Refusal::DecryptionFailed
            } else {
                refused(not_done, None)
            }
        })?;
        let lane = call.lane();
        let answering = || {
            let data = match payload.encoding {
                Some(Encoding::Base64) => DecryptedData::Base64(&plaintext),
                Some(Encoding::Json) | None => {
                    let text = Text::parse(&plaintext).map_err(|_| {
                        let is_given = payload.encoding.is_some();
                        base64_required(is_given, "the plaintext is not JSON").inside("payload")
                    })?;
                    DecryptedData::Json(text.as_str())
                }
            };
            let result = OperationResult { data: Some(data), ..OperationResult::default() };
            self.answer(call, result)
        };
        let size = plaintext.len();
        self.long_work.finish(lane, Cost::Low, size, answering).await
    }

    async fn sign(
        &self,
        call: &mut Call,
        permit: &Permit<to::Sign>,
        payload: SignPayload<'_>,
    ) -> Result<OperationResult<'static>, Refusal> {
        let algorithm = payload.algorithm;
        let key = self.choose(call, permit, payload.key_id.as_deref(), algorithm.keys());
        let key = key.await?;
        let input = input(&payload.data, payload.prehashed);
        let signature = key.sign(algorithm, input).await;
        let signature = signature.map_err(|error| refused(error, payload.prehashed))?;
        let signature = match payload.signature_format {
            Some(SignatureFormat::Der) => to_der(&signature),
            Some(SignatureFormat::P1363) | None => signature,
        };
        Ok(OperationResult {
            signature: Some(Base64(signature)),
            algorithm: Some(algorithm.name()),
            key_id: Some(key.id()),
            ..OperationResult::default()
        })
    }

    /// The key for an operation. The record names it, even where the caller owns it and cannot use
    /// it.
    async fn choose<'a, O: Permittable>(
        &'a self,
        call: &mut Call,
        permit: &'a Permit<O>,
        key_id: Option<&str>,
        kinds: &[Algorithm],
    ) -> Result<PermittedKey<'a, Permit<O>>, Refusal> {
        let chosen = self.dependencies.keyring.choose(permit, key_id, kinds).await;
        match chosen {
            Ok(key) => {
                call.note_key(key.id());
                Ok(key)
            }
            Err(NoKey::NotFound | NoKey::HeldByDestination(_)) => Err(Refusal::KeyNotFound),
            Err(NoKey::NotAllowed(key, status)) => {
                call.note_key(key);
                Err(Refusal::KeyState(status))
            }
            Err(NoKey::BelowFloor(key, breach)) => {
                call.note_key(key);
                Err(breach.into())
            }
            Err(NoKey::Expired(key)) => {
                call.note_key(key);
                Err(Refusal::KeyExpired)
            }
            Err(NoKey::Unreadable(unreadable)) => Err(unreadable.into()),
            Err(NoKey::Unfit(key)) => {
                call.note_key(key);
                let names = kinds.iter().map(|kind| kind.name());
                let names: Vec<_> = names.collect();
                let message =
                    format!("must fit the key; this algorithm takes {}", names.join(", "));
                let problem = Problem::new("payload.algorithm", Code::Unsupported, message);
                Err(problem.into())
            }
        }
    }

    fn answer(&self, call: &Call, result: OperationResult<'_>) -> Result<Body, Refusal> {
        let bytes = [&result.ciphertext, &result.signature];
        let bytes: usize = bytes.into_iter().flatten().map(|bytes| bytes.0.len()).sum();
        let data = result.data.as_ref().map_or(0, DecryptedData::len);
        let answer = OperationAnswer {
            request_id: call.tag(),
            result,
            timestamp: self.dependencies.clock.now(),
        };
        written(bytes.div_ceil(3) * 4 + data, &answer)
    }
}

fn aad(aad: &Option<AssociatedData>) -> &[u8] {
    aad.as_ref().map_or(&[], |aad| &aad.0)
}

fn input<'a>(data: &'a Message<'_>, prehashed: Option<bool>) -> SignatureInput<'a> {
    match prehashed {
        Some(true) => SignatureInput::Digest(data.bytes()),
        Some(false) | None => SignatureInput::Message(data.bytes()),
    }
}

/// The refusal of an operation with a key. A token that lacks the mechanism refuses the algorithm, or the digest
/// where it hashes messages itself.
fn refused(not_done: KeyError, prehashed: Option<bool>) -> Refusal {
    match (not_done, prehashed) {
        (KeyError::Token(error), Some(true)) if error.lacks_mechanism() => {
            let message = "must be absent: the token signs no digests with this algorithm";
            Problem::new("payload.prehashed", Code::Unsupported, message).into()
        }
        (KeyError::Token(error), _) if error.lacks_mechanism() => {
            let message = "must be an algorithm that the token supports with this key; `sealward doctor` lists them";
            Problem::new("payload.algorithm", Code::Unsupported, message).into()
        }
        (not_done, _) => not_done.into(),
    }
}

/// The signature in the format that the key verifies; none if it is malformed.
pub(super) fn p1363(
    scheme: SignatureScheme,
    format: Option<SignatureFormat>,
    signature: &[u8],
) -> Option<Cow<'_, [u8]>> {
    match (format, curve(scheme)) {
        (Some(SignatureFormat::Der), Some(curve)) => {
            from_der(signature, curve.coordinate_len()).map(Cow::Owned)
        }
        (Some(SignatureFormat::Der | SignatureFormat::P1363) | None, _) => {
            Some(Cow::Borrowed(signature))
        }
    }
}

pub(super) fn permit<O: Permittable>(caller: &Application) -> Result<Permit<O>, Refusal> {
    Ok(step!("permit").in_scope(|| authorize(caller))?)
}
