//! Makes the canaries of keys, and opens them.

use subtle::ConstantTimeEq as _;

use super::{Vault, VaultError};
use crate::keys::usable::Usable;
use crate::keys::{Canary, Key, NotProven, Usage, question};
use formats::envelope::{Alg, Enc, Envelope, HeaderMembers, Recipient, SealError, seal};
use formats::json::Text;
use formats::problem::{Code, Problem};
use hsm::{ErrorKind, HsmError, KeyRef};

/// What distinguishes canaries from all that callers encrypt with `data` keys.
const AAD: &[u8] = b"sealward canary";

impl Vault {
    /// The canary of a key without a record. None for a public key only, and for a key whose signatures the public
    /// key verifies.
    pub(crate) async fn make_canary(&self, key: &Key) -> Result<Option<Canary>, VaultError> {
        let Some(private) = key.token_key() else {
            return Ok(None);
        };
        let message = message(key);
        let made = match key.usage {
            Usage::Enc => self.sealed_for(key, &message).map_err(|_| not_sealed())?.into_bytes(),
            Usage::Data => {
                let sealed = self.token.aes_gcm_encrypt(&private, AAD, &message).await?;
                [&sealed.iv[..], &sealed.ciphertext, &sealed.tag].concat()
            }
            Usage::Sig if key.algorithm.is_secret() => self.token.hmac(&private, &message).await?,
            Usage::Sig => return Ok(None),
        };
        Ok(Some(Canary(made)))
    }

    /// Shows by the canary that a token holds the private or secret half of the key, or by a signature that the public
    /// key of the record verifies.
    pub async fn prove(&self, key: &Key) -> Result<(), NotProven> {
        let Some(private) = key.token_key() else {
            return Ok(());
        };
        let is_proven = match (&key.canary, key.usage, &key.public_key) {
            (_, Usage::Sig, Some(public)) => {
                let purpose = key.usage.purpose();
                self.token.is_private_half(&private, public.parts(), purpose).await?
            }
            (None, ..) => return Err(NotProven::NoCanary),
            (Some(canary), Usage::Enc, _) => self.opens(key, &private, canary).await?,
            (Some(canary), Usage::Data, _) => self.decrypts(key, &private, canary).await?,
            (Some(canary), Usage::Sig, None) => {
                let mac = self.token.hmac(&private, &message(key)).await?;
                mac.ct_eq(&canary.0).into()
            }
        };
        if is_proven { Ok(()) } else { Err(NotProven::OtherKey) }
    }

    fn sealed_for(&self, key: &Key, message: &[u8]) -> Result<String, SealError> {
        let usable = Usable::of(key);
        let public = usable.envelope.as_ref().ok_or(SealError::Unfit)?;
        let alg = Alg::of(public.family()).next().ok_or(SealError::Unfit)?;
        let recipient = Recipient {
            key: public,
            kid: &usable.kid,
            alg,
            enc: Enc::default(),
            policy: None,
            context: None,
            members: HeaderMembers::default(),
        };
        let mut sealed = String::new();
        seal(&self.entropy, recipient, message, &mut sealed)?;
        Ok(sealed)
    }

    async fn opens(&self, key: &Key, private: &KeyRef, canary: &Canary) -> Result<bool, HsmError> {
        let usable = Usable::of(key);
        let envelope = Text::parse(&canary.0).ok().and_then(|text| Envelope::parse(text).ok());
        let (Some(envelope), Some(public)) = (envelope, &usable.envelope) else {
            return Ok(false);
        };
        let Ok(opening) = envelope.for_key(&self.entropy, public) else {
            return Ok(false);
        };
        let answer = question::ask(&self.token, private, &opening).await?;
        let answer = answer.as_ref().map(|bytes| bytes.as_slice());
        let opened = opening.open(&self.entropy, answer, None);
        Ok(opened.is_ok_and(|plaintext| plaintext.as_bytes() == message(key)))
    }

    async fn decrypts(
        &self,
        key: &Key,
        private: &KeyRef,
        canary: &Canary,
    ) -> Result<bool, HsmError> {
        let Some((iv, rest)) = canary.0.split_at_checked(IV) else {
            return Ok(false);
        };
        let Some((ciphertext, tag)) = rest.len().checked_sub(TAG).map(|at| rest.split_at(at))
        else {
            return Ok(false);
        };
        match self.token.aes_gcm_decrypt(private, iv, AAD, ciphertext, tag).await {
            Ok(plaintext) => Ok(*plaintext == message(key)),
            Err(error) if matches!(error.kind(), ErrorKind::BadInput | ErrorKind::Refused) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// The lengths of the IV and of the tag around the ciphertext of a `data` key.
const IV: usize = 12;
const TAG: usize = 16;

/// What the canary protects: the identifier of the key, in JSON.
fn message(key: &Key) -> Vec<u8> {
    format!("\"{}\"", key.id).into_bytes()
}

fn not_sealed() -> VaultError {
    let message = "must be a key for which envelopes can be made";
    VaultError::Problem(Problem::of_body(Code::Unsupported, message))
}
