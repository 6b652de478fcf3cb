//! The service over real connections.

mod deploy;
mod http_2;
mod long_work;
mod metrics;
mod reload;
mod site;
mod slow_readers;
mod tls;
mod unauthenticated;
mod unread_bodies;
