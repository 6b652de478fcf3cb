//! Opening the sessions of a token, checking them, and the breaker that follows from the checks.

#![deny(clippy::wildcard_enum_match_arm)]

mod breaker;
mod check;
mod open;

pub(crate) use breaker::Breaker;
pub(crate) use check::{CanaryFailure, bring_back, check};
pub(crate) use open::open;
