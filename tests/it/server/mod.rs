//! The service over real connections.

mod reload;
mod site;
mod tls;
