//! The API of the Transit engine of Vault and OpenBao, so that their clients use keys of this service.
//!
//! `route` is its table of contents. Each request becomes calls of `engine`, and its result an answer in the
//! form that these clients read. Nothing here decides who may do what.

#![deny(clippy::wildcard_enum_match_arm)]

mod body;
mod caller;
mod data;
mod dispatch;
mod envelope;
mod errors;
mod frame;
mod held;
mod key_type;
mod keys;
mod operation;
mod random;
mod route;
mod session;
mod state;
mod system;
mod text;

pub use self::dispatch::TransitApi;
pub use self::errors::status_of;
pub use self::held::HeldRefusals;
pub use self::route::templates;
pub use self::state::Transit;
