//! The form that creates or changes a service.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::auth::Tier;
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Submitted, done, invalid_form};
use crate::dashboard::form::{Body, Form, number, or_null};
use crate::dashboard::view::fields::{Choice, Field, Fields, Sheet};
use crate::dashboard::view::notice::Notice;
use crate::ids::ServiceId;
use crate::management::Error;
use crate::management::services::{self, Service, ServiceRequest};
use crate::problem::Problem;

pub(in crate::dashboard) async fn new(cx: PageContext) -> Markup {
    let form = Form::default().with("tier", Tier::default().name());
    creation(&cx, &form, &[])
}

pub(in crate::dashboard) async fn create(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match made(&cx, &form).await {
        Ok(service) => Ok(done(&place(service.id), Notice::Created)),
        Err(error) => Ok(invalid_form(creation(&cx, &form, &refusal(error)?))),
    }
}

pub(in crate::dashboard) async fn edit(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, PageError> {
    let service = services::read(&cx.context, id).await?;
    Ok(change(&cx, id, &form_of(&service), &[]))
}

pub(in crate::dashboard) async fn update(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, id, &form).await {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => Ok(invalid_form(change(&cx, id, &form, &refusal(error)?))),
    }
}

async fn made(cx: &PageContext, form: &Form) -> Result<Service, Error> {
    services::create(&cx.context, body(form).into_new()?).await
}

async fn changed(cx: &PageContext, id: ServiceId, form: &Form) -> Result<Service, Error> {
    let proposal = body(form).into_change::<ServiceRequest>()?;
    services::update(&cx.context, id, &form.expected(), proposal).await
}

fn creation(cx: &PageContext, form: &Form, problems: &[Problem]) -> Markup {
    let place = SECTION.place();
    let sheet = Sheet {
        action: place,
        button: "Create service",
        back: place,
    };
    page(cx, sheet, "Create service", &Fields::new(form, problems))
}

fn change(cx: &PageContext, id: ServiceId, form: &Form, problems: &[Problem]) -> Markup {
    let there = place(id);
    let sheet = Sheet {
        action: &format!("{there}/edit"),
        button: "Save changes",
        back: &there,
    };
    page(cx, sheet, "Edit service", &Fields::new(form, problems))
}

fn page(cx: &PageContext, sheet: Sheet<'_>, title: &str, fields: &Fields<'_>) -> Markup {
    let content = html! {
        (SECTION.crumbs())
        h1 { (title) }
        (fields.sheet(&cx.viewer, sheet, &terms(fields)))
    };
    cx.page(SECTION, title, &content)
}

fn terms(fields: &Fields<'_>) -> Markup {
    html! {
        (fields.line("text", Field {
            name: "name", label: "Name", hint: "1 to 100 characters, unique.", required: true,
        }))
        (fields.area(Field {
            name: "description", label: "Description", hint: "For administrators, such as the purpose and the owner.",
            required: false,
        }, 3))
        (fields.radios(Field { name: "tier", label: "Tier", ..Field::default() }, &[
            Choice { value: "standard", label: "Standard", hint: "100 requests per second, burst 200." },
            Choice { value: "professional", label: "Professional", hint: "500 requests per second, burst 1,000." },
            Choice { value: "enterprise", label: "Enterprise", hint: "The limits that you set below." },
        ]))
        div.option-group {
            (fields.number(Field {
                name: "rateLimit.requestsPerSecond", label: "Requests per second",
                hint: "For enterprise only.", required: false,
            }))
            (fields.number(Field {
                name: "rateLimit.burst", label: "Burst",
                hint: "For enterprise only: the size of the token bucket.", required: false,
            }))
        }
        (fields.check(Field {
            name: "publishKeys", label: "Publish public keys",
            hint: "Makes them available without authentication at /.well-known/jwks, to create envelopes for the service and to verify its signatures.",
            required: false,
        }))
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
    // Every tier shows the fields of the limit. Empty fields set no limit.
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
        .with("name", &*service.name)
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
