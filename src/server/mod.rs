//! The running service: its parts, background jobs, listeners and shutdown.

#![deny(clippy::wildcard_enum_match_arm)]

mod bodies;
mod connections;
mod framing;
mod front;
mod jobs;
mod listener;
mod metrics;
mod service;
mod stream;
mod timers;
mod tls;

pub use self::connections::{Connections, connections_allowed};
pub use self::front::{Answers, Front};
pub use self::listener::{CannotListen, Listener, listen};
pub use self::service::{CannotStart, Service};
pub use self::timers::Timeouts;
pub use self::tls::{BadTls, Fault, Tls, keep_current};
