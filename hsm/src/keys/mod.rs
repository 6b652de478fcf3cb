//! Keys in a token: how they are named, made, looked at and destroyed.

mod adopt;
mod algorithm;
mod destroy;
mod draft;
mod generate;
pub(crate) mod inspect;
mod name;
mod object;
pub(crate) mod public;
pub(crate) mod template;
mod temporary;

pub(crate) use adopt::adopt;
pub(crate) use destroy::destroy;
pub(crate) use draft::bond;
pub(crate) use generate::{generate, own, same_id};
pub(crate) use object::inventory;
pub(crate) use temporary::{TemporaryKey, temporary, temporary_bound};

pub use adopt::{AdoptError, Adopted, Weakness};
pub use algorithm::{Curve, KeyAlgorithm, PublicKey, Purpose};
pub use name::{KeyClass, KeyName, KeyRef};
pub use object::{FoundKey, GenerateKey, Generated, KeyKind, Presence, TokenObject, Usages};
