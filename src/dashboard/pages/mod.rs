//! The pages, one subject a file.

pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod events;
pub(super) mod key_steps;
pub(super) mod keys;
pub(super) mod new_key;
pub(super) mod overview;
pub(super) mod policies;
pub(super) mod policy_state;
pub(super) mod services;
pub(super) mod sign_in;
