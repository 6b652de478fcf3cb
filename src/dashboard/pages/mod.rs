//! The pages: one folder or file per subject.

pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod changes;
pub(super) mod emergency;
pub(super) mod events;
pub(super) mod form;
pub(super) mod forwarding;
pub(super) mod identities;
pub(super) mod keys;
pub(super) mod overview;
pub(super) mod people;
pub(super) mod policies;
pub(super) mod removal;
mod sealed;
pub(super) mod services;
pub(super) mod sign_in;
