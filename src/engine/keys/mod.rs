//! Keys: their states, their choice and use, their objects in the token, and their import. Only
//! this module uses both the token and the records of keys.

#![deny(clippy::wildcard_enum_match_arm)]

mod canary;
mod choice;
mod comparison;
mod default_key;
mod encryptions;
mod expiry;
mod import_key;
mod jwk_set;
mod key;
mod keyring;
mod legacy_uses;
mod permitted;
mod private_half;
mod public_keys;
mod question;
mod reconciler;
mod refused_pins;
mod rotation;
mod status;
pub(crate) mod store;
mod succession;
mod transit_name;
mod usable;
mod usage;
mod vault;
mod verify;
mod version;
mod versions;

pub use self::canary::{Canary, NotProven};
pub use self::choice::NoKey;
pub use self::comparison::{Comparison, Intended, Orphan};
pub(crate) use self::default_key::DefaultKey;
pub use self::encryptions::{Encryptions, NotCounted};
pub use self::expiry::{Expiring, Expiry};
pub use self::import_key::ImportKeyRecord;
pub use self::jwk_set::{JwkSet, PublishedJwk};
pub use self::key::{Key, KeyOrigin, KeyUpdate, Made};
pub use self::keyring::Keyring;
use self::legacy_uses::LegacyUses;
pub use self::permitted::{KeyError, NotOpened, Opener, PermittedKey};
pub use self::private_half::PrivateHalf;
pub use self::public_keys::{PUBLIC_KEY_PARTS, watch_public_keys};
pub use self::reconciler::NotCompared;
pub use self::refused_pins::RefusedPins;
pub use self::rotation::RotationDays;
pub use self::status::{Cause, KeyStatus, NoTransition};
pub use self::transit_name::is_transit_name;
pub use self::usage::Usage;
pub(crate) use self::vault::COMPARE_EVERY;
pub use self::vault::{Assignment, DescribedKey, UnrecordedKey, Vault, VaultError, Wrapped};
pub use self::verify::SignatureInput;
pub use self::version::KeyVersion;
pub use self::versions::Versions;
