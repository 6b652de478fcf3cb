//! The route table of the dashboard.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use super::app::SharedDashboard;
use super::error::PageError;
use super::pages::{
    api_keys, audit, changes, emergency, events, form, identities, keys, overview, people,
    policies, removal, services, sign_in,
};
use super::{access, assets, frame};
use engine::keys::Key;
use engine::management::api_keys::ApiKey;
use engine::management::identities::WorkloadIdentity;
use engine::management::policies::Policy;
use engine::management::services::Service;

/// The whole dashboard, all of it under `/dashboard`.
pub fn router(dashboard: SharedDashboard) -> Router {
    let signed_in = from_fn_with_state(dashboard.clone(), access::signed_in_only);
    let visitors = from_fn_with_state(dashboard.clone(), access::visitors);
    let [administration, entrance, machines, files] = groups().map(|group| group.router);
    administration
        .route("/dashboard/{*unknown}", get(async || PageError::NotFound))
        .route_layer(signed_in)
        .merge(entrance.route_layer(visitors))
        .merge(machines)
        .merge(files)
        .layer(from_fn_with_state(dashboard.clone(), frame::frame))
        .with_state(dashboard)
}

/// The paths of all pages, each once.
pub fn names() -> impl Iterator<Item = &'static str> {
    groups().into_iter().flat_map(|group| group.names)
}

/// All pages, grouped by permitted visitors.
fn groups() -> [Pages; 4] {
    let administration = Pages::default()
        .at("/dashboard", get(overview::show))
        .at("/dashboard/services", get(services::list).post(form::create::<Service>))
        .at("/dashboard/services/new", get(form::new::<Service>))
        .at("/dashboard/services/{id}", get(services::show))
        .at(
            "/dashboard/services/{id}/edit",
            get(form::edit::<Service>).post(form::update::<Service>),
        )
        .at(
            "/dashboard/services/{id}/delete",
            get(removal::ask::<Service>).post(removal::remove::<Service>),
        )
        .at(
            "/dashboard/services/{id}/freeze",
            get(emergency::service::ask).post(emergency::service::freeze),
        )
        .at("/dashboard/emergency", get(emergency::show))
        .at("/dashboard/emergency/freeze", post(emergency::freeze))
        .at("/dashboard/emergency/unfreeze", post(emergency::unfreeze))
        .at("/dashboard/emergency/{step}", post(emergency::steps::find))
        .at("/dashboard/policies", get(policies::list).post(form::create::<Policy>))
        .at("/dashboard/policies/new", get(form::new::<Policy>))
        .at("/dashboard/policies/{id}", get(policies::show))
        .at("/dashboard/policies/{id}/edit", get(form::edit::<Policy>).post(form::update::<Policy>))
        .at(
            "/dashboard/policies/{id}/state",
            get(policies::state::confirm).post(policies::state::change),
        )
        .at(
            "/dashboard/policies/{id}/delete",
            get(removal::ask::<Policy>).post(removal::remove::<Policy>),
        )
        .at(
            "/dashboard/policies/{id}/restore",
            get(policies::restore::ask).post(policies::restore::restore),
        )
        .at("/dashboard/keys", get(keys::list).post(keys::new::create))
        .at("/dashboard/keys/new", get(keys::new::generate))
        .at("/dashboard/keys/import", get(keys::new::import))
        .at("/dashboard/keys/floor", get(keys::floor::show))
        .at("/dashboard/keys/remaining", get(keys::remaining::show))
        .at("/dashboard/keys/import-parameters", post(keys::new::wrapping::prepare))
        .at("/dashboard/keys/{id}", get(keys::show))
        .at("/dashboard/keys/{id}/edit", get(form::edit::<Key>).post(form::update::<Key>))
        .at("/dashboard/keys/{id}/{step}", get(keys::steps::confirm).post(keys::steps::take))
        .at("/dashboard/api-keys", get(api_keys::list).post(form::create::<ApiKey>))
        .at("/dashboard/api-keys/new", get(form::new::<ApiKey>))
        .at("/dashboard/api-keys/{id}", get(api_keys::show))
        .at("/dashboard/api-keys/{id}/edit", get(form::edit::<ApiKey>).post(form::update::<ApiKey>))
        .at(
            "/dashboard/api-keys/{id}/revoke",
            get(removal::ask::<ApiKey>).post(removal::remove::<ApiKey>),
        )
        .at("/dashboard/identities", get(identities::list).post(form::create::<WorkloadIdentity>))
        .at("/dashboard/identities/new", get(form::new::<WorkloadIdentity>))
        .at("/dashboard/identities/{id}", get(identities::show))
        .at(
            "/dashboard/identities/{id}/edit",
            get(form::edit::<WorkloadIdentity>).post(form::update::<WorkloadIdentity>),
        )
        .at(
            "/dashboard/identities/{id}/delete",
            get(removal::ask::<WorkloadIdentity>).post(removal::remove::<WorkloadIdentity>),
        )
        .at("/dashboard/people", get(people::list).post(people::lock_unseen))
        .at("/dashboard/people/new", get(people::new))
        .at("/dashboard/people/{id}", get(people::show))
        .at("/dashboard/people/{id}/lock", get(people::ask_lock).post(people::lock))
        .at("/dashboard/people/{id}/unlock", get(people::ask_unlock).post(people::unlock))
        .at("/dashboard/changes", get(changes::list))
        .at("/dashboard/changes/{id}", get(changes::show))
        .at("/dashboard/changes/{id}/{decision}", post(changes::decide))
        .at("/dashboard/audit", get(audit::list))
        .at("/dashboard/audit/export.csv", get(audit::export_csv))
        .at("/dashboard/audit/export.ndjson", get(audit::export_ndjson))
        .at("/dashboard/audit/{id}", get(audit::show))
        .at("/dashboard/audit/{id}/proof.txt", get(audit::proof))
        .at("/dashboard/events", get(events::list))
        .at("/dashboard/events/{id}", get(events::show))
        .at("/dashboard/events/{id}/proof.txt", get(events::proof))
        .at("/dashboard/sign-out", post(sign_in::leave));

    let entrance = Pages::default()
        .at("/dashboard/sign-in", get(sign_in::ask).post(sign_in::enter))
        .at("/dashboard/sign-in/provider", get(sign_in::provider::start))
        .at("/dashboard/sign-in/callback", get(sign_in::provider::finish));

    let machines =
        Pages::default().at("/dashboard/backchannel-logout", post(sign_in::backchannel::log_out));

    let files = Pages::default()
        .at("/dashboard/style.css", get(assets::style))
        .at("/dashboard/icon.svg", get(assets::icon));

    [administration, entrance, machines, files]
}

/// Pages with the same permitted visitors.
#[derive(Default)]
struct Pages {
    router: Router<SharedDashboard>,
    names: Vec<&'static str>,
}

impl Pages {
    fn at(mut self, path: &'static str, page: MethodRouter<SharedDashboard>) -> Self {
        self.router = self.router.route(path, page);
        self.names.push(path);
        self
    }
}
