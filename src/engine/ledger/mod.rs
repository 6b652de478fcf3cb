//! The Merkle logs of the audit records, so that changes of records can be proven.
//!
//! The sealer of one instance gives each committed record a position in its log, and then signs
//! checkpoints with a key in the token. Nothing here is on the path of a request. [`verify`] checks the
//! records against checkpoints.

#![deny(clippy::wildcard_enum_match_arm)]

mod anchor;
mod distributor;
mod export;
mod foreign;
pub mod forward;
mod head;
mod init;
mod key;
mod own_keys;
mod positioned;
mod prove;
mod proven_events;
mod published;
mod read;
mod records;
mod retired;
mod seal_error;
mod sealed_rows;
mod sealer;
mod status;
mod store;
mod sweep;
mod take_back;
mod tree;
pub mod verify;
mod witness;

pub use self::anchor::AnchorError;
pub use self::export::Export;
pub(crate) use self::foreign::foreign_segments;
pub use self::foreign::has_accepted;
pub use self::init::{InitError, Initialized, Renewal, initialize};
pub use self::own_keys::own_keys;
pub use self::prove::{Proof, ProofError, prove};
pub(crate) use self::proven_events::{
    EventProof, is_initialized, last_attesting, proven_events, sealed_states,
};
pub use self::published::PublishedLogs;
pub(crate) use self::read::{Coverage, coverage};
pub use self::read::{checkpoint, keys, tile};
pub use self::seal_error::SealError;
pub(crate) use self::sealed_rows::{LogCosigner, LogKey, LogOrigin};
pub use self::sealer::Sealer;
pub use self::status::{LogStatus, SealState, SealStatus, WitnessStatus};
pub use self::take_back::take_back;
pub use self::witness::InvalidWitness;
pub use crate::segments::{Log, NotARecord, leaf};
