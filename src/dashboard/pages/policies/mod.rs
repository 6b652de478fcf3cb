//! Policies: the list and the page of a policy.

pub(crate) mod restore;
pub(crate) mod state;

use std::collections::HashMap;

use axum::response::Response;
use maud::{Markup, html};

use self::state::state;
use super::form::{Creatable, Editable};
use super::keys::remaining;
use super::removal::Removable;
use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query, done};
use crate::form::Form;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::notice::Notice;
use crate::view::services::service;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, isolated, moment, seal_mark};
use engine::ids::{PolicyId, ServiceId};
use engine::management::policies::{self, Policy, PolicyFilter, PolicyName};
use engine::management::{Error, Expected, ManagePolicies, services};
use engine::operation::Operation;
use engine::policy::{AllowedServices, KeyOwnership, PolicyRequest};
use engine::resource::ResourceRequest;
use formats::envelope::{Alg, Enc};

const SECTION: Section = Section::Policies;

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let mut filters = Filters::of(query);
    let filter = PolicyFilter {
        text: filters.search("text", "Number or name"),
        status: filters.one_of("status", "Status"),
        destination_service_id: filters.service("destinationServiceId", "Destination", &services),
        deleted: filters.flag("deleted", "Show", ["Policies in use", "Deleted policies"]),
        ..PolicyFilter::default()
    };
    if filter.deleted {
        return restore::list(&cx, &filter, &filters, services).await;
    }
    let page = policies::list(&cx.context, &filter, filters.page()).await?;
    let names: HashMap<_, _> = services.into_iter().collect();
    let create = cx.may::<ManagePolicies>().then(|| {
        html! { a.button.main href={ (SECTION.place()) "/new" } { "Create policy" } }
    });
    let listing = Listing {
        section: SECTION,
        columns: &["Policy", "State", "Destination", "Algorithms", "Allowed services"],
        no_match: "No policy matches",
        nothing: "No policies yet",
        why: "A policy defines the destination, the algorithms and the services that can use it.",
        action: create.clone(),
    };
    let content = html! {
        div.head { h1 { "Policies" } @if let Some(create) = create { div.actions { (create) } } }
        p.lead { "A policy defines how payloads are protected for a destination service, and which services can use it." }
        (listing.render(&filters, &page, |policy| row(policy, &names)))
    };
    Ok(cx.page(SECTION, "Policies", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(name): Addressed<PolicyName>,
) -> Result<Markup, PageError> {
    let policy = policies::read(&cx.context, &name).await?;
    let callers = policy.allowed_service_ids.listed();
    let named: Vec<ServiceId> =
        callers.iter().copied().chain([policy.destination_service_id]).collect();
    let names = services::names(&cx.context, &named).await?;
    let there = place(policy.id);
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (policy.policy_number.as_str()) }
            (state(policy.verdict()))
            @if cx.may::<ManagePolicies>() {
                div.actions {
                    a.button href={ (there) "/edit" } { "Edit" }
                    a.button.danger href={ (there) "/delete" } { "Delete" }
                }
            }
        }
        p.lead {
            (isolated(&policy.name))
            @if let Some(description) = &policy.description { " — " (isolated(description)) }
        }
        (state::warning(&policy))
        div.columns {
            section.card aria-labelledby="protects" {
                h2 #protects { "Properties" }
                (facts([
                    ("Destination", service(policy.destination_service_id, &names)),
                    ("Private key", html! { (ownership(policy.key_ownership)) }),
                    ("Key wrapping", html! { code { (policy.alg.name()) } }),
                    ("Encryption", html! { code { (policy.enc.name()) } }),
                    ("Context", html! { (if policy.context_required { "required" } else { "optional" }) }),
                    ("Envelopes without a policy", html! { (if policy.require_binding { "refused" } else { "accepted" }) }),
                    ("Envelope header", html! { (header(&policy)) }),
                    ("Allows", html! { (operations(&policy)) }),
                    ("ID", html! { code { (policy.id) } }),
                    ("Created", moment(policy.created_at)),
                    ("Changed", moment(policy.updated_at)),
                ]))
                p { (remaining::link_of_policy(policy.policy_number.as_str())) }
            }
            @if cx.may::<ManagePolicies>() { (state::choice(&policy)) }
        }
        section.card aria-labelledby="callers" {
            h2 #callers { "Allowed services" }
            @if policy.allowed_service_ids == AllowedServices::Any {
                p { (badge(Tone::Warn, "every service")) }
                p.faint { "Every service with an API key can use this policy. To restrict it, edit the policy and select services." }
            } @else {
                ul.badges { @for caller in callers { li { (service(*caller, &names)) } } }
            }
        }
    };
    Ok(cx.page(SECTION, policy.policy_number.as_str(), &content))
}

fn row(policy: &Policy, names: &HashMap<ServiceId, String>) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(policy.id)) { (policy.policy_number.as_str()) }
            (seal_mark(policy.seal_valid))
            br; (isolated(&policy.name))
        },
        state(policy.verdict()),
        service(policy.destination_service_id, names),
        html! { code { (policy.alg.name()) } " " code { (policy.enc.name()) } },
        match &policy.allowed_service_ids {
            AllowedServices::Any => badge(Tone::Warn, "every service"),
            AllowedServices::Only(services) if services.len() == 1 => html! { "1 service" },
            AllowedServices::Only(services) => html! { (services.len()) " services" },
        },
    ]
}

fn ownership(ownership: KeyOwnership) -> &'static str {
    match ownership {
        KeyOwnership::ServiceManaged => "in the token of Sealward",
        KeyOwnership::DestinationManaged => "at the destination",
    }
}

/// The header members of envelopes that depend on the policy.
fn header(policy: &Policy) -> String {
    let members = policy.header_members(policy.updated_at);
    let mut shown = Vec::new();
    shown.extend(members.cty.then(|| "cty json".to_owned()));
    shown.extend(members.iat.map(|_| "iat".to_owned()));
    shown.extend(members.typ.map(|typ| format!("typ {typ}")));
    if shown.is_empty() {
        return "no cty, iat or typ".to_owned();
    }
    shown.join(", ")
}

fn operations(policy: &Policy) -> String {
    let names: Vec<_> = policy.allowed_operations.iter().map(Operation::name).collect();
    names.join(", ")
}

fn place(id: PolicyId) -> String {
    format!("{}/{id}", SECTION.place())
}

impl Editable for Policy {
    const SECTION: Section = SECTION;
    const NOUN: &'static str = "policy";
    const ELSEWHERE: &'static [&'static str] = &state::STATE;
    const NOTE: &'static str = "A new policy is active and refuses requests while it is inactive. \
                                Change its state on its page.";
    type Right = ManagePolicies;
    type Request = PolicyRequest;
    type Address = PolicyName;

    async fn read(cx: &PageContext, name: &PolicyName) -> Result<Self, Error> {
        policies::read(&cx.context, name).await
    }

    async fn update(
        cx: &PageContext,
        name: &PolicyName,
        expected: &Expected,
        request: ResourceRequest<PolicyRequest>,
    ) -> Result<Self, Error> {
        policies::update(&cx.authorize()?, name, expected, request).await
    }

    fn place(&self) -> String {
        place(self.id)
    }
}

impl Creatable for Policy {
    const CREATE: &'static str = "Create policy";
    const ALL_SELECTED: &'static [&'static str] = &["allowedOperations"];

    fn blank(query: &Form) -> Form {
        Form::default()
            .with("destinationServiceId", query.text("destinationServiceId"))
            .with("keyOwnership", KeyOwnership::default().name())
            .with("alg", Alg::default().name())
            .with("enc", Enc::default().name())
    }

    async fn create(
        cx: &PageContext,
        request: ResourceRequest<PolicyRequest>,
    ) -> Result<Response, Error> {
        let policy = policies::create(&cx.authorize()?, request).await?;
        Ok(done(&policy.place(), Notice::Created))
    }
}

impl Removable for Policy {
    const CONSEQUENCES: &'static [&'static str] = &[
        "Requests that name it are refused, including /unprotect.",
        "It still decides who can open its envelopes with another policy for the same destination: only the services and operations that it allows now. If it does not allow unprotect, nobody can open them.",
        "You can restore it: on the page Policies, show the deleted policies. Restoring a policy can need approval.",
        "Sealward refuses the deletion if an API key or an identity is bound to it.",
    ];

    fn subject(&self, _: &PageContext) -> Markup {
        html! {
            "The policy " strong { (self.policy_number.as_str()) } " (" (isolated(&self.name)) ") will be deleted."
        }
    }

    async fn remove(
        cx: &PageContext,
        name: &PolicyName,
        expected: &Expected,
    ) -> Result<String, Error> {
        policies::delete(&cx.authorize()?, name, expected).await?;
        Ok(SECTION.place().to_owned())
    }
}
