//! The service as it runs: its parts put together, its jobs, its listeners, its end.

mod listener;
mod metrics;
mod service;
mod tls;

pub use self::listener::{CannotListen, Listener, listen};
pub use self::service::Service;
pub use self::tls::{BadTls, Fault, Tls, keep_current};
