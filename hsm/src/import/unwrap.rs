//! Unwrapping inside the token. Tokens differ in the method, and their mechanism lists do not show
//! it: a method is used after it has unwrapped a known key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rsa::PublicKeyComponents;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::Attribute;

use super::error::ImportError;
use super::material::HMAC_LENGTHS;
use super::mechanisms::{RsaAesKeyWrap, aes_kwp};
use super::prove::concerns_token;
use super::sample::Sample;
use super::wrap::wrap_under;
use crate::attribute_values;
use crate::crypt::{gcm, oaep};
use crate::keys::attributes::{FIXED, Optional, Template};
use crate::keys::{inspect, public};
use crate::pkcs11::ObjectHandle;
use crate::session::{Session, Temporary};
use crate::{HsmError, KeyClass, Usages};
use formats::algorithms::{Algorithm, Family, ImportMechanism, PublicParts};

/// The method of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// `CKM_RSA_AES_KEY_WRAP`.
    OneStep,
    /// RSA-OAEP to an AES session object, then `CKM_AES_KEY_WRAP_KWP`.
    TwoSteps,
    /// The same with `CKM_AES_KEY_WRAP_PAD`, which means RFC 5649 on some tokens. On others it
    /// means another padding, and the known key does not unwrap.
    TwoStepsPad,
}

/// An import key in a token and the method to unwrap with it.
pub(crate) struct Unwrapper<'a> {
    session: &'a Session,
    key: ObjectHandle,
    modulus: Vec<u8>,
    exponent: Vec<u8>,
    mechanism: ImportMechanism,
    method: Method,
}

impl<'a> Unwrapper<'a> {
    /// Finds the method of this token by unwrapping a known key.
    pub(crate) fn find(
        session: &'a Session,
        key: ObjectHandle,
        mechanism: ImportMechanism,
    ) -> Result<Self, ImportError> {
        let Some(PublicParts::Rsa { modulus, exponent }) = public::of_rsa(session, key)? else {
            return Err(ImportError::Malformed("the import key is not an RSA key"));
        };
        let mut unwrapper =
            Self { session, key, modulus, exponent, mechanism, method: Method::OneStep };
        for method in [Method::OneStep, Method::TwoSteps, Method::TwoStepsPad] {
            unwrapper.method = method;
            match unwrapper.unwraps_known_key() {
                Ok(true) => return Ok(unwrapper),
                Ok(false) => {}
                Err(ImportError::Token(error)) if concerns_token(&error) => {
                    return Err(error.into());
                }
                Err(error) => tracing::debug!(?method, ?error, "the token unwraps otherwise"),
            }
        }
        Err(ImportError::Unsupported(format!("import by {mechanism}")))
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Unwraps a key. After a failure a known key of the same kind shows whether the token cannot
    /// unwrap such keys or the wrapped key is at fault.
    pub(super) fn unwrap(
        &self,
        algorithm: Algorithm,
        wrapped: &[u8],
        template: &[Attribute],
    ) -> Result<ObjectHandle, ImportError> {
        if !self.may_be(algorithm, wrapped.len()) {
            return Err(ImportError::NotUnwrapped);
        }
        match self.attempt(wrapped, template) {
            Ok(key) => {
                let key = Temporary::new(self.session, key);
                // A key whose attributes are fixed cannot be protected. The caller tries again without that.
                match self.protect(key.handle(), template) {
                    Err(error) if template.contains(&FIXED) => {
                        tracing::debug!(?error, "an unwrapped key cannot be protected");
                        Err(HsmError::attribute_rejected().into())
                    }
                    _ => Ok(key.keep()),
                }
            }
            // The caller tries again without optional attributes.
            Err(ImportError::Token(error))
                if error.rejects_attribute() && template.iter().any(Optional::includes) =>
            {
                Err(error.into())
            }
            Err(ImportError::Token(error)) if !concerns_token(&error) => {
                tracing::debug!(?error, "a wrapped key does not unwrap");
                if error.suggests_outage() {
                    self.session.connection().canary.raise();
                }
                if self.supports(algorithm)? {
                    return Err(ImportError::NotUnwrapped);
                }
                let kind = format!("unwrapping of {algorithm} keys");
                Err(ImportError::Unsupported(kind))
            }
            result => result,
        }
    }

    /// Sets what the template asks for and the token has set otherwise: some tokens give every unwrapped key
    /// their own defaults, and accept the stricter values later. The caller reads the key back.
    fn protect(&self, key: ObjectHandle, template: &[Attribute]) -> Result<(), HsmError> {
        for attribute in [Attribute::Sensitive(true), Attribute::Extractable(false)] {
            let kept = inspect::read(self.session, key, attribute.attribute_type())?;
            if template.contains(&attribute) && kept.as_ref() != Some(&attribute) {
                self.session.raw().set_attributes(key, &[attribute])?;
            }
        }
        Ok(())
    }

    /// Whether a wrapped key of this length can be such a key. For secret keys this is the only
    /// check of the length that works on every token: some unwrap "AES" keys of 20 bytes.
    fn may_be(&self, algorithm: Algorithm, length: usize) -> bool {
        let Some(second) = length.checked_sub(self.modulus.len()) else {
            return false;
        };
        // AES-KWP pads to whole half-blocks and adds one.
        let wrapped = |key: usize| key.next_multiple_of(8) + 8;
        match algorithm.family() {
            Family::Aes if algorithm == Algorithm::Aes128 => second == wrapped(16),
            Family::Aes => second == wrapped(32),
            Family::Hmac => {
                (wrapped(*HMAC_LENGTHS.start())..=wrapped(*HMAC_LENGTHS.end())).contains(&second)
            }
            Family::Rsa | Family::Ec | Family::Ed25519 => second > 8 && second % 8 == 0,
            Family::MlDsa | Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768 => false,
        }
    }

    /// Whether the token unwraps keys of this kind, tried with a sample.
    fn supports(&self, algorithm: Algorithm) -> Result<bool, ImportError> {
        // One size represents all RSA keys.
        let sampled = match algorithm.family() {
            Family::Rsa => Algorithm::Rsa2048,
            Family::Ec | Family::Ed25519 | Family::Aes | Family::Hmac => algorithm,
            Family::MlDsa | Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768 => {
                return Ok(false);
            }
        };
        let wrapped = self.wrap(&Sample::of(sampled)?.bytes)?;
        match self.attempt(&wrapped, &template(algorithm, Usages::default())) {
            Ok(key) => {
                self.session.discard(key);
                Ok(true)
            }
            Err(ImportError::Token(error)) if !concerns_token(&error) => Ok(false),
            Err(ImportError::NotUnwrapped) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn attempt(&self, wrapped: &[u8], template: &[Attribute]) -> Result<ObjectHandle, ImportError> {
        let oaep = oaep::params(self.mechanism.hash());
        let token = self.session.raw();
        if self.method == Method::OneStep {
            let params = RsaAesKeyWrap::with_aes_256(&oaep);
            return Ok(token.unwrap_key(&params.mechanism(), self.key, wrapped, template)?);
        }
        let (first, second) =
            wrapped.split_at_checked(self.modulus.len()).ok_or(ImportError::NotUnwrapped)?;
        // The AES key between the two steps unwraps and does nothing else.
        let usages = Usages { unwrap: true, ..Usages::default() };
        let ephemeral = token.unwrap_key(
            &Mechanism::RsaPkcsOaep(oaep),
            self.key,
            first,
            &self::template(Algorithm::Aes256, usages),
        )?;
        let ephemeral = Temporary::new(self.session, ephemeral);
        let protection = self::template(Algorithm::Aes256, usages);
        if let Err(error) = self.protect(ephemeral.handle(), &protection) {
            tracing::debug!(?error, "the key between the two steps is not protected");
        }
        let length = inspect::value_length(self.session, ephemeral.handle())?;
        if length.is_some_and(|length| length != 32) {
            return Err(ImportError::NotUnwrapped);
        }
        let by = match self.method {
            Method::OneStep | Method::TwoSteps => aes_kwp(),
            Method::TwoStepsPad => Mechanism::AesKeyWrapPad,
        };
        Ok(token.unwrap_key(&by, ephemeral.handle(), second, template)?)
    }

    /// Whether a known AES key, once unwrapped, decrypts a ciphertext of this process.
    fn unwraps_known_key(&self) -> Result<bool, ImportError> {
        let known = Sample::of(Algorithm::Aes256)?.bytes;
        let usages = Usages { decrypt: true, ..Usages::default() };
        let key = self.attempt(&self.wrap(&known)?, &template(Algorithm::Aes256, usages))?;
        let key = Temporary::new(self.session, key);

        let iv = [7; gcm::IV];
        let mut sealed = b"known".to_vec();
        let failed = |_| HsmError::refused("the sample could not be encrypted");
        let cipher = UnboundKey::new(&AES_256_GCM, &known).map_err(failed)?;
        LessSafeKey::new(cipher)
            .seal_in_place_append_tag(Nonce::from(&iv), Aad::empty(), &mut sealed)
            .map_err(failed)?;
        let opened = gcm::decrypt(self.session, key.handle(), iv, &[], &sealed)?;
        Ok(*opened == b"known")
    }

    pub(super) fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, HsmError> {
        let import_key =
            PublicKeyComponents { n: self.modulus.as_slice(), e: self.exponent.as_slice() };
        wrap_under(import_key, self.mechanism, key)
            .map_err(|error| HsmError::refused(error.to_string()))
    }
}

/// The template of a session object.
fn template(algorithm: Algorithm, usages: Usages) -> Vec<Attribute> {
    let template = Template { id: b"import", label: "import", usages, permanent: false };
    template.guarded(KeyClass::of(algorithm), attribute_values::key_type(algorithm))
}
