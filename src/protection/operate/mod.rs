//! Operations with an algorithm of the application's choice.

mod algorithm;
mod request;
mod verify;

use std::borrow::Cow;
use std::sync::Arc;

use hsm::{ErrorKind, KeyRef};
use tracing::Instrument as _;

pub(crate) use self::algorithm::{Cipher, Hash, Offered, Scheme};
use self::request::Request;
use super::writing::Writing;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::json::Text;
use crate::keys::{NoKey, Usable};
use crate::material::Algorithm;
use crate::policy::{Permit, authorize};
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
        self.unabandoned(async move {
            let outcome = this.try_operate(&mut call, &body).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_operate(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = call.admit(body)?;
        let request = request::read(call, text)?;
        let permit = step!("permit").in_scope(|| authorize(&application, request.operation()))?;
        let performed = self.perform(call, &permit, request);
        performed.instrument(step!("crypto")).await
    }

    async fn perform(
        &self,
        call: &mut Call,
        permit: &Permit,
        request: Request<'_>,
    ) -> Result<Body, Refusal> {
        match request {
            Request::Encrypt {
                data,
                cipher,
                key_id,
            } => self.encrypt(call, permit, data, cipher, key_id).await,
            Request::Decrypt {
                sealed,
                cipher,
                key_id,
            } => self.decrypt(call, permit, &sealed, cipher, &key_id).await,
            Request::Sign {
                message,
                scheme,
                key_id,
            } => self.sign(call, permit, &message, scheme, key_id).await,
            Request::Verify {
                message,
                signature,
                scheme,
                key_id,
            } => {
                let key = self.named(call, permit, &key_id, scheme.keys()).await?;
                let valid = self.is_valid(&key, scheme, &message, &signature).await?;
                let valid = if valid { "true" } else { "false" };
                Ok(self.result(call, 0, |result| result.json("valid", valid)))
            }
            Request::Hash { message, hash } => Ok(self.result(call, 0, |result| {
                result
                    .base64("hash", hash.of(&message).as_ref())
                    .plain("algorithm", hash.name())
            })),
        }
    }

    async fn encrypt(
        &self,
        call: &mut Call,
        permit: &Permit,
        data: Text<'_>,
        cipher: Cipher,
        key_id: Option<Cow<'_, str>>,
    ) -> Result<Body, Refusal> {
        let key = self
            .named_or_newest(call, permit, key_id, cipher.keys())
            .await?;
        let private = private(&key)?;
        self.rooms.encryptions.count(key.id).await?;
        let plaintext = data.as_str().as_bytes();
        let sealed = self
            .rooms
            .token
            .aes_gcm_encrypt(private, &[], plaintext)
            .await?;
        Ok(self.result(call, plaintext.len() / 3 * 4, |result| {
            result
                .base64("ciphertext", &sealed.ciphertext)
                .base64("iv", &sealed.iv)
                .base64("tag", &sealed.tag)
                .plain("algorithm", cipher.name())
                .plain("keyId", &key.id.to_string())
        }))
    }

    async fn decrypt(
        &self,
        call: &mut Call,
        permit: &Permit,
        sealed: &request::Sealed,
        cipher: Cipher,
        key_id: &str,
    ) -> Result<Body, Refusal> {
        let key = self.named(call, permit, key_id, cipher.keys()).await?;
        let private = private(&key)?;
        let opened = self
            .rooms
            .token
            .aes_gcm_decrypt(private, &sealed.iv, &[], &sealed.ciphertext, &sealed.tag)
            .await;
        let plaintext = opened.map_err(|error| match error.kind() {
            ErrorKind::BadInput => Refusal::DecryptionFailed,
            _ => error.into(),
        })?;
        // What did not come from `encrypt` may be no JSON, and then there is no way to give it back.
        let data = Text::parse(&plaintext).map_err(|_| Refusal::DecryptionFailed)?;
        let data = data.as_str();
        Ok(self.result(call, data.len(), |result| result.json("data", data)))
    }

    async fn sign(
        &self,
        call: &mut Call,
        permit: &Permit,
        message: &[u8],
        scheme: Scheme,
        key_id: Option<Cow<'_, str>>,
    ) -> Result<Body, Refusal> {
        let key = self
            .named_or_newest(call, permit, key_id, scheme.keys())
            .await?;
        let private = private(&key)?;
        let signature = self
            .rooms
            .token
            .sign(private, scheme.in_token(), message)
            .await?;
        Ok(self.result(call, signature.len() * 2, |result| {
            result
                .base64("signature", &signature)
                .plain("algorithm", scheme.name())
                .plain("keyId", &key.id.to_string())
        }))
    }

    /// Whether the signature is good. With a public key that is found out here; what has none is
    /// with the token.
    async fn is_valid(
        &self,
        key: &Usable,
        scheme: Scheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<bool, Refusal> {
        if let Some(valid) = verify::with_public_key(scheme, &key.spki, message, signature) {
            return Ok(valid);
        }
        let expected = self.rooms.token.hmac(private(key)?, message).await?;
        Ok(bool::from(subtle::ConstantTimeEq::ct_eq(
            expected.as_slice(),
            signature,
        )))
    }

    async fn named(
        &self,
        call: &mut Call,
        permit: &Permit,
        key_id: &str,
        fitting: &'static [Algorithm],
    ) -> Result<Arc<Usable>, Refusal> {
        let caller = service(permit.application());
        let operation = permit.operation();
        let named = self
            .rooms
            .keyring
            .named(caller, key_id, operation, fitting)
            .await;
        noted(call, named, fitting)
    }

    async fn named_or_newest(
        &self,
        call: &mut Call,
        permit: &Permit,
        key_id: Option<Cow<'_, str>>,
        fitting: &'static [Algorithm],
    ) -> Result<Arc<Usable>, Refusal> {
        if let Some(key_id) = key_id {
            return self.named(call, permit, &key_id, fitting).await;
        }
        let caller = service(permit.application());
        let operation = permit.operation();
        let newest = self.rooms.keyring.newest(caller, operation, fitting).await;
        noted(call, newest, fitting)
    }

    /// The answer whose result has the members that `write` adds.
    fn result(&self, call: &Call, length: usize, write: impl FnOnce(Writing) -> Writing) -> Body {
        write(Writing::answer_to(call.tag(), length).open("result"))
            .close()
            .plain("timestamp", &self.rooms.clock.now().to_string())
            .finish()
    }
}

fn service(application: &Application) -> crate::ids::ServiceId {
    application.service_id()
}

/// A key that fits has its secret half in the token, unless it only verifies.
fn private(key: &Usable) -> Result<&KeyRef, Refusal> {
    key.private.as_ref().ok_or(Refusal::KeyNotFound)
}

/// The key, which the record names; also where it is the caller's and cannot be used.
fn noted(
    call: &mut Call,
    chosen: Result<Arc<Usable>, NoKey>,
    fitting: &[Algorithm],
) -> Result<Arc<Usable>, Refusal> {
    match chosen {
        Ok(key) => {
            call.note_key(key.id);
            Ok(key)
        }
        Err(NoKey::NotFound) => Err(Refusal::KeyNotFound),
        Err(NoKey::NotAllowed(key, status)) => {
            call.note_key(key);
            Err(Refusal::KeyState(status))
        }
        Err(NoKey::Unreadable(unreadable)) => Err(unreadable.into()),
        Err(NoKey::Unfit(key)) => {
            call.note_key(key);
            let kinds: Vec<_> = fitting.iter().map(ToString::to_string).collect();
            let message = format!("this algorithm takes keys of the kind {}", kinds.join(", "));
            let problem = Problem::new("payload.algorithm", Code::Unsupported, message);
            Err(problem.into())
        }
    }
}
