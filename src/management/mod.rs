//! The use cases of administrators, one function each, for the API, the dashboard and the command
//! line.
//!
//! Every function takes a [`Context`] first. A [`Request`](crate::resource::ResourceRequest) brings the input;
//! all its problems are reported at once. A change and the [`Event`] that records it are committed
//! together.

#![deny(clippy::wildcard_enum_match_arm)]

mod actor;
pub mod api_keys;
mod check;
mod context;
pub mod dangers;
mod error;
mod event;
pub mod events;
mod expected;
pub mod idempotency;
pub mod keys;
mod page;
pub mod policies;
pub mod security;
pub mod services;
mod store;

pub use self::actor::Actor;
pub use self::context::{Change, Context};
pub use self::error::{Error, Missing};
pub use self::event::{Action, Event, Resource, ResourceType};
pub use self::expected::Expected;
pub use self::idempotency::{Claim, IdempotentCall, KeptAnswer, Standing};
pub use self::page::{Cursor, Limit, NotACursor, Page, PageRequest};
