//! Verification of a log against signed checkpoints, from an export, from tiles, from a database, or of
//! one record with its proof. All but the database need neither a token nor a network.

mod anchored;
mod checker;
mod database;
mod export;
mod finding;
mod record;
mod span;
mod tiles;
mod trust;

pub use self::anchored::anchored;
pub use self::checker::{Progress, VerifiedLog};
pub use self::database::database;
pub use self::export::export;
pub use self::finding::{Change, Finding, Findings, NotVerified};
pub use self::record::record;
pub use self::tiles::{TileFolder, tiles};
pub use self::trust::Trust;
