//! The use cases of administrators, one function each, for the API, the dashboard and the command
//! line.
//!
//! Every function takes an [`Authorized`] context first, which proves that the author has the right to
//! call it. A [`Request`](crate::resource::ResourceRequest) brings the input; all its problems are
//! reported at once. A change and the [`Event`] that records it are committed together.
//!
//! A context without the proof changes and reads nothing:
//!
//! ```compile_fail,E0308
//! use sealward_engine::ids::ServiceId;
//! use sealward_engine::management::{Context, Error, Expected, services};
//!
//! async fn delete(context: &Context, id: ServiceId) -> Result<(), Error> {
//!     services::delete(context, id, &Expected::Any).await
//! }
//! ```
//!
//! One right does not replace another:
//!
//! ```compile_fail,E0308
//! use sealward_engine::ids::ServiceId;
//! use sealward_engine::management::{Authorized, Error, Expected, ManageKeys, services};
//!
//! async fn delete(context: &Authorized<ManageKeys>, id: ServiceId) -> Result<(), Error> {
//!     services::delete(context, id, &Expected::Any).await
//! }
//! ```
//!
//! Only authorization makes a proof:
//!
//! ```compile_fail,E0451
//! use std::marker::PhantomData;
//! use sealward_engine::management::{Authorized, Context, ManageKeys};
//!
//! fn proof(context: Context) -> Authorized<ManageKeys> {
//!     Authorized { context, authority: Default::default(), right: PhantomData }
//! }
//! ```

#![deny(clippy::wildcard_enum_match_arm)]

mod actor;
pub mod api_keys;
mod attested;
mod change;
pub mod changes;
mod check;
mod context;
pub mod dangers;
mod download;
pub mod emergency;
mod error;
mod event;
pub mod events;
mod expected;
pub mod floor;
pub mod idempotency;
pub mod identities;
pub mod keys;
mod page;
pub mod people;
pub mod policies;
mod referrers;
pub mod remaining;
mod resource_type;
mod right;
pub mod security;
pub mod services;
mod store;
mod system;
pub mod taking_away;

pub use self::actor::Actor;
pub(crate) use self::attested::Attested;
pub use self::change::Change;
pub use self::context::Context;
pub use self::error::Error;
pub use self::event::{Action, Event, Resource, ResourceView};
pub use self::expected::Expected;
pub use self::idempotency::{Claim, ClaimState, IdempotentCall, KeptAnswer, KeptOutcome};
pub use self::page::{Cursor, Limit, NotACursor, Page, PageRequest};
use self::referrers::Referrers;
pub use self::resource_type::ResourceType;
pub use self::right::{
    Authorized, FreezeEverything, ManageAdminKeys, ManageApiKeys, ManageIdentities, ManageKeys,
    ManagePeople, ManagePolicies, ReadAudit, ReadPeople, ReadReports, ReadResources, Right,
};
pub(crate) use self::store::insert_event;
pub use self::system::System;
