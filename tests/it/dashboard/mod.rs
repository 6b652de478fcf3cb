//! The dashboard, tested with requests and with a real browser.

mod access;
mod browser;
mod changes;
mod chromium;
mod emergency;
mod journey;
mod lists;
mod log_reads;
mod markup;
mod pages;
mod remaining;
mod roles;
mod sample;
mod scenes;
mod sealed;
mod single_sign_on;
mod versions;
mod warnings;

pub(crate) use self::browser::Browser;
pub(crate) use self::pages::sample_pages;
