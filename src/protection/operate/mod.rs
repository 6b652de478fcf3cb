//! Operations with an algorithm of the application's choice.

mod algorithm;
mod request;

use std::borrow::Cow;

use hsm::ErrorKind;
use tracing::Instrument as _;

pub use self::algorithm::{Cipher, Hash, Scheme};
use self::request::Request;
use super::writing::Writing;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::json::Text;
use crate::keys::{Chosen, NoKey, NotDone};
use crate::material::Algorithm;
use crate::policy::{Permit, Permittable, authorize, to};
use crate::problem::{Code, Problem};
use crate::telemetry::step;
use crate::wiped::Wiped;

impl Protection {
    /// Does what `body` asks for.
    ///
    /// # Errors
    /// When the outcome could not be recorded; then nothing leaves.
    pub async fn operate(
        &self,
        mut call: Call,
        body: Wiped<Vec<u8>>,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.unabandoned(call.lane(), async move {
            let outcome = this.try_operate(&mut call, &body).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_operate(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = call.admit(body)?;
        let request = request::read(call, text)?;
        let performed = self.perform(call, &application, request);
        performed.instrument(step!("crypto")).await
    }

    async fn perform(
        &self,
        call: &mut Call,
        caller: &Application,
        request: Request<'_>,
    ) -> Result<Body, Refusal> {
        match request {
            Request::Encrypt {
                data,
                cipher,
                key_id,
            } => {
                self.encrypt(call, &permit(caller)?, data, cipher, key_id)
                    .await
            }
            Request::Decrypt {
                sealed,
                cipher,
                key_id,
            } => {
                let permit = permit(caller)?;
                self.decrypt(call, &permit, &sealed, cipher, &key_id).await
            }
            Request::Sign {
                message,
                scheme,
                key_id,
            } => {
                let permit = permit(caller)?;
                self.sign(call, &permit, &message, scheme, key_id).await
            }
            Request::Verify {
                message,
                signature,
                scheme,
                key_id,
            } => {
                let permit: Permit<to::Verify> = permit(caller)?;
                let kinds = scheme.keys();
                let key = self.choose(call, &permit, Some(&key_id), kinds).await?;
                let valid = key.verify(scheme.in_token(), &message, &signature).await?;
                let valid = if valid { "true" } else { "false" };
                Ok(self.result(call, 0, |result| result.json("valid", valid)))
            }
            Request::Hash { message, hash } => {
                let digest = hash.of(&permit(caller)?, &message);
                Ok(self.result(call, 0, |result| {
                    result
                        .base64("hash", digest.as_ref())
                        .plain("algorithm", hash.name())
                }))
            }
        }
    }

    async fn encrypt(
        &self,
        call: &mut Call,
        permit: &Permit<to::Encrypt>,
        data: Text<'_>,
        cipher: Cipher,
        key_id: Option<Cow<'_, str>>,
    ) -> Result<Body, Refusal> {
        let kinds = cipher.keys();
        let key = self.choose(call, permit, key_id.as_deref(), kinds).await?;
        let plaintext = data.as_str().as_bytes();
        let sealed = key.encrypt(plaintext).await?;
        Ok(self.result(call, plaintext.len() / 3 * 4, |result| {
            result
                .base64("ciphertext", &sealed.ciphertext)
                .base64("iv", &sealed.iv)
                .base64("tag", &sealed.tag)
                .plain("algorithm", cipher.name())
                .plain("keyId", &key.id().to_string())
        }))
    }

    async fn decrypt(
        &self,
        call: &mut Call,
        permit: &Permit<to::Decrypt>,
        sealed: &request::Sealed,
        cipher: Cipher,
        key_id: &str,
    ) -> Result<Body, Refusal> {
        let kinds = cipher.keys();
        let key = self.choose(call, permit, Some(key_id), kinds).await?;
        let opened = key.decrypt(&sealed.iv, &sealed.ciphertext, &sealed.tag);
        let plaintext = opened.await.map_err(|not_done| match not_done {
            NotDone::Token(error) if error.kind() == ErrorKind::BadInput => {
                Refusal::DecryptionFailed
            }
            not_done => not_done.into(),
        })?;
        // A plaintext that does not come from `encrypt` may be no JSON; the answer cannot hold it.
        let data = Text::parse(&plaintext).map_err(|_| Refusal::DecryptionFailed)?;
        let data = data.as_str();
        Ok(self.result(call, data.len(), |result| result.json("data", data)))
    }

    async fn sign(
        &self,
        call: &mut Call,
        permit: &Permit<to::Sign>,
        message: &[u8],
        scheme: Scheme,
        key_id: Option<Cow<'_, str>>,
    ) -> Result<Body, Refusal> {
        let kinds = scheme.keys();
        let key = self.choose(call, permit, key_id.as_deref(), kinds).await?;
        let signature = key.sign(scheme.in_token(), message).await?;
        Ok(self.result(call, signature.len() * 2, |result| {
            result
                .base64("signature", &signature)
                .plain("algorithm", scheme.name())
                .plain("keyId", &key.id().to_string())
        }))
    }

    /// The key for an operation. The record names it, even where the caller owns it and cannot use
    /// it.
    async fn choose<'a, O: Permittable>(
        &'a self,
        call: &mut Call,
        permit: &'a Permit<O>,
        key_id: Option<&str>,
        kinds: &[Algorithm],
    ) -> Result<Chosen<'a, Permit<O>>, Refusal> {
        let chosen = self.rooms.keyring.choose(permit, key_id, kinds).await;
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
            Err(NoKey::Unreadable(unreadable)) => Err(unreadable.into()),
            Err(NoKey::Unfit(key)) => {
                call.note_key(key);
                let names = kinds.iter().map(|kind| kind.name());
                let names: Vec<_> = names.collect();
                let message = format!(
                    "must fit the key; this algorithm takes {}",
                    names.join(", ")
                );
                let problem = Problem::new("payload.algorithm", Code::Unsupported, message);
                Err(problem.into())
            }
        }
    }

    /// The answer whose result has the members that `write` adds.
    fn result(&self, call: &Call, length: usize, write: impl FnOnce(Writing) -> Writing) -> Body {
        write(Writing::answer_to(call.tag(), length).open("result"))
            .close()
            .plain("timestamp", &self.rooms.clock.now().to_string())
            .finish()
    }
}

fn permit<O: Permittable>(caller: &Application) -> Result<Permit<O>, Refusal> {
    Ok(step!("permit").in_scope(|| authorize(caller))?)
}
