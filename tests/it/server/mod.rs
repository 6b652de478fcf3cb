//! The service over real connections.

mod deploy;
mod metrics;
mod reload;
mod site;
mod tls;
mod unauthenticated;
