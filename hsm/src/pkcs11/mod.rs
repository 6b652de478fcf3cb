//! The calls into a PKCS#11 module. Every call goes through the one function list that was fetched when the
//! module was loaded: some modules make a new instance for each list, and sessions of one are unknown to
//! the other. A [`Trace`] can record each call.
//!
//! cryptoki supplies the names: attributes, mechanisms, functions and return codes. Its calls are not used,
//! because they parse more of an answer than is needed, so that one odd field hides a whole token, and
//! because they ask for the length of a result before each operation.

#![allow(
    unsafe_code,
    reason = "the functions of a PKCS#11 module are C functions over raw pointers"
)]

#[cfg(test)]
mod disturbance;
mod functions;
mod information;
mod keys;
mod library;
mod objects;
mod operations;
mod session;
mod shape;
mod trace;
mod unfinished;

pub(crate) use functions::CannotLoad;
pub(crate) use information::TokenInfo;
pub(crate) use library::{Library, Slot};
pub(crate) use objects::ObjectHandle;
pub(crate) use session::RawSession;

pub use trace::Trace;
