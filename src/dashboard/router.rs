//! Every page on one page.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::app::Dashboard;
use super::fault::Fault;
use super::pages::{api_keys, audit, events, keys, overview, policies, services, sign_in};
use super::{assets, frame, gate};

/// The whole dashboard, all of it under `/dashboard`.
pub fn router(dashboard: Dashboard) -> Router {
    let signed_in = from_fn_with_state(dashboard.clone(), gate::signed_in_only);
    let visitors = from_fn_with_state(dashboard.clone(), gate::visitors);
    Router::new()
        .route("/dashboard", get(overview::show))
        .route(
            "/dashboard/services",
            get(services::list).post(services::form::create),
        )
        .route("/dashboard/services/new", get(services::form::new))
        .route("/dashboard/services/{id}", get(services::show))
        .route(
            "/dashboard/services/{id}/edit",
            get(services::form::edit).post(services::form::update),
        )
        .route(
            "/dashboard/services/{id}/delete",
            get(services::deletion::ask).post(services::deletion::delete),
        )
        .route(
            "/dashboard/policies",
            get(policies::list).post(policies::form::create),
        )
        .route("/dashboard/policies/new", get(policies::form::new))
        .route("/dashboard/policies/{id}", get(policies::show))
        .route(
            "/dashboard/policies/{id}/edit",
            get(policies::form::edit).post(policies::form::update),
        )
        .route(
            "/dashboard/policies/{id}/state",
            get(policies::state::confirm).post(policies::state::change),
        )
        .route(
            "/dashboard/policies/{id}/delete",
            get(policies::deletion::ask).post(policies::deletion::delete),
        )
        .route("/dashboard/keys", get(keys::list).post(keys::new::create))
        .route("/dashboard/keys/new", get(keys::new::generate))
        .route("/dashboard/keys/import", get(keys::new::import))
        .route(
            "/dashboard/keys/import-parameters",
            post(keys::new::wrapping::prepare),
        )
        .route("/dashboard/keys/{id}", get(keys::show))
        .route(
            "/dashboard/keys/{id}/edit",
            get(keys::form::edit).post(keys::form::update),
        )
        .route(
            "/dashboard/keys/{id}/{step}",
            get(keys::steps::confirm).post(keys::steps::take),
        )
        .route(
            "/dashboard/api-keys",
            get(api_keys::list).post(api_keys::form::create),
        )
        .route("/dashboard/api-keys/new", get(api_keys::form::new))
        .route("/dashboard/api-keys/{id}", get(api_keys::show))
        .route(
            "/dashboard/api-keys/{id}/edit",
            get(api_keys::form::edit).post(api_keys::form::update),
        )
        .route(
            "/dashboard/api-keys/{id}/revoke",
            get(api_keys::revocation::ask).post(api_keys::revocation::revoke),
        )
        .route("/dashboard/audit", get(audit::list))
        .route("/dashboard/audit/export.csv", get(audit::export_csv))
        .route("/dashboard/audit/export.ndjson", get(audit::export_ndjson))
        .route("/dashboard/audit/{id}", get(audit::show))
        .route("/dashboard/events", get(events::list))
        .route("/dashboard/events/{id}", get(events::show))
        .route("/dashboard/sign-out", post(sign_in::leave))
        .route("/dashboard/{*unknown}", get(async || Fault::NotFound))
        .route_layer(signed_in)
        .merge(
            Router::new()
                .route("/dashboard/sign-in", get(sign_in::ask).post(sign_in::enter))
                .route_layer(visitors),
        )
        .route("/dashboard/style.css", get(assets::style))
        .route("/dashboard/icon.svg", get(assets::icon))
        .layer(CatchPanicLayer::custom(frame::panicked))
        .layer(from_fn_with_state(dashboard.clone(), frame::frame))
        .with_state(dashboard)
}
