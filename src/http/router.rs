//! The route table.

use std::sync::LazyLock;

use axum::Router;
use axum::middleware::from_fn_with_state;
use utoipa::openapi::OpenApi;
use utoipa_axum::routes;

use super::admin::{
    api_keys, audit, audit_log, changes, emergency, events, identities, keys, people, policies,
    reports, services,
};
use super::app::App;
use super::error::ApiError;
use super::routes::{Access, Routes};
use super::runtime::{self, batch, data_keys, health, operations, protect, rewrap, unprotect};
use super::{caller, discovery, idempotency, openapi, probes, published_log};

/// The whole API, without its frame.
pub(super) fn router(app: App) -> Router {
    let routers = ROUTED.each_ref().map(|(router, _)| router.clone());
    let [health, runtime, administration, open] = routers;
    let administrators = from_fn_with_state(app.clone(), caller::administrators_only);
    let idempotent = from_fn_with_state(app.clone(), idempotency::idempotent);
    Router::new()
        .merge(open)
        .merge(runtime)
        .merge(health)
        .merge(administration.route_layer(idempotent).route_layer(administrators))
        .fallback(async || ApiError::NotFound)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app)
}

/// The paths of all routes, each once.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROUTED.iter().flat_map(|(_, names)| names.iter().copied())
}

/// The OpenAPI document of all routes.
pub fn document() -> OpenApi {
    openapi::document(groups())
}

/// All routes with their paths, without descriptions, which use much memory.
static ROUTED: LazyLock<[(Router<App>, Vec<&'static str>); 4]> =
    LazyLock::new(|| groups().map(|group| (group.router, group.names)));

/// All routes, grouped by permitted callers.
fn groups() -> [Routes; 4] {
    let health = Routes::of(Access::Caller)
        .part("Health", "The state of the service.")
        .at("/api/v1/health", routes!(health::health));

    let runtime = Routes::of(Access::Application)
        .part("Runtime", "Cryptographic operations for applications.")
        .at("/api/v1/protect", routes!(protect::protect))
        .at("/api/v1/unprotect", routes!(unprotect::unprotect))
        .at("/api/v1/rewrap", routes!(rewrap::rewrap))
        .at("/api/v1/protect/batch", routes!(batch::protect))
        .at("/api/v1/unprotect/batch", routes!(batch::unprotect))
        .at("/api/v1/rewrap/batch", routes!(batch::rewrap))
        .at("/api/v1/data-keys", routes!(data_keys::make))
        .at("/api/v1/operations", routes!(operations::operate))
        .at("/api/v1/caller", routes!(runtime::caller::read))
        .at("/api/v1/policies/{policyNumber}", routes!(runtime::policy::read));

    let administration = Routes::of(Access::Administrator)
        .part("Services", "Applications that protect data, and destinations.")
        .at("/admin/services", routes!(services::list, services::create))
        .at(
            "/admin/services/{id}",
            routes!(services::read, services::update, services::patch, services::delete),
        )
        .part("Policies", "Rules for protecting payloads.")
        .at("/admin/policies", routes!(policies::list, policies::create))
        .at(
            "/admin/policies/{id}",
            routes!(policies::read, policies::update, policies::patch, policies::delete),
        )
        .at("/admin/policies/{id}/restore", routes!(policies::restore))
        .part("Keys", "Cryptographic keys.")
        .at("/admin/keys", routes!(keys::list, keys::create))
        .at("/admin/keys/import-parameters", routes!(keys::import_parameters))
        .at("/admin/keys/{id}", routes!(keys::read, keys::update, keys::patch, keys::delete))
        .part("API keys", "Credentials.")
        .at("/admin/api-keys", routes!(api_keys::list, api_keys::create))
        .at(
            "/admin/api-keys/{id}",
            routes!(api_keys::read, api_keys::update, api_keys::patch, api_keys::revoke),
        )
        .part("People", "People who administer, and their locks.")
        .at("/admin/people", routes!(people::list, people::lock_unseen))
        .at("/admin/people/{id}", routes!(people::read))
        .at("/admin/people/{id}/lock", routes!(people::lock))
        .at("/admin/people/{id}/unlock", routes!(people::unlock))
        .part("Changes", "Changes that need the approval of other people.")
        .at("/admin/changes", routes!(changes::list))
        .at("/admin/changes/{id}", routes!(changes::read, changes::withdraw))
        .at("/admin/changes/{id}/approve", routes!(changes::approve))
        .at("/admin/changes/{id}/reject", routes!(changes::reject))
        .part("Workload identities", "Workloads that authenticate with tokens.")
        .at("/admin/identities", routes!(identities::list, identities::create))
        .at(
            "/admin/identities/{id}",
            routes!(identities::read, identities::update, identities::patch, identities::delete),
        )
        .part("Emergency", "The switch that freezes everything.")
        .at("/admin/emergency", routes!(emergency::read))
        .at("/admin/emergency/freeze", routes!(emergency::freeze))
        .at("/admin/emergency/unfreeze", routes!(emergency::unfreeze))
        .part("Audit", "The audit log.")
        .at("/admin/audit", routes!(audit::list))
        .at("/admin/audit/management", routes!(events::list))
        .at("/admin/audit/log/{log}/checkpoint", routes!(audit_log::checkpoint))
        .at("/admin/audit/log/{log}/key", routes!(audit_log::key))
        .at("/admin/audit/log/{log}/tile/{*path}", routes!(audit_log::tile))
        .at("/admin/audit/{id}/proof", routes!(audit_log::proof))
        .part("Reports", "Signed reports for auditors.")
        .at("/admin/reports/keys", routes!(reports::keys))
        .at("/admin/reports/cbom", routes!(reports::cbom))
        .at("/admin/reports/jwks", routes!(reports::jwks));

    let open = Routes::of(Access::Anyone)
        .part("Published audit logs", "Checkpoints and hashes of the audit logs.")
        .at("/audit/log/{log}/checkpoint", routes!(published_log::checkpoint))
        .at("/audit/log/{log}/tile/{*path}", routes!(published_log::tile))
        .part("Discovery", "Published keys and this document.")
        .at("/.well-known/jwks/{serviceId}", routes!(discovery::jwks))
        .at("/openapi.json", routes!(discovery::openapi))
        .part("Probes", "Probes for load balancers and orchestrators.")
        .at("/livez", routes!(probes::live))
        .at("/readyz", routes!(probes::ready));

    [health, runtime, administration, open]
}
