//! A key's life: its states, the choice of keys for each operation, its objects in the token, and
//! how it comes in. The one room that knows both the token and the records of keys.

mod choice;
mod encryptions;
mod import_key;
mod jwk_set;
mod key;
mod proof;
mod reconciler;
mod status;
pub mod store;
mod token_terms;
mod usage;
mod vault;

pub use self::choice::{Keyring, NoKey, Usable};
pub use self::encryptions::{Encryptions, NotCounted};
pub use self::import_key::{ImportKeyRecord, Mechanism};
pub use self::jwk_set::JwkSet;
pub use self::key::{Key, Origin};
pub use self::reconciler::{Comparison, Intended, NotCompared, Orphan};
pub use self::status::{Cause, NoTransition, Status};
pub use self::usage::Usage;
pub use self::vault::{Described, Destiny, Made, NotMade, Vault, Wrapped};
