//! Routes with their OpenAPI descriptions, so that API and document agree.

use axum::Router;
use utoipa::openapi::path::Paths;
use utoipa::openapi::{RefOr, Schema};
use utoipa_axum::router::UtoipaMethodRouter;

use super::app::App;

/// Who may call a group of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Everyone, without authentication.
    Anyone,
    /// Every API key, of any type.
    Caller,
    /// Applications.
    Application,
    /// Administrators.
    Administrator,
}

/// Routes with the same permitted callers.
pub(super) struct Routes {
    pub(super) access: Access,
    pub(super) router: Router<App>,
    pub(super) paths: Paths,
    pub(super) schemas: Vec<(String, RefOr<Schema>)>,
    pub(super) names: Vec<&'static str>,
}

impl Routes {
    /// An empty group.
    pub(super) fn of(access: Access) -> Self {
        Self {
            access,
            router: Router::new(),
            paths: Paths::new(),
            schemas: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Adds the handlers that `routes!` collected, at `path`.
    pub(super) fn at(mut self, path: &'static str, handlers: UtoipaMethodRouter<App>) -> Self {
        let (schemas, described, methods) = handlers;
        let items = described.paths.into_values();
        // OpenAPI has no parameter of several segments.
        let items = items.map(|item| (path.replace("{*", "{"), item));
        self.router = self.router.route(path, methods);
        self.paths.paths.extend(items);
        self.schemas.extend(schemas);
        self.names.push(path);
        self
    }
}
