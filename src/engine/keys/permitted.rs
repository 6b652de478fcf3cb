//! A chosen key, and the operation that its permit allows.

use std::fmt;
use std::sync::Arc;

use formats::algorithms::{Cipher, SignatureScheme};
use hsm::{GcmSealed, HsmError, KeyRef};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::keyring::Keyring;
use super::usable::Usable;
use super::verify::SignatureInput;
use super::{KeyVersion, NotCounted, PublishedJwk, question, verify};
use crate::floor::{AnyAlgorithm, Breach};
use crate::ids::KeyId;
use crate::operation::Operation;
use crate::policy::{OpeningPermit, Permit, PolicyPermit, to};
use formats::clock::Entropy;
use formats::envelope::{
    Context, ContextTag, Opening, Plaintext, Recipient, SealError, Unopenable, seal,
};
use formats::material::{self, Algorithm};
use formats::problem::Problems;

/// A key that was chosen with the permit `P`.
pub struct PermittedKey<'a, P> {
    keyring: &'a Keyring,
    key: Arc<Usable>,
    permit: &'a P,
}

/// The operation with the chosen key failed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The private key is not in the token.
    #[error("the key has no private half here")]
    NoPrivateHalf,
    /// The encryption is not allowed.
    #[error(transparent)]
    NotCounted(#[from] NotCounted),
    /// The operation would make something new with an algorithm below the floor.
    #[error(transparent)]
    BelowFloor(#[from] Breach),
    /// The token failed.
    #[error(transparent)]
    Token(#[from] HsmError),
}

/// The envelope cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// The envelope does not match the key. Problems name members of the envelope.
    #[error("the envelope does not fit the key")]
    Problems(Problems),
    /// A cryptographic check failed. The error does not reveal the reason.
    #[error(transparent)]
    Unopenable(#[from] Unopenable),
    /// The key cannot be used.
    #[error(transparent)]
    KeyError(#[from] KeyError),
}

impl<'a, P> PermittedKey<'a, P> {
    pub(super) fn new(keyring: &'a Keyring, key: Arc<Usable>, permit: &'a P) -> Self {
        Self { keyring, key, permit }
    }

    /// The identifier of the key.
    pub fn id(&self) -> KeyId {
        self.key.id
    }

    /// The algorithm of the key.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm
    }

    /// Its version; none of an `enc` key.
    pub fn version(&self) -> Option<KeyVersion> {
        self.key.version
    }

    fn private(&self) -> Result<&KeyRef, KeyError> {
        self.key.private.as_ref().ok_or(KeyError::NoPrivateHalf)
    }
}

impl PermittedKey<'_, PolicyPermit<to::Protect>> {
    /// The public key of new envelopes, which destinations and partners know.
    pub fn jwk(&self) -> Option<PublishedJwk> {
        let key = material::PublicKey::from_spki(&self.key.spki).ok()?;
        let (kid, alg) = (self.key.kid.clone(), self.permit.policy().alg);
        Some(PublishedJwk::for_envelopes(kid, alg, key.to_jwk()))
    }

    /// Encrypts `plaintext` with the algorithms of the policy and appends the envelope to `out`. Returns
    /// its `ctx`.
    pub fn seal(
        &self,
        entropy: &Entropy,
        context: Option<&Context>,
        plaintext: &[u8],
        out: &mut String,
    ) -> Result<Option<ContextTag>, SealError> {
        let policy = self.permit.policy();
        let binding = policy.binding().map(|id| id.to_string());
        let recipient = Recipient {
            key: self.key.envelope.as_ref().ok_or(SealError::Unfit)?,
            kid: &self.key.kid,
            alg: policy.alg,
            enc: policy.enc,
            policy: binding.as_deref(),
            context,
            members: policy.header_members(self.keyring.clock.now()),
        };
        seal(entropy, recipient, plaintext, out)
    }
}

/// A key that a permit for one envelope gave.
pub struct Opener<'a> {
    keyring: &'a Keyring,
    key: Arc<Usable>,
    permit: OpeningPermit,
}

/// An envelope with the answer of its private key.
pub struct Answered {
    opening: Opening,
    answer: Option<Zeroizing<Vec<u8>>>,
}

impl<'a> Opener<'a> {
    pub(super) fn new(keyring: &'a Keyring, key: Arc<Usable>, permit: OpeningPermit) -> Self {
        Self { keyring, key, permit }
    }

    /// The identifier of the key.
    pub fn id(&self) -> KeyId {
        self.key.id
    }

    /// The algorithms of the key and of the envelope.
    pub fn algorithms(&self) -> [AnyAlgorithm; 3] {
        let envelope = self.permit.envelope();
        [self.key.algorithm.into(), envelope.alg().into(), envelope.enc().into()]
    }

    /// Asks the private key in the token about the envelope of the permit.
    pub async fn ask(self, entropy: &Entropy) -> Result<Answered, NotOpened> {
        let envelope = self.permit.into_envelope();
        let public = self.key.envelope.as_ref();
        let private = self.key.private.as_ref().ok_or(KeyError::NoPrivateHalf)?;
        let public = public.ok_or(KeyError::NoPrivateHalf)?;
        let opening = envelope.for_key(entropy, public);
        let opening = opening.map_err(NotOpened::Problems)?;
        // From here on, all cryptographic failures return the same error after the same work.
        let answer = question::ask(&self.keyring.token, private, &opening);
        let answer = answer.await.map_err(KeyError::from)?;
        Ok(Answered { opening, answer })
    }
}

impl Answered {
    /// Opens the envelope. The work grows with its size.
    pub fn open(
        self,
        entropy: &Entropy,
        context: Option<&Context>,
    ) -> Result<Plaintext, NotOpened> {
        let answer = self.answer.as_ref().map(|bytes| bytes.as_slice());
        Ok(self.opening.open(entropy, answer, context)?)
    }

    /// The number of bytes to decrypt.
    pub fn size(&self) -> usize {
        self.opening.size()
    }
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").finish_non_exhaustive()
    }
}

impl PermittedKey<'_, Permit<to::Encrypt>> {
    /// Encrypts `plaintext` with AES-GCM.
    pub async fn encrypt(&self, plaintext: &[u8], aad: &[u8]) -> Result<GcmSealed, KeyError> {
        let private = self.private()?;
        if let Some(cipher) = Cipher::of_key(self.key.algorithm) {
            self.keyring.floor.check(cipher)?;
        }
        self.keyring.encryptions.count(self.key.id).await?;
        let token = &self.keyring.token;
        Ok(token.aes_gcm_encrypt(private, aad, plaintext).await?)
    }
}

impl PermittedKey<'_, Permit<to::Decrypt>> {
    /// Decrypts the result of [`PermittedKey::encrypt`].
    pub async fn decrypt(
        &self,
        iv: &[u8],
        ciphertext: &[u8],
        tag: &[u8],
        aad: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let token = &self.keyring.token;
        let opened = token.aes_gcm_decrypt(self.private()?, iv, aad, ciphertext, tag).await?;
        let cipher = Cipher::of_key(self.key.algorithm).map(AnyAlgorithm::from);
        let algorithms = [AnyAlgorithm::from(self.key.algorithm)].into_iter().chain(cipher);
        self.keyring.count_legacy_use(Operation::Decrypt, algorithms);
        Ok(opened)
    }
}

impl PermittedKey<'_, Permit<to::Sign>> {
    /// Signs a message or a digest.
    ///
    /// # Errors
    /// [`KeyError::BelowFloor`] if the floor does not allow the scheme.
    pub async fn sign(
        &self,
        scheme: SignatureScheme,
        input: SignatureInput<'_>,
    ) -> Result<Vec<u8>, KeyError> {
        self.keyring.floor.check(scheme)?;
        let (token, private) = (&self.keyring.token, self.private()?);
        Ok(match input {
            SignatureInput::Message(message) => token.sign(private, scheme, message).await?,
            SignatureInput::Digest(digest) => token.sign_digest(private, scheme, digest).await?,
        })
    }
}

impl PermittedKey<'_, Permit<to::Verify>> {
    /// Whether `signature` is valid. A public key verifies here, a secret key in the token.
    pub async fn verify(
        &self,
        scheme: SignatureScheme,
        input: SignatureInput<'_>,
        signature: &[u8],
    ) -> Result<bool, KeyError> {
        let valid = self.verify_once(scheme, input, signature).await?;
        self.count_verified(scheme, valid);
        Ok(valid)
    }

    async fn verify_once(
        &self,
        scheme: SignatureScheme,
        input: SignatureInput<'_>,
        signature: &[u8],
    ) -> Result<bool, KeyError> {
        if let Some(valid) = verify::with_public_key(scheme, &self.key.spki, input, signature) {
            return Ok(valid);
        }
        // The digest of a message is not enough for an HMAC.
        let SignatureInput::Message(message) = input else {
            return Ok(false);
        };
        let expected = self.keyring.token.hmac(self.private()?, message).await?;
        Ok(expected.as_slice().ct_eq(signature).into())
    }

    /// Whether a signature with RSA-PSS is valid, whose salt has the given length or any length.
    pub(crate) fn verify_pss(
        &self,
        scheme: SignatureScheme,
        input: SignatureInput<'_>,
        salt: Option<usize>,
        signature: &[u8],
    ) -> bool {
        let valid = verify::with_salt(scheme, &self.key.spki, input, salt, signature);
        self.count_verified(scheme, valid);
        valid
    }

    fn count_verified(&self, scheme: SignatureScheme, valid: bool) {
        if valid {
            let algorithms = [AnyAlgorithm::from(self.key.algorithm), scheme.into()];
            self.keyring.count_legacy_use(Operation::Verify, algorithms);
        }
    }
}
