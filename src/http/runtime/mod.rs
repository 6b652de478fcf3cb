//! The runtime API: one endpoint a file. What they have in common is how a request is received and
//! how its answer leaves.

pub(super) mod health;
pub(super) mod operations;
pub(super) mod protect;
mod receive;
mod respond;
mod shape;
pub(super) mod unprotect;
