//! The form that creates or changes a policy.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Query, Submitted, done, invalid_form};
use crate::dashboard::form::{Body, Form, or_null};
use crate::dashboard::view::fields::{Choice, Field, Fields, Sheet};
use crate::dashboard::view::list::empty;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::services::chosen;
use crate::envelope::{Alg, Enc};
use crate::ids::ServiceId;
use crate::management::policies::{self, Name, Policy};
use crate::management::{Error, services};
use crate::policy::{AllowedServices, KeyOwnership, PolicyRequest};
use crate::problem::Problem;

pub(in crate::dashboard) async fn new(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    let form = Form::default()
        .with("destinationServiceId", query.text("destinationServiceId"))
        .with("keyOwnership", "service_managed")
        .with("alg", Alg::default().name())
        .with("enc", Enc::default().name())
        .with("headers.cty", "yes")
        .with("allowedOperations", "protect")
        .with("allowedOperations", "unprotect")
        .with("allowedOperations", "rewrap");
    creation(&cx, &form, &[]).await
}

pub(in crate::dashboard) async fn create(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match made(&cx, &form).await {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Created)),
        Err(error) => Ok(invalid_form(creation(&cx, &form, &refusal(error)?).await?)),
    }
}

pub(in crate::dashboard) async fn edit(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, PageError> {
    let policy = policies::read(&cx.context, &name).await?;
    change(&cx, &policy, &form_of(&policy), &[]).await
}

pub(in crate::dashboard) async fn update(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, &name, &form).await {
        Ok(policy) => Ok(done(&place(policy.id), Notice::Saved)),
        Err(error) => {
            let problems = refusal(error)?;
            let policy = policies::read(&cx.context, &name).await?;
            Ok(invalid_form(change(&cx, &policy, &form, &problems).await?))
        }
    }
}

async fn made(cx: &PageContext, form: &Form) -> Result<Policy, Error> {
    let proposal = body(form).set_some("policyNumber", form.some("policyNumber"));
    policies::create(&cx.context, proposal.into_new()?).await
}

async fn changed(cx: &PageContext, name: &Name, form: &Form) -> Result<Policy, Error> {
    let proposal = body(form).set("policyNumber", form.text("policyNumber"));
    let proposal = proposal.into_change::<PolicyRequest>()?;
    policies::update(&cx.context, name, &form.expected(), proposal).await
}

async fn creation(
    cx: &PageContext,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let fields = Fields::new(form, problems);
    let sheet = Sheet {
        action: SECTION.place(),
        button: "Create policy",
        back: SECTION.place(),
    };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Create policy" }
        @if services.is_empty() {
            (empty("A policy needs a destination",
                "Create the destination service first.",
                Some(html! { a.button.main href="/dashboard/services/new" { "Create service" } })))
        } @else {
            p.lead { "A new policy is active, and its failure mode is error. You can change both on the page of the policy." }
            (fields.sheet(&cx.viewer, sheet, &terms(&fields, &services)))
        }
    };
    Ok(cx.page(SECTION, "Create policy", &content))
}

async fn change(
    cx: &PageContext,
    policy: &Policy,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let fields = Fields::new(form, problems);
    let there = place(policy.id);
    let sheet = Sheet {
        action: &format!("{there}/edit"),
        button: "Save changes",
        back: &there,
    };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Edit policy " (policy.policy_number.as_str()) }
        p.lead { "To change the status or the failure mode, use the page of the policy." }
        (fields.sheet(&cx.viewer, sheet, &terms(&fields, &services)))
    };
    Ok(cx.page(SECTION, "Edit policy", &content))
}

fn terms(fields: &Fields<'_>, services: &[(ServiceId, String)]) -> Markup {
    html! {
        (fields.line("text", Field {
            name: "name", label: "Name", hint: "1 to 100 characters, for people.", required: true,
        }))
        (fields.line("text", Field {
            name: "policyNumber", label: "Policy number",
            hint: "The number that callers send: 1 to 64 characters of A-Z a-z 0-9 . _ -. If empty, a new policy gets the next POL- number.",
            required: false,
        }))
        (fields.area(Field { name: "description", label: "Description", ..Field::default() }, 3))
        (fields.select(Field {
            name: "destinationServiceId", label: "Destination service",
            hint: "The service whose keys protect the payloads.", required: true,
        }, Some("Choose a service"), chosen(services)))
        (fields.radios(Field { name: "keyOwnership", label: "Holder of the private key", ..Field::default() }, &[
            Choice { value: "service_managed", label: "Sealward", hint: "The private key is in the token. /unprotect opens the envelopes." },
            Choice { value: "destination_managed", label: "The destination", hint: "Sealward has only the public key. /unprotect is not available." },
        ]))
        (fields.select(Field {
            name: "alg", label: "Key wrapping (alg)", hint: "RSA-OAEP for RSA keys, ECDH-ES for EC keys.", required: true,
        }, None, Alg::ALL.map(|alg| (alg.name().to_owned(), alg.name().to_owned()))))
        (fields.select(Field {
            name: "enc", label: "Encryption (enc)", required: true, ..Field::default()
        }, None, Enc::ALL.map(|enc| (enc.name().to_owned(), enc.name().to_owned()))))
        (fields.checks(Field { name: "allowedOperations", label: "Allowed operations", ..Field::default() }, &[
            Choice { value: "protect", label: "Protect", hint: "" },
            Choice { value: "unprotect", label: "Unprotect", hint: "" },
            Choice { value: "rewrap", label: "Rewrap", hint: "Make a new envelope of an existing one, without returning the payload." },
        ]))
        (fields.check(Field {
            name: "contextRequired", label: "Require a context",
            hint: "Protecting needs a context, which unprotecting must repeat.", required: false,
        }))
        (fields.check(Field {
            name: "requireBinding", label: "Require a binding",
            hint: "Unprotect only envelopes that name a policy of this service.", required: false,
        }))
        (fields.line("text", Field {
            name: "headers.typ", label: "Envelope header: typ",
            hint: "If the destination expects it. These three are only for keys that the destination holds.", required: false,
        }))
        (fields.check(Field {
            name: "headers.iat", label: "Envelope header: iat", hint: "The time at which the envelope was made.", required: false,
        }))
        (fields.check(Field {
            name: "headers.cty", label: "Envelope header: cty", hint: "The value json.", required: false,
        }))
        div.option-group {
            (fields.radios(Field { name: "callers", label: "Allowed services", ..Field::default() }, &[
                Choice { value: "all", label: "Every service", hint: "Including services that you create later." },
                Choice { value: "some", label: "Only the selected services", hint: "" },
            ]))
            (fields.checks(Field { name: "allowedServiceIds", label: "Services", ..Field::default() },
                &services.iter().map(|(id, name)| (id.to_string(), name)).collect::<Vec<_>>().iter()
                    .map(|(id, name)| Choice { value: id, label: name, hint: "" }).collect::<Vec<_>>()))
        }
    }
}

fn body(form: &Form) -> Body {
    let list = |name| Value::from(form.all(name).map(str::to_owned).collect::<Vec<_>>());
    // Without a choice the member is absent: a new policy requires one, another keeps its own.
    let callers = match form.text("callers") {
        "all" => Some(Value::from(vec!["*"])),
        "some" => Some(list("allowedServiceIds")),
        _ => None,
    };
    Body::default()
        .set("name", form.text("name"))
        .set("description", or_null(form.some("description")))
        .set("destinationServiceId", form.text("destinationServiceId"))
        .set("keyOwnership", form.text("keyOwnership"))
        .set("alg", form.text("alg"))
        .set("enc", form.text("enc"))
        .set_some("allowedServiceIds", callers)
        .set("allowedOperations", list("allowedOperations"))
        .set("contextRequired", form.has("contextRequired", "yes"))
        .set("requireBinding", form.has("requireBinding", "yes"))
        .set("headers", headers(form))
}

/// The header members; null for the default, so that other policies need no headers.
fn headers(form: &Form) -> Value {
    let typ = form.some("headers.typ");
    let [iat, cty] = ["headers.iat", "headers.cty"].map(|name| form.has(name, "yes"));
    if typ.is_none() && !iat && cty {
        return Value::Null;
    }
    json!({ "typ": typ, "iat": iat, "cty": cty.then_some("json") })
}

fn form_of(policy: &Policy) -> Form {
    let ownership = match policy.key_ownership {
        KeyOwnership::ServiceManaged => "service_managed",
        KeyOwnership::DestinationManaged => "destination_managed",
    };
    let members = policy.header_members(policy.updated_at);
    let mut form = Form::default()
        .with("revision", policy.revision.to_string())
        .with("policyNumber", policy.policy_number.as_str())
        .with("name", &*policy.name)
        .with_some("description", policy.description.as_deref())
        .with(
            "destinationServiceId",
            policy.destination_service_id.to_string(),
        )
        .with("keyOwnership", ownership)
        .with("alg", policy.alg.name())
        .with("enc", policy.enc.name())
        .with_some("contextRequired", policy.context_required.then_some("yes"))
        .with_some("requireBinding", policy.require_binding.then_some("yes"))
        .with_some("headers.typ", members.typ)
        .with_some("headers.iat", members.iat.map(|_| "yes"))
        .with_some("headers.cty", members.cty.then_some("yes"))
        .with(
            "callers",
            match policy.allowed_service_ids {
                AllowedServices::Any => "all",
                AllowedServices::Only(_) => "some",
            },
        );
    for operation in policy.allowed_operations.iter() {
        form = form.with("allowedOperations", operation.name());
    }
    for service in policy.allowed_service_ids.listed() {
        form = form.with("allowedServiceIds", service.to_string());
    }
    form
}
