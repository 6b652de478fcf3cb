//! Services: the list and the page of a service.

use axum::response::Response;
use maud::{Markup, html};

use super::emergency;
use super::form::{Creatable, Editable};
use super::removal::Removable;
use engine::auth::Tier;

use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query, done};
use crate::form::Form;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::notice::Notice;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, count, isolated, moment, seal_mark};
use engine::ids::ServiceId;
use engine::management::services::{self, Service, ServiceFilter, ServiceRequest, ServiceStatus};
use engine::management::{Error, Expected, ManageApiKeys, ManagePolicies};
use engine::resource::ResourceRequest;

const SECTION: Section = Section::Services;

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = ServiceFilter {
        name_contains: filters.search("nameContains", "Name contains"),
        status: filters.one_of("status", "Status"),
        ..ServiceFilter::default()
    };
    let page = services::list(&cx.context, &filter, filters.page()).await?;
    let create = cx.may::<ManagePolicies>().then(|| {
        html! { a.button.main href={ (SECTION.place()) "/new" } { "Create service" } }
    });
    let listing = Listing {
        section: SECTION,
        columns: &["Service", "Status", "Tier", "Rate limit", "Published keys", "Created"],
        no_match: "No service matches",
        nothing: "No services yet",
        why: "A service is an application or a recipient of data. It owns keys and API keys.",
        action: create.clone(),
    };
    let content = html! {
        (emergency::warning(&cx).await?)
        div.head {
            h1 { "Services" }
            div.actions { (emergency::link()) @if let Some(create) = create { (create) } }
        }
        p.lead { "Services are applications that call Sealward, and recipients of protected data." }
        (listing.render(&filters, &page, row))
    };
    Ok(cx.page(SECTION, "Services", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, PageError> {
    let service = services::read(&cx.context, id).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&service.name)) }
            (state(service.status))
            (badge(Tone::Idle, service.tier.name()))
            @if cx.may::<ManagePolicies>() {
                div.actions {
                    a.button href={ (place(id)) "/edit" } { "Edit" }
                    @if service.status == ServiceStatus::Active {
                        a.button.danger href={ (place(id)) "/freeze" } { "Freeze" }
                    }
                    a.button.danger href={ (place(id)) "/delete" } { "Delete" }
                }
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
                @if cx.may::<ManageApiKeys>() {
                    li { a.button href={ "/dashboard/api-keys?serviceId=" (id) } { "API keys of this service" } }
                }
            }
        }
    };
    Ok(cx.page(SECTION, &service.name, &content))
}

fn row(service: &Service) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(service.id)) { (isolated(&service.name)) }
            (seal_mark(service.seal_valid))
            @if let Some(description) = &service.description { br; span.faint { (isolated(description)) } }
        },
        state(service.status),
        badge(Tone::Idle, service.tier.name()),
        rate(service),
        published(service),
        moment(service.created_at),
    ]
}

fn state(status: ServiceStatus) -> Markup {
    match status {
        ServiceStatus::Active => badge(Tone::Good, status.name()),
        ServiceStatus::Frozen => badge(Tone::Bad, status.name()),
    }
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

impl Editable for Service {
    const SECTION: Section = SECTION;
    const NOUN: &'static str = "service";
    type Right = ManagePolicies;
    type Request = ServiceRequest;
    type Address = ServiceId;

    async fn read(cx: &PageContext, id: &ServiceId) -> Result<Self, Error> {
        services::read(&cx.context, *id).await
    }

    async fn update(
        cx: &PageContext,
        id: &ServiceId,
        expected: &Expected,
        request: ResourceRequest<ServiceRequest>,
    ) -> Result<Self, Error> {
        services::update(&cx.authorize()?, *id, expected, request).await
    }

    fn place(&self) -> String {
        place(self.id)
    }
}

impl Creatable for Service {
    const CREATE: &'static str = "Create service";

    fn blank(_: &Form) -> Form {
        let status = ServiceStatus::default().name();
        Form::default().with("status", status).with("tier", Tier::default().name())
    }

    async fn create(
        cx: &PageContext,
        request: ResourceRequest<ServiceRequest>,
    ) -> Result<Response, Error> {
        let service = services::create(&cx.authorize()?, request).await?;
        Ok(done(&service.place(), Notice::Created))
    }
}

impl Removable for Service {
    const CONSEQUENCES: &'static [&'static str] = &[
        "It cannot be restored. Audit records keep its ID.",
        "Sealward refuses the deletion while another resource refers to it. A deleted policy refers to the services that it allows by name.",
    ];

    fn subject(&self, _: &PageContext) -> Markup {
        html! { "The service " strong { (isolated(&self.name)) } " will be deleted." }
    }

    async fn remove(
        cx: &PageContext,
        id: &ServiceId,
        expected: &Expected,
    ) -> Result<String, Error> {
        services::delete(&cx.authorize()?, *id, expected).await?;
        Ok(SECTION.place().to_owned())
    }
}
