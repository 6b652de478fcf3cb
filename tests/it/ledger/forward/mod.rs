//! Forwarding of sealed records to collectors.

mod fixture;
mod https;
mod https_collector;
mod instances;
mod killed;
mod retention;
mod rsyslog;
mod shown;
mod syslog;

pub(crate) use self::https_collector::HttpsCollector;
