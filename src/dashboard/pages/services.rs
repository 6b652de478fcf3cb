//! Services: the applications that call, and those that data is protected for.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use crate::auth::Tier;
use crate::dashboard::desk::{Addressed, Asked, Desk, Sent, done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::form::{Body, Form, number, or_null};
use crate::dashboard::view::confirm::{Question, ask};
use crate::dashboard::view::fields::{Choice, Field, Fields};
use crate::dashboard::view::filters::Filters;
use crate::dashboard::view::list::{empty, facts, pager, table};
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::shell::{Section, token};
use crate::dashboard::view::words::{Tone, badge, count, moment, said};
use crate::ids::ServiceId;
use crate::management::services::{self, Filter, Service, ServiceDraft};
use crate::management::{Error, Proposal};
use crate::problem::Problem;

const PLACE: &str = Section::Services.place();

pub(in crate::dashboard) async fn list(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name: filters.text("name"),
    };
    let page = services::list(&desk.context, &filter, filters.page()).await?;
    let create = html! { a.button.main href={ (PLACE) "/new" } { "Create service" } };
    let content = html! {
        div.head { h1 { "Services" } div.actions { (create) } }
        p.lead { "Applications that call this service, and applications that data is protected for." }
        (filters.form(PLACE, |fields| fields.line("search", Field {
            name: "name", label: "Name contains", ..Field::default()
        })))
        @if page.items.is_empty() && filters.narrow() {
            (empty("No service fits", "Try a shorter part of the name.", None))
        } @else if page.items.is_empty() {
            (empty("No services yet",
                "A service stands for an application: it owns keys, and its API keys call the runtime.",
                Some(create)))
        } @else {
            (table("Services", &["Service", "Tier", "Rate limit", "Published keys", "Created"],
                page.items.iter().map(row)))
        }
        (pager(PLACE, filters.query(), page.next_cursor))
    };
    Ok(desk.page(Section::Services, "Services", &content))
}

pub(in crate::dashboard) async fn new(desk: Desk) -> Markup {
    let form = Form::default().with("tier", Tier::default().name());
    creation(&desk, &form, &[])
}

pub(in crate::dashboard) async fn create(desk: Desk, Sent(form): Sent) -> Result<Response, Fault> {
    let made = match body(&form).into_new() {
        Ok(proposal) => services::create(&desk.context, proposal).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(service) => Ok(done(&place(service.id), Notice::Created)),
        Err(error) => {
            let page = creation(&desk, &form, &refusal(error)?);
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn show(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, Fault> {
    let service = services::read(&desk.context, id).await?;
    let content = html! {
        (crumbs())
        div.head {
            h1 { (said(&service.name)) }
            (badge(Tone::Idle, service.tier.name()))
            div.actions {
                a.button href={ (place(id)) "/edit" } { "Edit" }
                a.button.danger href={ (place(id)) "/delete" } { "Delete" }
            }
        }
        @if let Some(description) = &service.description { p.lead { (said(description)) } }
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
            h2 #belongs { "What belongs to it" }
            ul.badges {
                li { a.button href={ "/dashboard/keys?serviceId=" (id) } { "Its keys" } }
                li { a.button href={ "/dashboard/policies?destinationServiceId=" (id) } { "Policies that protect for it" } }
                li { a.button href={ "/dashboard/api-keys?serviceId=" (id) } { "Its API keys" } }
            }
        }
    };
    Ok(desk.page(Section::Services, &service.name, &content))
}

pub(in crate::dashboard) async fn edit(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, Fault> {
    let service = services::read(&desk.context, id).await?;
    Ok(change(&desk, id, &form_of(&service), &[]))
}

pub(in crate::dashboard) async fn update(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    let changed = match body(&form).into_change::<ServiceDraft>() {
        Ok(proposal) => save(&desk, id, &form, proposal).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => {
            let page = change(&desk, id, &form, &refusal(error)?);
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn ask_delete(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, Fault> {
    deletion(&desk, id, &[]).await
}

pub(in crate::dashboard) async fn delete(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match services::delete(&desk.context, id, &form.expected()).await {
        Ok(()) => Ok(done(PLACE, Notice::Deleted)),
        Err(error) => {
            let page = deletion(&desk, id, &refusal(error)?).await?;
            Ok((StatusCode::CONFLICT, page).into_response())
        }
    }
}

async fn save(
    desk: &Desk,
    id: ServiceId,
    form: &Form,
    proposal: Proposal<ServiceDraft>,
) -> Result<Service, Error> {
    services::update(&desk.context, id, &form.expected(), proposal).await
}

async fn deletion(desk: &Desk, id: ServiceId, problems: &[Problem]) -> Result<Markup, Fault> {
    let service = services::read(&desk.context, id).await?;
    let (there, revision) = (place(id), service.revision.to_string());
    let question = Question {
        title: "Delete this service?",
        subject: html! { "The service " strong { (said(&service.name)) } " will be deleted." },
        means: &[
            "It cannot be brought back; audit records go on naming it.",
            "This is refused while a policy, a key or an API key still refers to it.",
        ],
        dangerous: true,
        yes: "Delete service",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    let content = ask(&desk.viewer, &question, problems);
    Ok(desk.page(Section::Services, "Delete service", &content))
}

fn creation(desk: &Desk, form: &Form, problems: &[Problem]) -> Markup {
    let content = html! {
        (crumbs())
        h1 { "Create service" }
        (terms(desk, form, problems, PLACE, "Create service", PLACE))
    };
    desk.page(Section::Services, "Create service", &content)
}

fn change(desk: &Desk, id: ServiceId, form: &Form, problems: &[Problem]) -> Markup {
    let there = place(id);
    let content = html! {
        (crumbs())
        h1 { "Edit service" }
        (terms(desk, form, problems, &format!("{there}/edit"), "Save changes", &there))
    };
    desk.page(Section::Services, "Edit service", &content)
}

fn terms(
    desk: &Desk,
    form: &Form,
    problems: &[Problem],
    action: &str,
    button: &str,
    back: &str,
) -> Markup {
    let fields = Fields::new(form, problems);
    html! {
        form.form method="post" action=(action) novalidate {
            (token(&desk.viewer))
            @if let Some(revision) = form.some("revision") {
                input type="hidden" name="revision" value=(revision);
            }
            (fields.summary())
            (fields.line("text", Field {
                name: "name", label: "Name", hint: "1 to 100 characters, unique.", required: true,
            }))
            (fields.area(Field {
                name: "description", label: "Description", hint: "For people: what it is, who runs it.",
                required: false,
            }, 3))
            (fields.radios(Field { name: "tier", label: "Tier", ..Field::default() }, &[
                Choice { value: "standard", label: "Standard", hint: "100 requests a second, 200 at once." },
                Choice { value: "professional", label: "Professional", hint: "500 requests a second, 1,000 at once." },
                Choice { value: "enterprise", label: "Enterprise", hint: "As agreed: give the limit below." },
            ]))
            div.option-group {
                (fields.line("number", Field {
                    name: "rateLimit.requestsPerSecond", label: "Requests per second",
                    hint: "For enterprise only.", required: false,
                }))
                (fields.line("number", Field {
                    name: "rateLimit.burst", label: "Burst",
                    hint: "For enterprise only: requests at once after a quiet time.", required: false,
                }))
            }
            (fields.check(Field {
                name: "publishKeys", label: "Publish its public keys",
                hint: "Anybody may then read them under /.well-known/jwks, to seal for it or to check its signatures.",
                required: false,
            }))
            div.actions {
                button.main type="submit" { (button) }
                a.button href=(back) { "Cancel" }
            }
        }
    }
}

fn body(form: &Form) -> Body {
    let limits = ["rateLimit.requestsPerSecond", "rateLimit.burst"];
    let mut limit = serde_json::Map::new();
    for name in limits {
        if let (Some(text), Some((_, member))) = (form.some(name), name.split_once('.')) {
            limit.insert(member.to_owned(), number(text));
        }
    }
    // The fields of a limit are there for every tier; only where one is filled is there a limit.
    let limit = (!limit.is_empty()).then_some(limit);
    Body::default()
        .set("name", form.text("name"))
        .set("description", or_null(form.some("description")))
        .set("tier", form.text("tier"))
        .set_some("rateLimit", limit)
        .set("publishKeys", form.has("publishKeys", "yes"))
}

fn form_of(service: &Service) -> Form {
    let limit = service
        .tier
        .rate_limit()
        .is_none()
        .then_some(service.rate_limit);
    let form = Form::default()
        .with("revision", service.revision.to_string())
        .with("name", service.name.as_str())
        .with_some("description", service.description.as_deref())
        .with("tier", service.tier.name())
        .with_some("publishKeys", service.publish_keys.then_some("yes"));
    match limit {
        None => form,
        Some(limit) => form
            .with(
                "rateLimit.requestsPerSecond",
                limit.requests_per_second.to_string(),
            )
            .with("rateLimit.burst", limit.burst.to_string()),
    }
}

fn row(service: &Service) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(service.id)) { (said(&service.name)) }
            @if let Some(description) = &service.description { br; span.faint { (said(description)) } }
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
    format!("{PLACE}/{id}")
}

fn crumbs() -> Markup {
    html! { p.crumbs { a href=(PLACE) { "Services" } } }
}
