//! The dashboard: administration for people. Pages are rendered on the server and need no script.
//!
//! Every page calls the same functions of `management` as the API. A form is converted to the JSON
//! body of the API, and its problems are shown at its fields. `access` requires a session for every
//! page and a form token for every form.
//!
//! Pages are `maud` functions: they compose, and the compiler checks names, types and escaping.

#![deny(clippy::wildcard_enum_match_arm)]

mod access;
mod app;
mod assets;
mod cross_site;
mod error;
mod extract;
mod form;
mod frame;
mod pages;
mod router;
mod session;
mod view;
mod viewer;

pub use self::app::{Dashboard, SharedDashboard};
pub use self::router::{names, router};
