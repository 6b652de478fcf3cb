//! The OpenAPI document: the descriptions of the routes, and what all of them have in common.

mod answers;
mod components;
mod examples;
mod extractors;
mod headers;
mod idempotency;
mod open;
mod refusals;

use utoipa::openapi::path::Paths;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ContactBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, ServerBuilder,
};

use self::components::{ADMIN_KEY, APPLICATION_KEY};
use self::open::Roots;
use super::routes::{Access, Routes, operations};

/// The document of the API that `groups` make up.
pub(super) fn document(groups: impl IntoIterator<Item = Routes>) -> OpenApi {
    let mut paths = Paths::new();
    let mut tags = Vec::new();
    let mut components = components::all();
    let mut roots = Roots::default();
    for group in groups {
        components.schemas.extend(group.schemas);
        tags.extend(group.tags);
        for (path, mut item) in group.paths.paths {
            if group.access == Access::Administrator
                && let Some(post) = &mut item.post
            {
                idempotency::add(post);
            }
            for operation in operations(&mut item) {
                operation.security = Some(security(group.access));
                headers::add(operation, group.access);
                refusals::add(operation, group.access, &mut components.responses);
                headers::add_request_id(operation);
                if operation.description.is_none() {
                    operation.description.clone_from(&operation.summary);
                }
                roots.add(operation);
            }
            paths.paths.insert(path, item);
        }
    }
    roots.add_responses(&components.responses);
    roots.open(&mut components.schemas);
    extractors::type_read_only(&mut components.schemas);
    examples::add(&mut components.schemas);
    let info = InfoBuilder::new()
        .title("Sealward")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(include_str!("about.md")))
        .contact(Some(ContactBuilder::new().name(Some("Sealward")).build()))
        .license(Some(
            LicenseBuilder::new().name("Apache License 2.0").identifier(Some("Apache-2.0")).build(),
        ));
    OpenApiBuilder::new()
        .info(info.build())
        .servers(Some([ServerBuilder::new()
            .url("/")
            .description(Some("The installation that serves this document."))
            .build()]))
        .paths(paths)
        .components(Some(components))
        .tags(Some(tags))
        .build()
}

fn security(access: Access) -> Vec<SecurityRequirement> {
    let none: [&str; 0] = [];
    let by = |scheme: &str| SecurityRequirement::new(scheme, none);
    match access {
        Access::Anyone => Vec::new(),
        Access::Caller => vec![by(APPLICATION_KEY), by(ADMIN_KEY)],
        Access::Application => vec![by(APPLICATION_KEY)],
        Access::Administrator => vec![by(ADMIN_KEY)],
    }
}
