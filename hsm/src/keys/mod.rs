//! Keys in a token: making, reading, adopting and destroying them.

#![deny(clippy::wildcard_enum_match_arm)]

mod adopt;
pub(crate) mod attempts;
pub(crate) mod attributes;
mod destroy;
mod draft;
mod generate;
pub(crate) mod inspect;
mod internal_secret;
mod inventory;
pub(crate) mod public;
mod temporary;
mod usages;

pub(crate) use adopt::adopt;
pub(crate) use destroy::destroy;
pub(crate) use draft::{destroy_same_id, same_id};
pub(crate) use generate::{generate, generate_internal};
pub(crate) use internal_secret::{
    NewSecret, check_is_absent, destroy_internal_secret, internal_secrets,
};
pub(crate) use inventory::inventory;
pub(crate) use temporary::{TemporaryKey, description, temporary};

pub use adopt::{AdoptError, Adopted};
pub use generate::Generated;
pub use inspect::{KeyKind, Weakness};
pub use internal_secret::InternalSecret;
pub use inventory::{FoundKey, Presence, TokenObject};
pub use usages::Usages;
