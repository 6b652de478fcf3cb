//! Routes with their OpenAPI descriptions, so that API and document agree.

use axum::Router;
use utoipa::openapi::path::{Operation, Paths};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{PathItem, RefOr, Schema};
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
    pub(super) tags: Vec<Tag>,
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
            tags: Vec::new(),
            paths: Paths::new(),
            schemas: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Begins a part of the API, to which the next routes belong.
    pub(super) fn part(mut self, name: &str, description: &str) -> Self {
        self.tags.push(TagBuilder::new().name(name).description(Some(description)).build());
        self
    }

    /// Adds the handlers that `routes!` collected, at `path`.
    pub(super) fn at(mut self, path: &'static str, handlers: UtoipaMethodRouter<App>) -> Self {
        let (schemas, described, methods) = handlers;
        let items = described.paths.into_values();
        let part = self.tags.last().map(|tag| vec![tag.name.clone()]);
        let items = items.map(|mut item| {
            operations(&mut item).for_each(|operation| operation.tags.clone_from(&part));
            // OpenAPI has no parameter of several segments.
            (path.replace("{*", "{"), item)
        });
        self.router = self.router.route(path, methods);
        self.paths.paths.extend(items);
        self.schemas.extend(schemas);
        self.names.push(path);
        self
    }
}

/// The operations of a path.
pub(super) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
    all.into_iter().flatten()
}
