//! The ways a token unwraps a key that was wrapped for it. Tokens differ, and their mechanism
//! lists do not tell: a way is taken after it has unwrapped a key that is known here.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rsa::PublicKeyComponents;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};

use super::material::HMAC_LENGTHS;
use super::prove::speaks_of_the_token;
use super::sample::Sample;
use super::settle::is_bond;
use super::{ImportError, ImportMechanism};
use crate::crypt::{gcm, oaep};
use crate::keys::template;
use crate::keys::{inspect, public};
use crate::raw::{self, RsaAesKeyWrap};
use crate::session::Session;
use crate::wrap::{WrapError, wrap_under};
use crate::{HsmError, KeyAlgorithm, KeyClass, PublicKey, Usages};

/// How a token does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `CKM_RSA_AES_KEY_WRAP`.
    OneStep,
    /// RSA-OAEP to an AES session object, then `CKM_AES_KEY_WRAP_KWP`.
    TwoSteps,
    /// The same with `CKM_AES_KEY_WRAP_PAD`, which some tokens take for RFC 5649. To others it
    /// means another padding, and then it does not unwrap what is known here.
    TwoStepsPad,
}

/// An import key in a token, and what is needed to unwrap with it.
pub(crate) struct Unwrapper<'a> {
    session: &'a Session,
    key: ObjectHandle,
    modulus: Vec<u8>,
    exponent: Vec<u8>,
    mechanism: ImportMechanism,
    way: Way,
}

impl<'a> Unwrapper<'a> {
    /// Finds the way this token unwraps with this import key, by unwrapping a known key.
    pub(crate) fn find(
        session: &'a Session,
        key: ObjectHandle,
        mechanism: ImportMechanism,
    ) -> Result<Self, ImportError> {
        let Some(PublicKey::Rsa { modulus, exponent }) = public::of_rsa(session, key)? else {
            return Err(ImportError::Malformed("the import key is not an RSA key"));
        };
        let mut unwrapper = Self {
            session,
            key,
            modulus,
            exponent,
            mechanism,
            way: Way::OneStep,
        };
        for way in [Way::OneStep, Way::TwoSteps, Way::TwoStepsPad] {
            unwrapper.way = way;
            match unwrapper.unwraps_a_known_key() {
                Ok(true) => return Ok(unwrapper),
                Ok(false) => {}
                Err(ImportError::Token(error)) if speaks_of_the_token(&error) => {
                    return Err(error.into());
                }
                Err(error) => tracing::debug!(?way, ?error, "not the way this token unwraps"),
            }
        }
        Err(ImportError::Unsupported(format!("import by {mechanism}")))
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }

    /// Unwraps a key. Where that fails, a known key of the same kind tells whether the token
    /// cannot do it or the wrapped key is at fault.
    pub(crate) fn unwrap(
        &self,
        algorithm: KeyAlgorithm,
        wrapped: &[u8],
        template: &[Attribute],
    ) -> Result<ObjectHandle, ImportError> {
        if !self.may_be(algorithm, wrapped.len()) {
            return Err(ImportError::NotUnwrapped);
        }
        match self.attempt(wrapped, template) {
            // The same may work without the bond.
            Err(ImportError::Token(error))
                if error.dislikes_an_attribute() && template.iter().any(is_bond) =>
            {
                Err(error.into())
            }
            Err(ImportError::Token(error)) if !speaks_of_the_token(&error) => {
                tracing::debug!(?error, "a wrapped key does not unwrap");
                if error.doubts_the_token() {
                    self.session.device().ask_canary();
                }
                if self.unwraps_kind(algorithm)? {
                    Err(ImportError::NotUnwrapped)
                } else {
                    let kind = format!("unwrapping of {algorithm:?} keys");
                    Err(ImportError::Unsupported(kind))
                }
            }
            result => result,
        }
    }

    /// Whether something of this length can be such a key wrapped. For secret keys it is the only
    /// word on their length that every token leaves to us: some unwrap "AES" keys of 20 bytes.
    fn may_be(&self, algorithm: KeyAlgorithm, length: usize) -> bool {
        let Some(second) = length.checked_sub(self.modulus.len()) else {
            return false;
        };
        // AES-KWP fills up to whole half-blocks and puts one before them.
        let wrapped = |key: usize| key.next_multiple_of(8) + 8;
        match algorithm {
            KeyAlgorithm::Aes128 => second == wrapped(16),
            KeyAlgorithm::Aes256 => second == wrapped(32),
            KeyAlgorithm::HmacSha256 => {
                (wrapped(*HMAC_LENGTHS.start())..=wrapped(*HMAC_LENGTHS.end())).contains(&second)
            }
            KeyAlgorithm::Rsa2048
            | KeyAlgorithm::Rsa3072
            | KeyAlgorithm::Rsa4096
            | KeyAlgorithm::P256
            | KeyAlgorithm::P384
            | KeyAlgorithm::P521
            | KeyAlgorithm::Ed25519 => second > 8 && second % 8 == 0,
        }
    }

    /// Whether the token unwraps keys of this kind, tried with one that is made for it.
    pub(crate) fn unwraps_kind(&self, algorithm: KeyAlgorithm) -> Result<bool, ImportError> {
        let wrapped = self.wrap(&Sample::of(sampled(algorithm))?.bytes)?;
        let template = template(algorithm, Usages::default());
        match self.attempt(&wrapped, &template) {
            Ok(key) => {
                drop(self.session.temporary(key));
                Ok(true)
            }
            Err(ImportError::Token(error)) if !speaks_of_the_token(&error) => Ok(false),
            Err(ImportError::NotUnwrapped) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn attempt(&self, wrapped: &[u8], template: &[Attribute]) -> Result<ObjectHandle, ImportError> {
        let oaep = oaep::params(self.mechanism.hash());
        let token = self.session.raw();
        if self.way == Way::OneStep {
            let params = RsaAesKeyWrap::with_aes_256(&oaep);
            return Ok(token.unwrap_key(&params.mechanism(), self.key, wrapped, template)?);
        }
        let (first, second) = wrapped
            .split_at_checked(self.modulus.len())
            .ok_or(ImportError::NotUnwrapped)?;
        let ephemeral = self.session.temporary(token.unwrap_key(
            &Mechanism::RsaPkcsOaep(oaep),
            self.key,
            first,
            &ephemeral_template(),
        )?);
        if inspect::told_length(self.session, ephemeral.handle())?
            .is_some_and(|length| length != 32)
        {
            return Err(ImportError::NotUnwrapped);
        }
        let by = match self.way {
            Way::OneStep | Way::TwoSteps => raw::aes_kwp(),
            Way::TwoStepsPad => Mechanism::AesKeyWrapPad,
        };
        Ok(token.unwrap_key(&by, ephemeral.handle(), second, template)?)
    }

    /// Whether an AES key that is wrapped here opens there what it sealed here.
    fn unwraps_a_known_key(&self) -> Result<bool, ImportError> {
        let known = Sample::of(KeyAlgorithm::Aes256)?.bytes;
        let usages = Usages {
            decrypt: true,
            ..Usages::default()
        };
        let template = template(KeyAlgorithm::Aes256, usages);
        let key = self.attempt(&self.wrap(&known)?, &template)?;
        let key = self.session.temporary(key);

        let iv = [7; gcm::IV];
        let mut sealed = b"known".to_vec();
        let cipher = UnboundKey::new(&AES_256_GCM, &known).map_err(|_| no_sample())?;
        LessSafeKey::new(cipher)
            .seal_in_place_append_tag(Nonce::from(&iv), Aad::empty(), &mut sealed)
            .map_err(|_| no_sample())?;
        let opened = gcm::decrypt(self.session, key.handle(), iv, &[], &sealed)?;
        Ok(*opened == b"known")
    }

    fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, HsmError> {
        let import_key = PublicKeyComponents {
            n: self.modulus.as_slice(),
            e: self.exponent.as_slice(),
        };
        wrap_under(import_key, self.mechanism, key).map_err(|error| match error {
            WrapError::NotAnImportKey | WrapError::NotAKey | WrapError::NoRandomness => {
                HsmError::refused(error.to_string())
            }
        })
    }
}

/// What a session object is made with.
fn template(algorithm: KeyAlgorithm, usages: Usages) -> Vec<Attribute> {
    let mut attributes = template::guarded(b"import", "import", algorithm.class(), usages, false);
    attributes.extend(kind(algorithm));
    attributes
}

/// Class and type of a key.
pub(super) fn kind(algorithm: KeyAlgorithm) -> [Attribute; 2] {
    let class = match algorithm.class() {
        KeyClass::Private => ObjectClass::PRIVATE_KEY,
        KeyClass::Secret => ObjectClass::SECRET_KEY,
    };
    [
        Attribute::Class(class),
        Attribute::KeyType(key_type(algorithm)),
    ]
}

pub(super) fn key_type(algorithm: KeyAlgorithm) -> KeyType {
    match algorithm {
        KeyAlgorithm::Rsa2048 | KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096 => KeyType::RSA,
        KeyAlgorithm::P256 | KeyAlgorithm::P384 | KeyAlgorithm::P521 => KeyType::EC,
        KeyAlgorithm::Ed25519 => KeyType::EC_EDWARDS,
        KeyAlgorithm::Aes128 | KeyAlgorithm::Aes256 => KeyType::AES,
        KeyAlgorithm::HmacSha256 => KeyType::GENERIC_SECRET,
    }
}

/// The AES key between the two steps: it unwraps, and nothing else.
fn ephemeral_template() -> Vec<Attribute> {
    let usages = Usages {
        unwrap: true,
        ..Usages::default()
    };
    template(KeyAlgorithm::Aes256, usages)
}

fn no_sample() -> HsmError {
    HsmError::refused("nothing could be sealed here to try the token with")
}

/// One size of RSA key stands for all: what differs between tokens is the kind.
fn sampled(algorithm: KeyAlgorithm) -> KeyAlgorithm {
    match algorithm {
        KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096 => KeyAlgorithm::Rsa2048,
        other => other,
    }
}
