//! Envelopes: JWE in its flattened JSON form, as `FORMAT.md` specifies it.
//!
//! This room is pure: it knows no runtime, no database, no clock, no log and no token. It seals for
//! a public key by itself. Opening is in two halves, because the private key is elsewhere:
//! [`Envelope::parse`] reads what a client sent, [`Envelope::for_key`] says what to ask of the
//! private key ([`Question`]), and [`Opening::open`] goes on with the answer, or with its absence.
//!
//! Before the question, an envelope is refused with [`Problems`](crate::problem::Problems) that name
//! what is malformed. After it there is only [`Unopenable`]: whatever fails cryptographically is one
//! error, after the same work.

#![deny(clippy::wildcard_enum_match_arm)]

mod agreement;
mod algorithm;
mod content;
mod context;
mod header;
mod open;
mod parse;
mod public_key;
mod seal;

pub use crate::algorithms::{Curve, Family, OaepHash};
pub use algorithm::{Alg, Enc};
pub use context::{Context, ContextTag};
pub use header::HeaderMembers;
pub use open::{Opening, Plaintext, Question, Unopenable};
pub use parse::{Envelope, NotAnEnvelope};
pub use public_key::{PublicKey, UnusableKey};
pub use seal::{Recipient, SealError, seal};
