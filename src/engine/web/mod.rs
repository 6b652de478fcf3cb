//! Request handling that the JSON API and the dashboard share: their state, the client address and
//! certificate, the frame around every handler, and rate limits.

#![deny(clippy::wildcard_enum_match_arm)]

mod arrival;
mod authentication;
mod body;
mod client_address;
mod client_certificate;
mod engine;
mod frame;
mod rate_limit;
mod request_log;

pub use self::arrival::Arrival;
pub use self::authentication::Unauthenticated;
pub use self::body::{UnreadableBody, check_encoding, is_absent, read_body, unread};
pub use self::client_address::{
    ClientAddress, OverTls, RefusedHead, TrustedProxy, Unanswered, client_address,
};
pub use self::client_certificate::{authorization, client_certificate, credentials};
pub use self::engine::Engine;
pub use self::frame::{FrameAdapter, NoResponse, X_REQUEST_ID};
pub use self::rate_limit::write_rate_limit;
pub use self::request_log::{Cause, LoggedCaller};
