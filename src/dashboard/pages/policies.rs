//! Policies: how payloads are protected for a destination, and for whom.

use std::collections::HashMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde_json::Value;

use super::policy_state::{self, state};
use crate::dashboard::desk::{Addressed, Asked, Desk, Sent, done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::form::{Body, Form, or_null};
use crate::dashboard::view::confirm::{Question, ask};
use crate::dashboard::view::fields::{Choice, Field, Fields};
use crate::dashboard::view::filters::{Filters, options};
use crate::dashboard::view::list::{empty, facts, pager, table};
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::shell::{Section, token};
use crate::dashboard::view::words::{Tone, badge, moment, said};
use crate::envelope::{Alg, Enc};
use crate::ids::{PolicyId, ServiceId};
use crate::management::policies::{self, Filter, Name, Policy, PolicyDraft};
use crate::management::services;
use crate::operation::Operation;
use crate::policy::KeyOwnership;
use crate::problem::Problem;

pub(super) const PLACE: &str = Section::Policies.place();

pub(in crate::dashboard) async fn list(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        text: filters.text("text"),
        status: filters.named("status"),
        destination_service_id: filters.parsed("destinationServiceId", "this must be a service"),
    };
    let page = policies::list(&desk.context, &filter, filters.page()).await?;
    let services = services::choices(&desk.context).await?;
    let names: HashMap<_, _> = services.iter().cloned().collect();
    let create = html! { a.button.main href={ (PLACE) "/new" } { "Create policy" } };
    let content = html! {
        div.head { h1 { "Policies" } div.actions { (create) } }
        p.lead { "How payloads are protected for a destination service, and who may have that done." }
        (filters.form(PLACE, |fields| html! {
            (fields.line("search", Field { name: "text", label: "Number or name contains", ..Field::default() }))
            (fields.select(Field { name: "status", label: "Status", ..Field::default() },
                Some("Any"), options([("active", "Active"), ("inactive", "Inactive")])))
            (fields.select(Field { name: "destinationServiceId", label: "Destination", ..Field::default() },
                Some("Any"), chosen(&services)))
        }))
        @if !filters.are_right() || page.items.is_empty() && filters.narrow() {
            (empty("No policy fits", "Widen the filters above.", None))
        } @else if page.items.is_empty() {
            (empty("No policies yet",
                "A policy says for which service payloads are protected, with what, and for whom.",
                Some(create)))
        } @else {
            (table("Policies", &["Policy", "State", "Destination", "Algorithms", "Who may use it"],
                page.items.iter().map(|policy| row(policy, &names))))
        }
        (pager(PLACE, filters.query(), page.next_cursor))
    };
    Ok(desk.page(Section::Policies, "Policies", &content))
}

pub(in crate::dashboard) async fn new(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let form = Form::default()
        .with("destinationServiceId", query.text("destinationServiceId"))
        .with("keyOwnership", "service_managed")
        .with("alg", Alg::default().name())
        .with("enc", Enc::default().name())
        .with("allowedOperations", "protect")
        .with("allowedOperations", "unprotect")
        .with("callers", "all");
    creation(&desk, &form, &[]).await
}

pub(in crate::dashboard) async fn create(desk: Desk, Sent(form): Sent) -> Result<Response, Fault> {
    let proposal = body(&form).set_some("policyNumber", form.some("policyNumber"));
    let made = match proposal.into_new() {
        Ok(proposal) => policies::create(&desk.context, proposal).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Created)),
        Err(error) => {
            let page = creation(&desk, &form, &refusal(error)?).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn show(
    desk: Desk,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, Fault> {
    let policy = policies::read(&desk.context, &name).await?;
    let callers = policy.allowed_service_ids.clone().unwrap_or_default();
    let named: Vec<ServiceId> = callers
        .iter()
        .copied()
        .chain([policy.destination_service_id])
        .collect();
    let names = services::names(&desk.context, &named).await?;
    let there = place(policy.id);
    let content = html! {
        (crumbs())
        div.head {
            h1 { (policy.policy_number.as_str()) }
            (state(policy.status, policy.failure_mode))
            div.actions {
                a.button href={ (there) "/edit" } { "Edit" }
                a.button.danger href={ (there) "/delete" } { "Delete" }
            }
        }
        p.lead {
            (said(&policy.name))
            @if let Some(description) = &policy.description { " — " (said(description)) }
        }
        (policy_state::warning(&policy))
        div.columns {
            section.card aria-labelledby="protects" {
                h2 #protects { "What it does" }
                (facts([
                    ("Destination", service(policy.destination_service_id, &names)),
                    ("Private key", html! { (ownership(policy.key_ownership)) }),
                    ("Key wrapping", html! { code { (policy.alg.name()) } }),
                    ("Encryption", html! { code { (policy.enc.name()) } }),
                    ("Allows", html! { (operations(&policy)) }),
                    ("ID", html! { code { (policy.id) } }),
                    ("Created", moment(policy.created_at)),
                    ("Changed", moment(policy.updated_at)),
                ]))
            }
            (policy_state::choice(&policy))
        }
        section.card aria-labelledby="callers" {
            h2 #callers { "Who may use it" }
            @if policy.allowed_service_ids.is_none() {
                p { (badge(Tone::Warn, "every service")) }
                p.faint { "Any service with an API key may protect and unprotect under this policy. Edit it to name the services that need it." }
            } @else {
                ul.badges { @for caller in &callers { li { (service(*caller, &names)) } } }
            }
        }
    };
    Ok(desk.page(Section::Policies, policy.policy_number.as_str(), &content))
}

pub(in crate::dashboard) async fn edit(
    desk: Desk,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, Fault> {
    let policy = policies::read(&desk.context, &name).await?;
    change(&desk, &policy, &form_of(&policy), &[]).await
}

pub(in crate::dashboard) async fn update(
    desk: Desk,
    Addressed(name): Addressed<Name>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    let changed = match body(&form)
        .set("policyNumber", form.text("policyNumber"))
        .into_change::<PolicyDraft>()
    {
        Ok(proposal) => policies::update(&desk.context, &name, &form.expected(), proposal).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Saved)),
        Err(error) => {
            let problems = refusal(error)?;
            let policy = policies::read(&desk.context, &name).await?;
            let page = change(&desk, &policy, &form, &problems).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn ask_delete(
    desk: Desk,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, Fault> {
    deletion(&desk, &name, &[]).await
}

pub(in crate::dashboard) async fn delete(
    desk: Desk,
    Addressed(name): Addressed<Name>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match policies::delete(&desk.context, &name, &form.expected()).await {
        Ok(()) => Ok(done(PLACE, Notice::Deleted)),
        Err(error) => {
            let page = deletion(&desk, &name, &refusal(error)?).await?;
            Ok((StatusCode::CONFLICT, page).into_response())
        }
    }
}

async fn deletion(desk: &Desk, name: &Name, problems: &[Problem]) -> Result<Markup, Fault> {
    let policy = policies::read(&desk.context, name).await?;
    let (there, revision) = (place(policy.id), policy.revision.to_string());
    let question = Question {
        title: "Delete this policy?",
        subject: html! {
            "The policy " strong { (policy.policy_number.as_str()) } " (" (said(&policy.name)) ") will be deleted."
        },
        means: &[
            "Requests that name it are refused from then on, to unprotect too: what was protected under it needs another policy with the same destination.",
            "It cannot be brought back; audit records go on naming it.",
            "This is refused while an API key is bound to it.",
        ],
        dangerous: true,
        yes: "Delete policy",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    let content = ask(&desk.viewer, &question, problems);
    Ok(desk.page(Section::Policies, "Delete policy", &content))
}

async fn creation(desk: &Desk, form: &Form, problems: &[Problem]) -> Result<Markup, Fault> {
    let services = services::choices(&desk.context).await?;
    let content = html! {
        (crumbs())
        h1 { "Create policy" }
        @if services.is_empty() {
            (empty("A policy needs a destination",
                "There is no service yet for which payloads could be protected.",
                Some(html! { a.button.main href="/dashboard/services/new" { "Create service" } })))
        } @else {
            p.lead { "A new policy is active. It refuses payloads should it ever be made inactive, until you choose otherwise on its page." }
            (terms(desk, form, problems, &services, PLACE, "Create policy", PLACE))
        }
    };
    Ok(desk.page(Section::Policies, "Create policy", &content))
}

async fn change(
    desk: &Desk,
    policy: &Policy,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, Fault> {
    let services = services::choices(&desk.context).await?;
    let there = place(policy.id);
    let action = format!("{there}/edit");
    let content = html! {
        (crumbs())
        h1 { "Edit policy " (policy.policy_number.as_str()) }
        p.lead { "Status and failure mode are changed on the policy's own page." }
        (terms(desk, form, problems, &services, &action, "Save changes", &there))
    };
    Ok(desk.page(Section::Policies, "Edit policy", &content))
}

fn terms(
    desk: &Desk,
    form: &Form,
    problems: &[Problem],
    services: &[(ServiceId, String)],
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
                name: "name", label: "Name", hint: "1 to 100 characters, for people.", required: true,
            }))
            (fields.line("text", Field {
                name: "policyNumber", label: "Policy number",
                hint: "What callers send: 1 to 64 of A-Z a-z 0-9 . _ -. A new policy without one gets the next POL- number.",
                required: false,
            }))
            (fields.area(Field { name: "description", label: "Description", ..Field::default() }, 3))
            (fields.select(Field {
                name: "destinationServiceId", label: "Destination service",
                hint: "The service whose key protects.", required: true,
            }, Some("Choose a service"), chosen(services)))
            (fields.radios(Field { name: "keyOwnership", label: "Who holds the private key", ..Field::default() }, &[
                Choice { value: "service_managed", label: "This service's token", hint: "Envelopes can be opened here, by /unprotect." },
                Choice { value: "destination_managed", label: "The destination alone", hint: "Only its public key is here. /unprotect is not available." },
            ]))
            (fields.select(Field {
                name: "alg", label: "Key wrapping (alg)", hint: "RSA for RSA keys, ECDH-ES for keys on a curve.", required: true,
            }, None, Alg::ALL.map(|alg| (alg.name().to_owned(), alg.name().to_owned()))))
            (fields.select(Field {
                name: "enc", label: "Encryption (enc)", required: true, ..Field::default()
            }, None, Enc::ALL.map(|enc| (enc.name().to_owned(), enc.name().to_owned()))))
            (fields.checks(Field { name: "allowedOperations", label: "What it allows", ..Field::default() }, &[
                Choice { value: "protect", label: "Protect", hint: "" },
                Choice { value: "unprotect", label: "Unprotect", hint: "" },
            ]))
            div.option-group {
                (fields.radios(Field { name: "callers", label: "Who may use it", ..Field::default() }, &[
                    Choice { value: "all", label: "Every service", hint: "Also those that are created later." },
                    Choice { value: "some", label: "Only the services ticked below", hint: "" },
                ]))
                (fields.checks(Field { name: "allowedServiceIds", label: "Services", ..Field::default() },
                    &services.iter().map(|(id, name)| (id.to_string(), name)).collect::<Vec<_>>().iter()
                        .map(|(id, name)| Choice { value: id, label: name, hint: "" }).collect::<Vec<_>>()))
            }
            div.actions {
                button.main type="submit" { (button) }
                a.button href=(back) { "Cancel" }
            }
        }
    }
}

fn body(form: &Form) -> Body {
    let list = |name| Value::from(form.all(name).map(str::to_owned).collect::<Vec<_>>());
    let callers = if form.has("callers", "some") {
        list("allowedServiceIds")
    } else {
        Value::Null
    };
    Body::default()
        .set("name", form.text("name"))
        .set("description", or_null(form.some("description")))
        .set("destinationServiceId", form.text("destinationServiceId"))
        .set("keyOwnership", form.text("keyOwnership"))
        .set("alg", form.text("alg"))
        .set("enc", form.text("enc"))
        .set("allowedServiceIds", callers)
        .set("allowedOperations", list("allowedOperations"))
}

fn form_of(policy: &Policy) -> Form {
    let ownership = match policy.key_ownership {
        KeyOwnership::ServiceManaged => "service_managed",
        KeyOwnership::DestinationManaged => "destination_managed",
    };
    let mut form = Form::default()
        .with("revision", policy.revision.to_string())
        .with("policyNumber", policy.policy_number.as_str())
        .with("name", policy.name.as_str())
        .with_some("description", policy.description.as_deref())
        .with(
            "destinationServiceId",
            policy.destination_service_id.to_string(),
        )
        .with("keyOwnership", ownership)
        .with("alg", policy.alg.name())
        .with("enc", policy.enc.name())
        .with(
            "callers",
            if policy.allowed_service_ids.is_some() {
                "some"
            } else {
                "all"
            },
        );
    for operation in policy.allowed_operations.iter() {
        form = form.with("allowedOperations", operation.name());
    }
    for service in policy.allowed_service_ids.iter().flatten() {
        form = form.with("allowedServiceIds", service.to_string());
    }
    form
}

fn row(policy: &Policy, names: &HashMap<ServiceId, String>) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(policy.id)) { (policy.policy_number.as_str()) }
            br; (said(&policy.name))
        },
        state(policy.status, policy.failure_mode),
        service(policy.destination_service_id, names),
        html! { code { (policy.alg.name()) } " " code { (policy.enc.name()) } },
        match &policy.allowed_service_ids {
            None => badge(Tone::Warn, "every service"),
            Some(services) if services.len() == 1 => html! { "1 service" },
            Some(services) => html! { (services.len()) " services" },
        },
    ]
}

/// A service by its name, with the way to it.
pub(super) fn service(id: ServiceId, names: &HashMap<ServiceId, String>) -> Markup {
    html! {
        a href={ "/dashboard/services/" (id) } {
            @match names.get(&id) {
                Some(name) => (said(name)),
                None => (id),
            }
        }
    }
}

/// Services, to be chosen from.
pub(super) fn chosen(services: &[(ServiceId, String)]) -> impl Iterator<Item = (String, String)> {
    services
        .iter()
        .map(|(id, name)| (id.to_string(), name.clone()))
}

fn ownership(ownership: KeyOwnership) -> &'static str {
    match ownership {
        KeyOwnership::ServiceManaged => "in this service's token",
        KeyOwnership::DestinationManaged => "with the destination alone",
    }
}

fn operations(policy: &Policy) -> String {
    let names: Vec<_> = policy
        .allowed_operations
        .iter()
        .map(Operation::name)
        .collect();
    names.join(", ")
}

pub(super) fn place(id: PolicyId) -> String {
    format!("{PLACE}/{id}")
}

fn crumbs() -> Markup {
    html! { p.crumbs { a href=(PLACE) { "Policies" } } }
}
