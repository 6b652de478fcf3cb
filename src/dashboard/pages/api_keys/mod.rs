//! API keys: the list and the page of an API key.

pub(in crate::dashboard) mod form;
pub(in crate::dashboard) mod revocation;

use std::collections::HashMap;

use maud::{Markup, html};

use crate::auth::Kind;
use crate::clock::Timestamp;
use crate::dashboard::error::PageError;
use crate::dashboard::extract::{Addressed, PageContext, Query};
use crate::dashboard::view::fields::{Field, Fields};
use crate::dashboard::view::filters::{Filters, options};
use crate::dashboard::view::list::{Listing, facts};
use crate::dashboard::view::services::{chosen, service};
use crate::dashboard::view::shell::Section;
use crate::dashboard::view::words::{
    Tone, ago, badge, isolated, moment, moment_and_distance, moment_or,
};
use crate::ids::{ApiKeyId, ServiceId};
use crate::management::api_keys::{self, ApiKey, Filter, Status};
use crate::management::services;
use crate::operation::Operation;

const SECTION: Section = Section::ApiKeys;

/// The label of the button and the title of the page.
const CREATE: &str = "Create API Key";

pub(in crate::dashboard) async fn list(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name_contains: filters.text("nameContains"),
        service_id: filters.parsed("serviceId", "must be the ID of a service"),
        kind: filters.named("type"),
        status: filters.named("status"),
        ..Filter::default()
    };
    let page = api_keys::list(&cx.context, &filter, filters.page()).await?;
    let services = services::choices(&cx.context).await?;
    let names: HashMap<_, _> = services.iter().cloned().collect();
    let now = cx.now();
    let create = html! { a.button.main href={ (SECTION.place()) "/new" } { (CREATE) } };
    let listing = Listing {
        section: SECTION,
        columns: &[
            "API key",
            "Type",
            "Service",
            "Status",
            "Expires",
            "Last used",
        ],
        no_match: "No API key matches",
        nothing: "No API keys yet",
        why: "Applications and administrators authenticate with API keys.",
        action: Some(create.clone()),
    };
    let fields = |fields: &Fields<'_>| {
        html! {
            (fields.line("search", Field { name: "nameContains", label: "Name contains", ..Field::default() }))
            (fields.select(Field { name: "type", label: "Type", ..Field::default() },
                Some("Any"), options([("live", "Live"), ("test", "Test"), ("admin", "Admin")])))
            (fields.select(Field { name: "status", label: "Status", ..Field::default() },
                Some("Any"), options([("active", "Active"), ("expired", "Expired"), ("revoked", "Revoked")])))
            (fields.select(Field { name: "serviceId", label: "Service", ..Field::default() },
                Some("Any"), chosen(&services)))
        }
    };
    let content = html! {
        div.head { h1 { "API Keys" } div.actions { (create) } }
        p.lead { "Applications and administrators authenticate with API keys. Sealward shows a key once, at its creation." }
        (listing.render(&filters, &page, fields, |key| row(key, &names, now)))
    };
    Ok(cx.page(SECTION, "API Keys", &content))
}

pub(in crate::dashboard) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, PageError> {
    let key = api_keys::read(&cx.context, id).await?;
    let names = services::names(&cx.context, key.service_id.as_slice()).await?;
    let now = cx.now();
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&key.name)) }
            (status(key.status))
            @if key.status != Status::Revoked {
                div.actions {
                    a.button href={ (place(id)) "/edit" } { "Edit" }
                    a.button.danger href={ (place(id)) "/revoke" } { "Revoke" }
                }
            }
        }
        section.card {
            (facts([
                ("Key", html! { code { (key.hint) } }),
                ("Type", html! { (key.r#type.name()) }),
                ("Service", owner(&key, &names)),
                ("Bound policy", bound(&key)),
                ("Allowed operations", html! { (operations(&key)) }),
                ("Allowed networks", html! { (networks(&key)) }),
                ("Expires", expiry(&key, now)),
                ("Last used", moment_or(key.last_used_at, "never")),
                ("Created", moment(key.created_at)),
                ("Changed", moment(key.updated_at)),
                ("Revoked", moment_or(key.revoked_at, "no")),
                ("ID", html! { code { (key.id) } }),
            ]))
        }
    };
    Ok(cx.page(SECTION, &key.name, &content))
}

fn row(key: &ApiKey, names: &HashMap<ServiceId, String>, now: Timestamp) -> Vec<Markup> {
    vec![
        html! { a href=(place(key.id)) { (isolated(&key.name)) } br; span.id { (key.hint) } },
        html! { (key.r#type.name()) },
        owner(key, names),
        status(key.status),
        expiry(key, now),
        ago(key.last_used_at, now),
    ]
}

fn owner(key: &ApiKey, names: &HashMap<ServiceId, String>) -> Markup {
    match key.service_id {
        Some(id) => service(id, names),
        None => html! { span.faint { "administrators" } },
    }
}

fn bound(key: &ApiKey) -> Markup {
    match key.policy_number.number() {
        Some(number) => html! { a href={ "/dashboard/policies/" (number) } { (number) } },
        None => html! { span.faint { "none" } },
    }
}

fn operations(key: &ApiKey) -> String {
    match (key.r#type, key.allowed_operations) {
        (Kind::Admin, _) => "management".to_owned(),
        (Kind::Live | Kind::Test, None) => "all operations of its type".to_owned(),
        (Kind::Live | Kind::Test, Some(allowed)) => allowed
            .iter()
            .map(Operation::name)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn networks(key: &ApiKey) -> String {
    match &key.allowed_cidrs {
        None => "anywhere".to_owned(),
        Some(networks) => {
            let texts: Vec<_> = networks.iter().map(|network| network.to_string()).collect();
            texts.join(", ")
        }
    }
}

fn expiry(key: &ApiKey, now: Timestamp) -> Markup {
    match key.expires_at {
        Some(at) => moment_and_distance(at, now),
        None => html! { span.faint { "never" } },
    }
}

fn status(status: Status) -> Markup {
    match status {
        Status::Active => badge(Tone::Good, "active"),
        Status::Expired => badge(Tone::Warn, "expired"),
        Status::Revoked => badge(Tone::Bad, "revoked"),
    }
}

fn place(id: ApiKeyId) -> String {
    format!("{}/{id}", SECTION.place())
}
