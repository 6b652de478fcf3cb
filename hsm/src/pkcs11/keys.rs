//! Calls that make keys by a mechanism: generate, unwrap, derive and decapsulate.

use cryptoki::context::Function;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::Attribute;
use cryptoki_sys::{CK_ATTRIBUTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_RV, CK_ULONG};

use super::functions::{function, missing};
use super::objects::{ObjectHandle, pointers};
use super::session::{RawSession, length_of};
use super::shape;
use crate::HsmError;

/// The arguments that every call to make one key has. The pointers are valid during the call; there is room for
/// the number of the key.
struct KeyArguments {
    mechanism: *mut CK_MECHANISM,
    template: *mut CK_ATTRIBUTE,
    attributes: CK_ULONG,
    key: *mut CK_OBJECT_HANDLE,
}

impl RawSession {
    pub(crate) fn generate_key(
        &self,
        by: &Mechanism<'_>,
        template: &[Attribute],
    ) -> Result<ObjectHandle, HsmError> {
        let generate = function!(self.functions, C_GenerateKey, GenerateKey)?;
        let call = |to: KeyArguments| {
            // SAFETY: the arguments are valid.
            unsafe { generate(self.handle, to.mechanism, to.template, to.attributes, to.key) }
        };
        self.make_key(Function::GenerateKey, by, template, String::new, call)
    }

    /// The public and the private key.
    pub(crate) fn generate_key_pair(
        &self,
        by: &Mechanism<'_>,
        public: &[Attribute],
        private: &[Attribute],
    ) -> Result<(ObjectHandle, ObjectHandle), HsmError> {
        let generate = function!(self.functions, C_GenerateKeyPair, GenerateKeyPair)?;
        let mut mechanism = CK_MECHANISM::from(by);
        let (mut publics, mut privates) = (pointers(public), pointers(private));
        let (public_length, private_length) = (length_of(&publics)?, length_of(&privates)?);
        let (mut half, mut key) = (0, 0);
        let began = self.functions.begin();
        // SAFETY: the mechanism and the templates outlive the call; the last arguments have room.
        let code = unsafe {
            generate(
                self.handle,
                &raw mut mechanism,
                publics.as_mut_ptr(),
                public_length,
                privates.as_mut_ptr(),
                private_length,
                &raw mut half,
                &raw mut key,
            )
        };
        self.functions.end(began, Function::GenerateKeyPair, code, || {
            let by = shape::mechanism(&mechanism);
            let (public, private) = (shape::template(public), shape::template(private));
            format!(
                "session={} {by} {public} {private} -> public={half} private={key}",
                self.handle
            )
        })?;
        Ok((ObjectHandle(half), ObjectHandle(key)))
    }

    pub(crate) fn unwrap_key(
        &self,
        by: &Mechanism<'_>,
        with: ObjectHandle,
        wrapped: &[u8],
        template: &[Attribute],
    ) -> Result<ObjectHandle, HsmError> {
        let unwrap = function!(self.functions, C_UnwrapKey, UnwrapKey)?;
        let length = length_of(wrapped)?;
        let call = |to: KeyArguments| {
            // SAFETY: the arguments are valid; the wrapped key has this length and is only read.
            unsafe {
                unwrap(
                    self.handle,
                    to.mechanism,
                    with.0,
                    wrapped.as_ptr().cast_mut(),
                    length,
                    to.template,
                    to.attributes,
                    to.key,
                )
            }
        };
        let shape = || format!(" with={} wrapped[{length}]", with.0);
        self.make_key(Function::UnwrapKey, by, template, shape, call)
    }

    pub(crate) fn derive_key(
        &self,
        by: &Mechanism<'_>,
        from: ObjectHandle,
        template: &[Attribute],
    ) -> Result<ObjectHandle, HsmError> {
        let derive = function!(self.functions, C_DeriveKey, DeriveKey)?;
        let call = |to: KeyArguments| {
            // SAFETY: the arguments are valid.
            unsafe { derive(self.handle, to.mechanism, from.0, to.template, to.attributes, to.key) }
        };
        let shape = || format!(" from={}", from.0);
        self.make_key(Function::DeriveKey, by, template, shape, call)
    }

    pub(crate) fn decapsulate_key(
        &self,
        by: &Mechanism<'_>,
        with: ObjectHandle,
        ciphertext: &[u8],
        template: &[Attribute],
    ) -> Result<ObjectHandle, HsmError> {
        let decapsulate =
            self.functions.decapsulate.ok_or_else(|| missing(Function::DecapsulateKey))?;
        let length = length_of(ciphertext)?;
        let call = |to: KeyArguments| {
            // SAFETY: the arguments are valid; the ciphertext has this length and is only read.
            unsafe {
                decapsulate(
                    self.handle,
                    to.mechanism,
                    with.0,
                    to.template,
                    to.attributes,
                    ciphertext.as_ptr().cast_mut(),
                    length,
                    to.key,
                )
            }
        };
        let shape = || format!(" with={} ciphertext[{length}]", with.0);
        self.make_key(Function::DecapsulateKey, by, template, shape, call)
    }

    /// Makes a key with one call. `shape` shows the arguments that only this call has.
    fn make_key(
        &self,
        name: Function,
        by: &Mechanism<'_>,
        template: &[Attribute],
        shape: impl FnOnce() -> String,
        call: impl FnOnce(KeyArguments) -> CK_RV,
    ) -> Result<ObjectHandle, HsmError> {
        let mut mechanism = CK_MECHANISM::from(by);
        let (mut pointers, mut key) = (pointers(template), 0);
        let arguments = KeyArguments {
            mechanism: &raw mut mechanism,
            attributes: length_of(&pointers)?,
            template: pointers.as_mut_ptr(),
            key: &raw mut key,
        };
        let began = self.functions.begin();
        let code = call(arguments);
        self.functions.end(began, name, code, || {
            let (by, template) = (shape::mechanism(&mechanism), shape::template(template));
            format!("session={} {by}{} {template} -> key={key}", self.handle, shape())
        })?;
        Ok(ObjectHandle(key))
    }
}
