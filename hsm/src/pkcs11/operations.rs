//! Decrypt, encrypt and sign in two calls each, and read a derived secret in one.
//!
//! A call that asks for the length of the result would cost as much over a network as the operation, and
//! memory would be allocated for whatever length the token returned. The lengths of these results are
//! known beforehand, so a returned length is only compared with the buffer. Secrets are only written to
//! buffers that are wiped.

use std::mem;

use cryptoki::context::Function;
use cryptoki::mechanism::Mechanism;
use cryptoki_sys::{
    CK_ATTRIBUTE, CK_BYTE_PTR, CK_MECHANISM, CK_MECHANISM_PTR, CK_OBJECT_HANDLE, CK_RV,
    CK_SESSION_HANDLE, CK_ULONG, CK_ULONG_PTR, CKA_VALUE,
};
use zeroize::Zeroizing;

use super::functions::function;
use super::objects::ObjectHandle;
use super::session::{RawSession, length_of};
use super::shape;
use super::unfinished::Unfinished;
use crate::HsmError;

/// At least the longest result of an RSA operation.
const BLOCK_ROOM: usize = 2048;
/// At least the longest signature, that of ML-DSA-87.
const SIGNATURE_ROOM: usize = 5120;
/// More than any cipher adds to its input.
const CIPHER_ROOM: usize = 64;

/// The functions that start and finish an operation, with their names.
struct OperationCalls {
    begin: (Function, Begin),
    finish: (Function, Finish),
    end: Unfinished,
}

type Begin = unsafe extern "C" fn(CK_SESSION_HANDLE, CK_MECHANISM_PTR, CK_OBJECT_HANDLE) -> CK_RV;
type Finish = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    CK_BYTE_PTR,
    CK_ULONG,
    CK_BYTE_PTR,
    CK_ULONG_PTR,
) -> CK_RV;

impl RawSession {
    /// No plaintext is longer than its ciphertext, but some tokens want room for a whole block
    /// before they report a bad ciphertext.
    pub(crate) fn decrypt(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let calls = OperationCalls {
            begin: (Function::DecryptInit, function!(self.functions, C_DecryptInit, DecryptInit)?),
            finish: (Function::Decrypt, function!(self.functions, C_Decrypt, Decrypt)?),
            end: Unfinished {
                name: Function::DecryptFinal,
                end: self.functions.list.C_DecryptFinal,
            },
        };
        self.run(&calls, by, key, ciphertext, ciphertext.len().max(BLOCK_ROOM))
    }

    pub(crate) fn encrypt(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        plaintext: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let calls = OperationCalls {
            begin: (Function::EncryptInit, function!(self.functions, C_EncryptInit, EncryptInit)?),
            finish: (Function::Encrypt, function!(self.functions, C_Encrypt, Encrypt)?),
            end: Unfinished {
                name: Function::EncryptFinal,
                end: self.functions.list.C_EncryptFinal,
            },
        };
        let mut sealed = self.run(&calls, by, key, plaintext, plaintext.len() + CIPHER_ROOM)?;
        Ok(mem::take(&mut *sealed))
    }

    pub(crate) fn sign(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        let calls = OperationCalls {
            begin: (Function::SignInit, function!(self.functions, C_SignInit, SignInit)?),
            finish: (Function::Sign, function!(self.functions, C_Sign, Sign)?),
            end: Unfinished { name: Function::SignFinal, end: self.functions.list.C_SignFinal },
        };
        let mut signature = self.run(&calls, by, key, message, SIGNATURE_ROOM)?;
        Ok(mem::take(&mut *signature))
    }

    /// The value of a readable secret of at most `room` bytes.
    pub(crate) fn read_value(
        &self,
        secret: ObjectHandle,
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let get = function!(self.functions, C_GetAttributeValue, GetAttributeValue)?;
        let mut value = Zeroizing::new(vec![0; room]);
        let mut attribute = CK_ATTRIBUTE {
            type_: CKA_VALUE,
            pValue: value.as_mut_ptr().cast(),
            ulValueLen: length_of(&value)?,
        };
        let began = self.functions.begin();
        // SAFETY: one attribute, whose value has `room` bytes; both outlive the call.
        let code = unsafe { get(self.handle, secret.0, &raw mut attribute, 1) };
        self.functions.end(began, Function::GetAttributeValue, code, || {
            let read = shape::read(&[attribute], &[]);
            format!("session={} object={} -> {read}", self.handle, secret.0)
        })?;
        cut(value, attribute.ulValueLen)
    }

    fn run(
        &self,
        calls: &OperationCalls,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        input: &[u8],
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        let mut mechanism = CK_MECHANISM::from(by);
        let (name, begin) = calls.begin;
        let began = self.functions.begin();
        // SAFETY: the mechanism points into `by`, which outlives both calls.
        let code = unsafe { begin(self.handle, &raw mut mechanism, key.0) };
        self.functions.end(began, name, code, || {
            format!("session={} {} key={}", self.handle, shape::mechanism(&mechanism), key.0)
        })?;
        self.unfinished.set(None);

        let mut output = Zeroizing::new(vec![0; room]);
        let (input_length, mut length) = (length_of(input)?, length_of(&output)?);
        let (name, finish) = calls.finish;
        let began = self.functions.begin();
        // SAFETY: input and output have the lengths that are passed and outlive the call; the
        // input is only read.
        let code = unsafe {
            finish(
                self.handle,
                input.as_ptr().cast_mut(),
                input_length,
                output.as_mut_ptr(),
                &raw mut length,
            )
        };
        let finished = self.functions.end(began, name, code, || {
            format!("session={} input[{input_length}] room={room} -> [{length}]", self.handle)
        });
        if finished.is_err() {
            self.unfinished.set(Some(calls.end));
        }
        finished?;
        cut(output, length)
    }
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
