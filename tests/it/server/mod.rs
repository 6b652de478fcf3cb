//! The service over real connections.

mod deploy;
mod long_work;
mod metrics;
mod reload;
mod site;
mod tls;
mod unauthenticated;
