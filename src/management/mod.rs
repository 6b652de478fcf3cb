//! What administrators do: one use case a function, for the API, the dashboard and the command line
//! alike.
//!
//! Every function takes a [`Context`] first: who acts, when, and on what. Input comes as a
//! [`Proposal`], of which all problems are told at once. A change is committed together with the
//! [`Event`] that records it, or not at all.

pub mod api_keys;
mod check;
mod context;
pub mod dangers;
mod error;
mod event;
pub mod events;
pub mod keys;
mod page;
pub mod policies;
mod proposal;
mod revision;
pub mod services;

pub use self::context::{Actor, Change, Context};
pub use self::error::{Error, Missing};
pub use self::event::{Action, Event, Resource};
pub use self::page::{Cursor, Limit, NotACursor, Page, PageRequest};
pub use self::proposal::{Draft, Member, Proposal, Reader};
pub use self::revision::Expected;
pub use crate::revision::Revision;
