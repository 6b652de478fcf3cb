//! Decrypt, encrypt and sign in two calls each, and read a derived secret in one.
//!
//! cryptoki makes all other calls. For these it would first ask the token for the length of the
//! result, which over a network costs as much as the operation. It would then allocate whatever
//! length the token returned, and abort the process where that fails. The lengths of these results
//! are known beforehand, so a returned length is only compared with the buffer. Secrets are only
//! written to buffers that are wiped.

#![allow(
    unsafe_code,
    reason = "these are C functions over raw pointers, and cryptoki calls them only after \
              asking the token for a length"
)]

use std::ffi::OsStr;
use std::{mem, ptr};

use cryptoki::context::Function;
use cryptoki::error::Rv;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_ATTRIBUTE_PTR, CK_BYTE_PTR, CK_MECHANISM, CK_MECHANISM_PTR, CK_OBJECT_HANDLE,
    CK_RV, CK_SESSION_HANDLE, CK_ULONG, CK_ULONG_PTR, CKA_VALUE, CKR_OK, Pkcs11,
};
use zeroize::Zeroizing;

use crate::HsmError;

/// At least the longest result of an RSA operation.
const BLOCK_ROOM: usize = 2048;
/// At least the longest signature, that of ML-DSA-87.
const SIGNATURE_ROOM: usize = 5120;
/// More than any cipher adds to its input.
const CIPHER_ROOM: usize = 64;

/// The functions of one module that this file calls.
#[derive(Debug)]
pub(super) struct Calls {
    decrypt: OperationCalls,
    encrypt: OperationCalls,
    sign: OperationCalls,
    read: Read,
}

/// The functions that start and finish an operation, with their names.
#[derive(Debug)]
struct OperationCalls {
    begin: (Function, Begin),
    finish: (Function, Finish),
}

type Begin = unsafe extern "C" fn(CK_SESSION_HANDLE, CK_MECHANISM_PTR, CK_OBJECT_HANDLE) -> CK_RV;
type Finish = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    CK_BYTE_PTR,
    CK_ULONG,
    CK_BYTE_PTR,
    CK_ULONG_PTR,
) -> CK_RV;
type Read =
    unsafe extern "C" fn(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, CK_ATTRIBUTE_PTR, CK_ULONG) -> CK_RV;

impl Calls {
    /// The functions of a module that stays loaded; none if one is missing.
    pub(super) fn of(module: &OsStr) -> Option<Self> {
        // SAFETY: the module is loaded already, so this runs no initializers.
        let library = unsafe { Pkcs11::new(module) }.ok()?;
        library.C_GetFunctionList.as_ref().ok()?;
        let mut list = ptr::null_mut();
        // SAFETY: the function exists, and the argument points to room for a pointer.
        let code = unsafe { library.C_GetFunctionList(&raw mut list) };
        if code != CKR_OK || list.is_null() {
            return None;
        }
        // SAFETY: a module's list lives as long as the module and is read-only. It is copied,
        // because not every module aligns it.
        let list = unsafe { list.read_unaligned() };
        Some(Self {
            decrypt: OperationCalls {
                begin: (Function::DecryptInit, list.C_DecryptInit?),
                finish: (Function::Decrypt, list.C_Decrypt?),
            },
            encrypt: OperationCalls {
                begin: (Function::EncryptInit, list.C_EncryptInit?),
                finish: (Function::Encrypt, list.C_Encrypt?),
            },
            sign: OperationCalls {
                begin: (Function::SignInit, list.C_SignInit?),
                finish: (Function::Sign, list.C_Sign?),
            },
            read: list.C_GetAttributeValue?,
        })
    }

    /// No plaintext is longer than its ciphertext, but some tokens want room for a whole block
    /// before they report a bad ciphertext.
    pub(super) fn decrypt(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let room = ciphertext.len().max(BLOCK_ROOM);
        self.decrypt.run(session, by, key, ciphertext, room)
    }

    pub(super) fn encrypt(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        plaintext: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let room = plaintext.len() + CIPHER_ROOM;
        let mut sealed = self.encrypt.run(session, by, key, plaintext, room)?;
        Ok(mem::take(&mut *sealed))
    }

    pub(super) fn sign(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let mut signature = self.sign.run(session, by, key, message, SIGNATURE_ROOM)?;
        Ok(mem::take(&mut *signature))
    }

    /// The value of a readable secret of at most `room` bytes.
    pub(super) fn read_value(
        &self,
        session: &Session,
        secret: ObjectHandle,
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let mut value = Zeroizing::new(vec![0; room]);
        let mut attribute = CK_ATTRIBUTE {
            type_: CKA_VALUE,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: c_length(room)?,
        };
        // SAFETY: one attribute, whose value has `room` bytes; both outlive the call.
        let code = unsafe { (self.read)(session.handle(), secret.handle(), &raw mut attribute, 1) };
        Rv::from(code).into_result(Function::GetAttributeValue)?;
        cut(value, attribute.ulValueLen)
    }
}

impl OperationCalls {
    fn run(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        input: &[u8],
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let mut mechanism = CK_MECHANISM::from(by);
        let (name, begin) = self.begin;
        // SAFETY: the mechanism points into `by`, which outlives both calls.
        let code = unsafe { begin(session.handle(), &raw mut mechanism, key.handle()) };
        Rv::from(code).into_result(name)?;

        let mut output = Zeroizing::new(vec![0; room]);
        let mut length = c_length(room)?;
        let (name, finish) = self.finish;
        // SAFETY: input and output have the lengths that are passed and outlive the call; the
        // input is only read.
        let code = unsafe {
            finish(
                session.handle(),
                input.as_ptr().cast_mut(),
                c_length(input.len())?,
                output.as_mut_ptr(),
                &raw mut length,
            )
        };
        Rv::from(code).into_result(name)?;
        cut(output, length)
    }
}

/// A length as PKCS#11 takes it.
fn c_length(length: usize) -> Result<CK_ULONG, HsmError> {
    CK_ULONG::try_from(length).map_err(|_| HsmError::bad_input("too long for any token"))
}

/// Cuts a result to the length that the token returned.
fn cut(mut result: Zeroizing<Vec<u8>>, returned: CK_ULONG) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    match usize::try_from(returned) {
        Ok(length) if length <= result.len() => {
            result.truncate(length);
            Ok(result)
        }
        _ => Err(HsmError::refused(format!(
            "the token returned a length of {returned} for a buffer of {} bytes",
            result.len()
        ))),
    }
}
