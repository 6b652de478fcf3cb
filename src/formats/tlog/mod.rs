//! Transparency logs: the Merkle trees of RFC 6962 and RFC 9162, and the formats of C2SP.
//!
//! It has tree hashes, proofs of inclusion and consistency, tiles (`tlog-tiles`), signed notes
//! (`signed-note`), checkpoints (`tlog-checkpoint`) and proofs as text (`tlog-proof`). This module is
//! pure: it knows no database, token, clock or log, and not what the entries mean.

#![deny(clippy::wildcard_enum_match_arm)]

mod bundle;
mod checkpoint;
mod cosigned;
mod hash;
mod key;
mod note;
mod open;
mod proof;
mod proof_text;
mod range;
mod tile;
mod tiles;
mod tree;

pub use self::bundle::{InvalidBundle, append_entry, entries_of_bundle};
pub use self::checkpoint::{Checkpoint, InvalidCheckpoint};
pub use self::cosigned::cosigned_message;
pub use self::hash::{Hash, NotAHash};
pub use self::key::{InvalidKey, SignatureKind, VerifierKey};
pub use self::note::{InvalidNote, Note, Signature};
pub use self::proof::{InvalidProof, verify_consistency, verify_inclusion};
pub use self::proof_text::{InvalidProofText, ProofText};
pub use self::range::{consistency, inclusion};
pub use self::tile::{InvalidPath, TILE_WIDTH, Tile, TileContent};
pub use self::tiles::{MissingTile, TileSet};
pub use self::tree::{Node, Tree};

#[cfg(test)]
mod tests;
