//! The management API: one resource a file, what their handlers share beside them.

mod answer;
pub(super) mod api_keys;
pub(super) mod audit;
mod desk;
pub(super) mod events;
mod filters;
pub(super) mod keys;
pub(super) mod policies;
pub(super) mod services;

pub(super) use self::answer::{Created, Current, Gone, Listed, Made};
pub(super) use self::audit::Trail;
pub(super) use self::desk::{Address, Addressed, IfMatch, ToCreate, ToUpdate};
