//! Decrypting, encrypting and signing: one call to begin and one to do it; and reading the value
//! of a derived secret in one.
//!
//! Everything else of PKCS#11 is left to cryptoki. Here it would ask the token each time how long
//! the result will be, which behind a network costs as much as the operation itself, then make
//! room for whatever was answered, and end the process where there is no such room. The lengths of
//! these results are known beforehand: what a token says of them is only held against the room
//! that it had. And what is secret never lies in a buffer that nobody wipes.

#![allow(
    unsafe_code,
    reason = "these are C functions over raw pointers, and cryptoki offers them only with a \
              length asked of the token"
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

/// As much as an RSA operation gives with the longest key there is.
const BLOCK_ROOM: usize = 2048;
/// More than any cipher adds.
const CIPHER_ROOM: usize = 64;

/// The functions of one module that are called here.
#[derive(Debug)]
pub(crate) struct Calls {
    decrypt: Operation,
    encrypt: Operation,
    sign: Operation,
    read: Read,
}

/// A function that begins and one that does it, each with its name.
#[derive(Debug)]
struct Operation {
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
    /// The functions of a module that is loaded and stays so. None where it lacks one of them.
    pub(crate) fn of(module: &OsStr) -> Option<Self> {
        // SAFETY: it is loaded, so this runs no initializers.
        let library = unsafe { Pkcs11::new(module) }.ok()?;
        library.C_GetFunctionList.as_ref().ok()?;
        let mut list = ptr::null_mut();
        // SAFETY: the function is there, and the argument is where a pointer fits.
        let code = unsafe { library.C_GetFunctionList(&raw mut list) };
        if code != CKR_OK || list.is_null() {
            return None;
        }
        // SAFETY: a module's list is there for as long as the module, and may be read by anybody.
        // It is copied, because not every module aligns it.
        let list = unsafe { list.read_unaligned() };
        Some(Self {
            decrypt: Operation {
                begin: (Function::DecryptInit, list.C_DecryptInit?),
                finish: (Function::Decrypt, list.C_Decrypt?),
            },
            encrypt: Operation {
                begin: (Function::EncryptInit, list.C_EncryptInit?),
                finish: (Function::Encrypt, list.C_Encrypt?),
            },
            sign: Operation {
                begin: (Function::SignInit, list.C_SignInit?),
                finish: (Function::Sign, list.C_Sign?),
            },
            read: list.C_GetAttributeValue?,
        })
    }

    /// No plaintext is longer than its ciphertext; but some tokens want room for a whole block,
    /// before they say that the ciphertext is none.
    pub(crate) fn decrypt(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let room = ciphertext.len().max(BLOCK_ROOM);
        self.decrypt.run(session, by, key, ciphertext, room)
    }

    pub(crate) fn encrypt(
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

    pub(crate) fn sign(
        &self,
        session: &Session,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let mut signature = self.sign.run(session, by, key, message, BLOCK_ROOM)?;
        Ok(mem::take(&mut *signature))
    }

    /// The value of a secret of at most so many bytes that may be read.
    pub(crate) fn read_value(
        &self,
        session: &Session,
        secret: ObjectHandle,
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let mut value = Zeroizing::new(vec![0; room]);
        let mut attribute = CK_ATTRIBUTE {
            type_: CKA_VALUE,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: said(room)?,
        };
        // SAFETY: one attribute, whose value has the room it says; both outlive the call.
        let code = unsafe { (self.read)(session.handle(), secret.handle(), &raw mut attribute, 1) };
        Rv::from(code).into_result(Function::GetAttributeValue)?;
        cut(value, attribute.ulValueLen)
    }
}

impl Operation {
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
        // SAFETY: the mechanism points into `by`, which outlives both calls, as PKCS#11 wants it.
        let code = unsafe { begin(session.handle(), &raw mut mechanism, key.handle()) };
        Rv::from(code).into_result(name)?;

        let mut output = Zeroizing::new(vec![0; room]);
        let mut length = said(room)?;
        let (name, finish) = self.finish;
        // SAFETY: the input is as long as is said and only read; the output has the room that is
        // said. Both outlive the call.
        let code = unsafe {
            finish(
                session.handle(),
                input.as_ptr().cast_mut(),
                said(input.len())?,
                output.as_mut_ptr(),
                &raw mut length,
            )
        };
        Rv::from(code).into_result(name)?;
        cut(output, length)
    }
}

/// A length as the token is told it.
fn said(length: usize) -> Result<CK_ULONG, HsmError> {
    CK_ULONG::try_from(length).map_err(|_| HsmError::bad_input("too long for any token"))
}

/// Cuts a result to the length the token told.
fn cut(mut result: Zeroizing<Vec<u8>>, told: CK_ULONG) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    match usize::try_from(told) {
        Ok(length) if length <= result.len() => {
            result.truncate(length);
            Ok(result)
        }
        _ => Err(HsmError::refused(format!(
            "the token says that its result has {told} bytes, and had room for {}",
            result.len()
        ))),
    }
}
