//! Envelopes: JWE in its flattened JSON form, as `FORMAT.md` specifies it.
//!
//! This module is pure: it knows no runtime, no database, no clock, no log and no token. It seals
//! for a public key. Opening has two steps, because the private key is in the token:
//! [`Envelope::parse`] reads the envelope of a client, [`Envelope::for_key`] returns the question
//! to the private key ([`Question`]), and [`Opening::open`] continues with the answer, or without
//! one.
//!
//! Before the question, an envelope is refused with [`Problems`](crate::problem::Problems) that
//! name the malformed members. After it, all cryptographic failures return [`Unopenable`], after
//! the same work.

#![deny(clippy::wildcard_enum_match_arm)]

mod agreement;
mod algorithm;
mod content;
mod context;
mod header;
mod hpke;
mod hybrid;
mod open;
mod parse;
mod public_key;
#[cfg(feature = "service")]
mod schemas;
mod seal;

pub use crate::algorithms::{Curve, Family, OaepHash};
pub use algorithm::{Alg, Enc, HpkeRevision};
pub use context::{Context, ContextTag};
pub use header::HeaderMembers;
pub use open::{Opening, Plaintext, Question, Unopenable};
pub use parse::{Envelope, NotAnEnvelope};
pub use public_key::{PublicKey, UnusableKey};
pub use seal::{Recipient, SealError, seal};
