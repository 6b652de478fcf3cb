//! Deleted policies: their list, and the form that restores one.

use std::collections::HashMap;

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Submitted, done, invalid_form};
use crate::form::{Body, Form};
use crate::view::fields::declared::References;
use crate::view::fields::{Fields, Sheet, body, form_of};
use crate::view::filters::Filters;
use crate::view::list::Listing;
use crate::view::notice::Notice;
use crate::view::services::service;
use crate::view::words::{isolated, moment_or};
use engine::ids::ServiceId;
use engine::management::policies::{self, Policy, PolicyFilter, PolicyName};
use engine::management::{Error, ManagePolicies};
use engine::operation::Operation;
use engine::policy::{AllowedServices, PolicyRequest};
use engine::resource::{Field, RequestBody as _};
use formats::problem::Problem;

/// The list of deleted policies.
const DELETED: &str = "/dashboard/policies?deleted=true";

/// The members that decide who can open envelopes, and the number, which another policy can have.
const MEMBERS: [&str; 3] = ["policyNumber", "allowedServiceIds", "allowedOperations"];

fn members() -> impl Iterator<Item = &'static Field> + Clone {
    let fields = PolicyRequest::FIELDS.iter();
    fields.filter(|field| MEMBERS.contains(&field.name))
}

pub(super) async fn list(
    cx: &PageContext,
    filter: &PolicyFilter,
    filters: &Filters,
    services: Vec<(ServiceId, String)>,
) -> Result<Markup, PageError> {
    let page = policies::list(&cx.context, filter, filters.page()).await?;
    let names: HashMap<_, _> = services.into_iter().collect();
    let can_restore = cx.may::<ManagePolicies>();
    let listing = Listing {
        section: SECTION,
        columns: &["Policy", "Deleted", "Destination", "Allowed services", "Allows", "Restore"],
        no_match: "No deleted policy matches",
        nothing: "No deleted policies",
        why: "A deleted policy goes on deciding who can open its envelopes.",
        action: None,
    };
    let content = html! {
        div.head { h1 { "Deleted policies" } }
        p.lead { "A deleted policy goes on deciding who can open its envelopes. If you restore it, it is inactive, and /unprotect works under it." }
        (listing.render(filters, &page, |policy| row(policy, &names, can_restore)))
    };
    Ok(cx.page(SECTION, "Deleted policies", &content))
}

fn row(policy: &Policy, names: &HashMap<ServiceId, String>, can_restore: bool) -> Vec<Markup> {
    let operations: Vec<_> = policy.allowed_operations.iter().map(Operation::name).collect();
    vec![
        html! { (policy.policy_number.as_str()) br; (isolated(&policy.name)) br; span.id { (policy.id) } },
        moment_or(policy.deleted_at, "no"),
        service(policy.destination_service_id, names),
        match &policy.allowed_service_ids {
            AllowedServices::Any => html! { "every service" },
            AllowedServices::Only(services) if services.len() == 1 => html! { "1 service" },
            AllowedServices::Only(services) => html! { (services.len()) " services" },
        },
        html! { (operations.join(", ")) },
        html! { @if can_restore { a.button href={ (place(policy.id)) "/restore" } { "Restore" } } },
    ]
}

pub(crate) async fn ask(
    cx: PageContext,
    Addressed(name): Addressed<PolicyName>,
) -> Result<Markup, PageError> {
    cx.authorize::<ManagePolicies>()?;
    let policy = policies::read_deleted(&cx.context, &name).await?;
    let form = form_of(&policy, members()).with("revision", policy.revision.to_string());
    question(&cx, &policy, &form, &[]).await
}

pub(crate) async fn restore(
    cx: PageContext,
    Addressed(name): Addressed<PolicyName>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match restored(&cx, &name, &form).await {
        Ok(policy) => Ok(done(&place(policy.id), Notice::PolicyRestored)),
        Err(error) => {
            let problems = refusal(error)?;
            let policy = policies::read_deleted(&cx.context, &name).await?;
            Ok(invalid_form(question(&cx, &policy, &form, &problems).await?))
        }
    }
}

async fn restored(cx: &PageContext, name: &PolicyName, form: &Form) -> Result<Policy, Error> {
    let request = Body(body(form, members().copied(), false)).into_restoration()?;
    policies::restore(&cx.authorize()?, name, &form.expected(), request).await
}

async fn question(
    cx: &PageContext,
    policy: &Policy,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let action = format!("{}/restore", place(policy.id));
    let sheet = Sheet { action: &action, button: "Restore policy", back: DELETED };
    let references = References::of(cx, members().copied()).await?;
    let fields = Fields::new(form, problems);
    let inputs = html! { @for member in members() { (fields.declared(member, &references)) } };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Restore this policy?" }
        p { "The policy " strong { (policy.policy_number.as_str()) } " (" (isolated(&policy.name)) ") is deleted." }
        ul.means {
            li { "It will be inactive: nothing is protected under it until you make it active." }
            li { "The services that you allow here can open its envelopes at once, if you allow unprotect." }
            li { "Another policy can have its number. Then choose another number." }
        }
        (fields.sheet(&cx.viewer, sheet, &inputs))
    };
    Ok(cx.page(SECTION, "Restore policy", &content))
}
