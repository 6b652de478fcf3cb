//! The dashboard: what administrators do, for people. Pages are drawn here and need no script.
//!
//! Every page calls the same functions of `management` as the API, a form is read as the JSON that
//! the API would have been sent, and what is wrong with it is shown at its fields. The gate lets
//! nobody in without a session and no form without its token, so a page cannot forget either.
//!
//! Pages are written with `maud`, not as template files of `askama`: a page that is a function is
//! composed of others, and names, types and escaping are checked by the compiler.

mod app;
mod arrival;
mod assets;
mod desk;
mod fault;
mod form;
mod frame;
mod gate;
mod pages;
mod router;
mod session;
mod view;

pub use self::app::{Dashboard, Parts};
pub use self::router::{names, router};
