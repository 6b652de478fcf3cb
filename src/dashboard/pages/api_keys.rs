//! API keys: the list and the page of an API key.

use std::collections::HashMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;

use super::form::{Creatable, Editable};
use super::removal::Removable;

use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query};
use crate::form::Form;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::notice::Notice;
use crate::view::services::service;
use crate::view::shell::Section;
use crate::view::words::{
    Tone, ago, badge, isolated, moment, moment_and_distance, moment_or, seal_mark,
};
use engine::auth::{ApiKeySecret, ApiKeyType, Role};
use engine::ids::{ApiKeyId, ServiceId};
use engine::management::api_keys::{
    self, ApiKey, ApiKeyFilter, ApiKeyRequest, ApiKeyStatus, Created,
};
use engine::management::{Error, Expected, ManageAdminKeys, ManageApiKeys, services};
use engine::operation::Operation;
use engine::resource::{Field, FieldInput, ResourceRequest};
use formats::clock::Timestamp;

const SECTION: Section = Section::ApiKeys;

/// The label of the button and the title of the page.
const CREATE: &str = "Create API Key";

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let mut filters = Filters::of(query);
    let filter = ApiKeyFilter {
        name_contains: filters.search("nameContains", "Name contains"),
        kind: filters.one_of("type", "Type"),
        status: filters.one_of("status", "Status"),
        service_id: filters.service("serviceId", "Service", &services),
        ..ApiKeyFilter::default()
    };
    let page = api_keys::list(&cx.authorize()?, &filter, filters.page()).await?;
    let names: HashMap<_, _> = services.into_iter().collect();
    let now = cx.now();
    let create = html! { a.button.main href={ (SECTION.place()) "/new" } { (CREATE) } };
    let listing = Listing {
        section: SECTION,
        columns: &["API key", "Type", "Service", "Status", "Expires", "Last used"],
        no_match: "No API key matches",
        nothing: "No API keys yet",
        why: "Applications and administrators authenticate with API keys.",
        action: Some(create.clone()),
    };
    let content = html! {
        div.head { h1 { "API Keys" } div.actions { (create) } }
        p.lead { "Applications and administrators authenticate with API keys. Sealward shows a key once, at its creation." }
        (listing.render(&filters, &page, |key| row(key, &names, now)))
    };
    Ok(cx.page(SECTION, "API Keys", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, PageError> {
    let key = api_keys::read(&cx.authorize()?, id).await?;
    let names = services::names(&cx.context, key.service_id.as_slice()).await?;
    let now = cx.now();
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&key.name)) }
            (status(key.status))
            @if key.status != ApiKeyStatus::Revoked {
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
                ("Roles", html! { (roles(&key)) }),
                ("Person", match &key.person {
                    Some(person) => isolated(person),
                    None => html! { span.faint { "none" } },
                }),
                ("Bound policy", bound(&key)),
                ("Allowed operations", html! { (operations(&key)) }),
                ("Allowed networks", html! { (networks(&key)) }),
                ("Required certificate", match key.certificate_sha256 {
                    Some(fingerprint) => html! { code { (fingerprint) } },
                    None => html! { span.faint { "none" } },
                }),
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
        html! {
            a href=(place(key.id)) { (isolated(&key.name)) }
            (seal_mark(key.seal_valid))
            br; span.id { (key.hint) }
        },
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
        (ApiKeyType::Admin, _) => "management".to_owned(),
        (ApiKeyType::Live | ApiKeyType::Test, None) => "all operations of its type".to_owned(),
        (ApiKeyType::Live | ApiKeyType::Test, Some(allowed)) => {
            allowed.iter().map(Operation::name).collect::<Vec<_>>().join(", ")
        }
    }
}

fn roles(key: &ApiKey) -> String {
    let names: Vec<_> = key.roles.iter().map(Role::name).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}

/// The choice of a type without admin keys, which are the last type.
fn without_admin(input: FieldInput) -> FieldInput {
    let FieldInput::OneOf(names, descriptions) = input else {
        return input;
    };
    let types = names.iter().take_while(|name| **name != ApiKeyType::Admin.name());
    let count = types.count();
    FieldInput::OneOf(
        names.get(..count).unwrap_or(names),
        descriptions.get(..count).unwrap_or(descriptions),
    )
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

fn status(status: ApiKeyStatus) -> Markup {
    match status {
        ApiKeyStatus::Active => badge(Tone::Good, "active"),
        ApiKeyStatus::Expired => badge(Tone::Warn, "expired"),
        ApiKeyStatus::Revoked => badge(Tone::Bad, "revoked"),
    }
}

fn place(id: ApiKeyId) -> String {
    format!("{}/{id}", SECTION.place())
}

impl Editable for ApiKey {
    const SECTION: Section = SECTION;
    const NOUN: &'static str = "API key";
    type Right = ManageApiKeys;
    type Request = ApiKeyRequest;
    type Address = ApiKeyId;

    async fn read(cx: &PageContext, id: &ApiKeyId) -> Result<Self, Error> {
        api_keys::read(&cx.authorize()?, *id).await
    }

    async fn update(
        cx: &PageContext,
        id: &ApiKeyId,
        expected: &Expected,
        request: ResourceRequest<ApiKeyRequest>,
    ) -> Result<Self, Error> {
        api_keys::update(&cx.authorize()?, *id, expected, request).await
    }

    /// Only owners manage admin keys.
    fn offered(cx: &PageContext, member: Field) -> Option<Field> {
        if cx.may::<ManageAdminKeys>() {
            return Some(member);
        }
        match member.name {
            "roles" | "person" => None,
            _ => Some(Field { input: without_admin(member.input), ..member }),
        }
    }

    fn place(&self) -> String {
        place(self.id)
    }
}

impl Creatable for ApiKey {
    const CREATE: &'static str = CREATE;

    fn blank(query: &Form) -> Form {
        Form::default()
            .with("type", ApiKeyType::Live.name())
            .with("serviceId", query.text("serviceId"))
            .with("allowedOperations.scope", "all")
    }

    async fn create(
        cx: &PageContext,
        request: ResourceRequest<ApiKeyRequest>,
    ) -> Result<Response, Error> {
        // No redirect: only this response contains the key.
        let (status, page) = match api_keys::create(&cx.authorize()?, request).await {
            Ok(Created { api_key, secret }) => {
                let page = shown_once(cx, CREATED, &api_key.name, &secret, &place(api_key.id));
                (StatusCode::CREATED, page)
            }
            Err(Error::Proposed(proposed)) => {
                let change = &proposed.proposal;
                let place = format!("/dashboard/changes/{}", change.id);
                let Some(secret) = &proposed.secret else {
                    return Err(Error::Proposed(proposed));
                };
                let page = shown_once(cx, PROPOSED, &change.summary, secret, &place);
                (StatusCode::ACCEPTED, page)
            }
            Err(error) => return Err(error),
        };
        Ok((status, page).into_response())
    }
}

impl Removable for ApiKey {
    const VERB: &'static str = "Revoke";
    const STEP: &'static str = "revoke";
    const NOTICE: Notice = Notice::Revoked;
    const CONSEQUENCES: &'static [&'static str] = &[
        "Requests with this key get 401, on all instances within one second.",
        "Dashboard sessions of this key end immediately.",
        "The key cannot be restored. Its record remains.",
    ];

    fn subject(&self, cx: &PageContext) -> Markup {
        let is_own = cx.viewer.administrator.api_key_id() == Some(self.id);
        html! {
            "The API key " strong { (isolated(&self.name)) } " " code { (self.hint) } " will be revoked permanently."
            @if is_own { " It is the key you are signed in with: you will be signed out." }
        }
    }

    async fn remove(cx: &PageContext, id: &ApiKeyId, expected: &Expected) -> Result<String, Error> {
        api_keys::revoke(&cx.authorize()?, *id, expected).await?;
        Ok(place(*id))
    }
}

/// The title of the page that shows a new key once, and the note below it.
type Once = (&'static str, &'static str);

const CREATED: Once = (
    "API key created",
    "Store it in the secret store of the application or administrator. Sealward stores only its digest.",
);

const PROPOSED: Once = (
    "API key proposed",
    "It authenticates after other people have approved the change. Sealward stores only its digest.",
);

fn shown_once(
    cx: &PageContext,
    (title, note): Once,
    name: &str,
    secret: &ApiKeySecret,
    next: &str,
) -> Markup {
    let content = html! {
        (SECTION.crumbs())
        div.head { h1 { (title) } }
        p.notice.warn role="status" {
            strong { "Copy the key now. It is not shown again." }
            (note)
        }
        section.card {
            div.field {
                label for="secret" { "API key of " (isolated(name)) }
                p.hint #secret-hint { "Select the whole field with Ctrl+A or ⌘A, then copy." }
                textarea.secret #secret rows="2" readonly spellcheck="false" autocomplete="off"
                    aria-describedby="secret-hint" { (secret.expose_secret()) }
            }
            div.actions { a.button.main href=(next) { "I have copied it" } }
        }
    };
    cx.page(SECTION, title, &content)
}
