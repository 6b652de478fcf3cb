//! Services: the list and the page of a service.

pub(in crate::dashboard) mod deletion;
pub(in crate::dashboard) mod form;

use maud::{Markup, html};

use crate::dashboard::error::PageError;
use crate::dashboard::extract::{Addressed, PageContext, Query};
use crate::dashboard::view::fields::Field;
use crate::dashboard::view::filters::Filters;
use crate::dashboard::view::list::{Listing, facts};
use crate::dashboard::view::shell::Section;
use crate::dashboard::view::words::{Tone, badge, count, isolated, moment};
use crate::ids::ServiceId;
use crate::management::services::{self, Filter, Service};

const SECTION: Section = Section::Services;

pub(in crate::dashboard) async fn list(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name_contains: filters.text("nameContains"),
        ..Filter::default()
    };
    let page = services::list(&cx.context, &filter, filters.page()).await?;
    let create = html! { a.button.main href={ (SECTION.place()) "/new" } { "Create service" } };
    let listing = Listing {
        section: SECTION,
        columns: &["Service", "Tier", "Rate limit", "Published keys", "Created"],
        no_match: "No service matches",
        nothing: "No services yet",
        why: "A service is an application or a recipient of data. It owns keys and API keys.",
        action: Some(create.clone()),
    };
    let content = html! {
        div.head { h1 { "Services" } div.actions { (create) } }
        p.lead { "Services are applications that call Sealward, and recipients of protected data." }
        (listing.render(&filters, &page, |fields| fields.line("search", Field {
            name: "nameContains", label: "Name contains", ..Field::default()
        }), row))
    };
    Ok(cx.page(SECTION, "Services", &content))
}

pub(in crate::dashboard) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, PageError> {
    let service = services::read(&cx.context, id).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&service.name)) }
            (badge(Tone::Idle, service.tier.name()))
            div.actions {
                a.button href={ (place(id)) "/edit" } { "Edit" }
                a.button.danger href={ (place(id)) "/delete" } { "Delete" }
            }
        }
        @if let Some(description) = &service.description { p.lead { (isolated(description)) } }
        section.card {
            (facts([
                ("ID", html! { code { (service.id) } }),
                ("Rate limit", rate(&service)),
                ("Published keys", published(&service)),
                ("Created", moment(service.created_at)),
                ("Changed", moment(service.updated_at)),
            ]))
        }
        section.card aria-labelledby="belongs" {
            h2 #belongs { "Related resources" }
            ul.badges {
                li { a.button href={ "/dashboard/keys?serviceId=" (id) } { "Keys of this service" } }
                li { a.button href={ "/dashboard/policies?destinationServiceId=" (id) } { "Policies with this destination" } }
                li { a.button href={ "/dashboard/api-keys?serviceId=" (id) } { "API keys of this service" } }
            }
        }
    };
    Ok(cx.page(SECTION, &service.name, &content))
}

fn row(service: &Service) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(service.id)) { (isolated(&service.name)) }
            @if let Some(description) = &service.description { br; span.faint { (isolated(description)) } }
        },
        badge(Tone::Idle, service.tier.name()),
        rate(service),
        published(service),
        moment(service.created_at),
    ]
}

fn rate(service: &Service) -> Markup {
    let limit = service.rate_limit;
    html! {
        span.number {
            (count(limit.requests_per_second.get().into())) "/s, burst " (count(limit.burst.get().into()))
        }
    }
}

fn published(service: &Service) -> Markup {
    if service.publish_keys {
        html! { a href={ "/.well-known/jwks/" (service.id) } { "published" } }
    } else {
        html! { span.faint { "not published" } }
    }
}

fn place(id: ServiceId) -> String {
    format!("{}/{id}", SECTION.place())
}
