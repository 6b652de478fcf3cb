//! The service as it runs: its parts put together, its jobs, its listeners, its end.

mod listener;
mod service;

pub use self::listener::{CannotListen, Listener, listen};
pub use self::service::Service;
