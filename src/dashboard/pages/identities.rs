//! Workload identities: the list and the page of an identity.

use std::collections::HashMap;

use axum::response::Response;
use maud::{Markup, html};

use super::form::{Creatable, Editable};
use super::removal::Removable;
use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query, done};
use crate::form::Form;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::notice::Notice;
use crate::view::services::service;
use crate::view::shell::Section;
use crate::view::words::{Tone, ago, badge, isolated, moment, moment_or, seal_mark};
use engine::auth::Match;
use engine::ids::{IdentityId, ServiceId};
use engine::management::identities::{
    self, IdentityFilter, IdentityRequest, IdentityStatus, WorkloadIdentity,
};
use engine::management::{Error, Expected, ManageIdentities, services};
use engine::operation::Operation;
use engine::resource::ResourceRequest;
use formats::clock::Timestamp;

const SECTION: Section = Section::Identities;

/// The label of the button and the title of the page.
const CREATE: &str = "Create Identity";

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let mut filters = Filters::of(query);
    let filter = IdentityFilter {
        name_contains: filters.search("nameContains", "Name contains"),
        status: filters.one_of("status", "Status"),
        service_id: filters.service("serviceId", "Service", &services),
        ..IdentityFilter::default()
    };
    let page = identities::list(&cx.authorize()?, &filter, filters.page()).await?;
    let names: HashMap<_, _> = services.into_iter().collect();
    let now = cx.now();
    let create = html! { a.button.main href={ (SECTION.place()) "/new" } { (CREATE) } };
    let listing = Listing {
        section: SECTION,
        columns: &["Identity", "Match", "Service", "Status", "Last used"],
        no_match: "No identity matches",
        nothing: "No identities yet",
        why: "Workloads authenticate with tokens of their platform or client certificates instead of API keys.",
        action: Some(create.clone()),
    };
    let content = html! {
        div.head { h1 { "Identities" } div.actions { (create) } }
        p.lead { "Workloads authenticate with tokens of their platform, such as Kubernetes, or with client certificates. An identity states which credentials act for which service." }
        (listing.render(&filters, &page, |identity| row(identity, &names, now)))
    };
    Ok(cx.page(SECTION, "Identities", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<IdentityId>,
) -> Result<Markup, PageError> {
    let identity = identities::read(&cx.authorize()?, id).await?;
    let names = services::names(&cx.context, &[identity.service_id]).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&identity.name)) }
            (status(identity.status))
            div.actions {
                a.button href={ (place(id)) "/edit" } { "Edit" }
                a.button.danger href={ (place(id)) "/delete" } { "Delete" }
            }
        }
        section.card {
            (facts([
                ("Service", service(identity.service_id, &names)),
                ("Match", matching(&identity.r#match)),
                ("Bound policy", bound(&identity)),
                ("Allowed operations", html! { (operations(&identity)) }),
                ("Last used", moment_or(identity.last_used_at, "never")),
                ("Created", moment(identity.created_at)),
                ("Changed", moment(identity.updated_at)),
                ("ID", html! { code { (identity.id) } }),
            ]))
        }
    };
    Ok(cx.page(SECTION, &identity.name, &content))
}

fn row(
    identity: &WorkloadIdentity,
    names: &HashMap<ServiceId, String>,
    now: Timestamp,
) -> Vec<Markup> {
    vec![
        html! { a href=(place(identity.id)) { (isolated(&identity.name)) } (seal_mark(identity.seal_valid)) },
        summary(&identity.r#match),
        service(identity.service_id, names),
        status(identity.status),
        ago(identity.last_used_at, now),
    ]
}

/// The credentials that match, for a list.
fn summary(matching: &Match) -> Markup {
    match matching {
        Match::Token(rule) => isolated(rule.issuer()),
        Match::Spiffe { spiffe_id } => isolated(spiffe_id.as_str()),
        Match::Certificate { certificate_sha256 } => {
            let fingerprint = certificate_sha256.to_string();
            html! { "certificate " code { (fingerprint.get(..16).unwrap_or_default()) "…" } }
        }
    }
}

/// The credentials that match, in full.
fn matching(matching: &Match) -> Markup {
    match matching {
        Match::Token(rule) => html! {
            "tokens of the issuer " (isolated(rule.issuer()))
            @if let Some(subject) = rule.subject() { br; "subject is " (isolated(subject)) }
            @for (name, value) in rule.claims() { br; code { (name) } " is " code { (value) } }
        },
        Match::Spiffe { spiffe_id } => html! { "SPIFFE ID " (isolated(spiffe_id.as_str())) },
        Match::Certificate { certificate_sha256 } => {
            html! { "certificate with the SHA-256 " code { (certificate_sha256) } }
        }
    }
}

fn bound(identity: &WorkloadIdentity) -> Markup {
    match identity.policy_number.number() {
        Some(number) => html! { a href={ "/dashboard/policies/" (number) } { (number) } },
        None => html! { span.faint { "none" } },
    }
}

fn operations(identity: &WorkloadIdentity) -> String {
    match identity.allowed_operations {
        None => "all operations".to_owned(),
        Some(allowed) => {
            let names: Vec<_> = allowed.iter().map(Operation::name).collect();
            names.join(", ")
        }
    }
}

fn status(status: IdentityStatus) -> Markup {
    match status {
        IdentityStatus::Active => badge(Tone::Good, "active"),
        IdentityStatus::Disabled => badge(Tone::Bad, "disabled"),
    }
}

fn place(id: IdentityId) -> String {
    format!("{}/{id}", SECTION.place())
}

impl Editable for WorkloadIdentity {
    const SECTION: Section = SECTION;
    const NOUN: &'static str = "identity";
    type Right = ManageIdentities;
    type Request = IdentityRequest;
    type Address = IdentityId;

    async fn read(cx: &PageContext, id: &IdentityId) -> Result<Self, Error> {
        identities::read(&cx.authorize()?, *id).await
    }

    async fn update(
        cx: &PageContext,
        id: &IdentityId,
        expected: &Expected,
        request: ResourceRequest<IdentityRequest>,
    ) -> Result<Self, Error> {
        identities::update(&cx.authorize()?, *id, expected, request).await
    }

    fn place(&self) -> String {
        place(self.id)
    }
}

impl Creatable for WorkloadIdentity {
    const CREATE: &'static str = CREATE;

    fn blank(query: &Form) -> Form {
        Form::default()
            .with("serviceId", query.text("serviceId"))
            .with("status", IdentityStatus::Active.name())
            .with("allowedOperations.scope", "all")
    }

    async fn create(
        cx: &PageContext,
        request: ResourceRequest<IdentityRequest>,
    ) -> Result<Response, Error> {
        let identity = identities::create(&cx.authorize()?, request).await?;
        Ok(done(&place(identity.id), Notice::Created))
    }
}

impl Removable for WorkloadIdentity {
    const CONSEQUENCES: &'static [&'static str] = &[
        "Requests with its credentials get 401, on all instances within one second, unless another identity matches them.",
        "If another identity can match its credentials, the deletion can need approval. To refuse the credentials without approval, disable the identity.",
        "It cannot be restored. Audit records keep its ID.",
    ];

    fn subject(&self, _: &PageContext) -> Markup {
        html! { "The identity " strong { (isolated(&self.name)) } " will be deleted." }
    }

    async fn remove(
        cx: &PageContext,
        id: &IdentityId,
        expected: &Expected,
    ) -> Result<String, Error> {
        identities::delete(&cx.authorize()?, *id, expected).await?;
        Ok(SECTION.place().to_owned())
    }
}
