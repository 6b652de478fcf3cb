//! The person behind a request, signed in or not.

use super::session::Secret;
use engine::auth::Administrator;

/// The field of every form that carries the form token of its browser.
pub(super) const TOKEN: &str = "form-token";

/// An administrator who is signed in.
#[derive(Clone, Debug)]
pub(super) struct Viewer {
    pub(super) administrator: Administrator,
    pub(super) secret: Secret,
}

/// A browser that is not signed in.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) secret: Secret,
}
