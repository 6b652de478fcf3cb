//! The management API: one resource a file, what their handlers share beside them.

mod answer;
pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod events;
mod extract;
mod filters;
pub(super) mod keys;
pub(super) mod policies;
pub(super) mod services;

pub(super) use self::answer::{Created, CreatedWithoutPath, Current, List, NoContent, Replayed};
pub(super) use self::audit::Trail;
pub(super) use self::extract::{Address, CreateBody, IfMatch, PathId, UpdateBody};
