//! API keys: made and shown once, bound, limited, revoked.

use std::collections::HashMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::policies::{chosen, service};
use crate::auth::Kind;
use crate::clock::Timestamp;
use crate::dashboard::desk::{Addressed, Asked, Desk, Sent, done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::form::{Body, Form, moment as moment_in, or_null};
use crate::dashboard::view::confirm::{Question, ask};
use crate::dashboard::view::fields::{Choice, Field, Fields};
use crate::dashboard::view::filters::{Filters, options};
use crate::dashboard::view::list::{empty, facts, pager, table};
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::shell::{Section, token};
use crate::dashboard::view::words::{Tone, badge, distance, moment, moment_or, said};
use crate::ids::{ApiKeyId, ServiceId};
use crate::management::api_keys::{self, ApiKey, ApiKeyDraft, Created, Filter, Status};
use crate::management::{policies, services};
use crate::operation::Operation;
use crate::problem::Problem;

const PLACE: &str = Section::ApiKeys.place();

pub(in crate::dashboard) async fn list(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name: filters.text("name"),
        service_id: filters.parsed("serviceId", "this must be a service"),
        kind: filters.named("type"),
        status: filters.named("status"),
    };
    let page = api_keys::list(&desk.context, &filter, filters.page()).await?;
    let services = services::choices(&desk.context).await?;
    let names: HashMap<_, _> = services.iter().cloned().collect();
    let now = desk.now();
    let create = html! { a.button.main href={ (PLACE) "/new" } { "Create API key" } };
    let content = html! {
        div.head { h1 { "API Keys" } div.actions { (create) } }
        p.lead { "What applications and administrators authenticate with. A key is shown once, when it is made." }
        (filters.form(PLACE, |fields| html! {
            (fields.line("search", Field { name: "name", label: "Name contains", ..Field::default() }))
            (fields.select(Field { name: "type", label: "Type", ..Field::default() },
                Some("Any"), options([("live", "Live"), ("test", "Test"), ("admin", "Admin")])))
            (fields.select(Field { name: "status", label: "Status", ..Field::default() },
                Some("Any"), options([("active", "Active"), ("expired", "Expired"), ("revoked", "Revoked")])))
            (fields.select(Field { name: "serviceId", label: "Service", ..Field::default() },
                Some("Any"), chosen(&services)))
        }))
        @if !filters.are_right() || page.items.is_empty() && filters.narrow() {
            (empty("No API key fits", "Widen the filters above.", None))
        } @else {
            (table("API keys", &["API key", "Type", "Service", "Status", "Expires", "Last used"],
                page.items.iter().map(|key| row(key, &names, now))))
        }
        (pager(PLACE, filters.query(), page.next_cursor))
    };
    Ok(desk.page(Section::ApiKeys, "API Keys", &content))
}

pub(in crate::dashboard) async fn new(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let form = Form::default()
        .with("type", "live")
        .with("serviceId", query.text("serviceId"))
        .with("operations", "all");
    creation(&desk, &form, &[]).await
}

pub(in crate::dashboard) async fn create(desk: Desk, Sent(form): Sent) -> Result<Response, Fault> {
    let proposal = body(&form)
        .set("type", form.text("type"))
        .set("serviceId", or_null(form.some("serviceId")));
    let made = match proposal.into_new() {
        Ok(proposal) => api_keys::create(&desk.context, proposal).await,
        Err(error) => Err(error),
    };
    match made {
        // No redirect: the key is in this answer and nowhere else.
        Ok(created) => Ok((StatusCode::CREATED, shown_once(&desk, &created)).into_response()),
        Err(error) => {
            let page = creation(&desk, &form, &refusal(error)?).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn show(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, Fault> {
    let key = api_keys::read(&desk.context, id).await?;
    let names = services::names(&desk.context, key.service_id.as_slice()).await?;
    let now = desk.now();
    let content = html! {
        (crumbs())
        div.head {
            h1 { (said(&key.name)) }
            (status(key.status))
            @if key.status != Status::Revoked {
                div.actions {
                    a.button href={ (place(id)) "/edit" } { "Edit" }
                    a.button.danger href={ (place(id)) "/revoke" } { "Revoke" }
                }
            }
        }
        section.card {
            (facts([
                ("Key", html! { code { (key.hint) } }),
                ("Type", html! { (key.kind.name()) }),
                ("Service", owner(&key, &names)),
                ("Bound policy", bound(&key)),
                ("May be used for", html! { (operations(&key)) }),
                ("May be used from", html! { (networks(&key)) }),
                ("Expires", expiry(&key, now)),
                ("Last used", moment_or(key.last_used_at, "never")),
                ("Created", moment(key.created_at)),
                ("Changed", moment(key.updated_at)),
                ("Revoked", moment_or(key.revoked_at, "no")),
                ("ID", html! { code { (key.id) } }),
            ]))
        }
    };
    Ok(desk.page(Section::ApiKeys, &key.name, &content))
}

pub(in crate::dashboard) async fn edit(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, Fault> {
    let key = api_keys::read(&desk.context, id).await?;
    change(&desk, &key, &form_of(&key), &[]).await
}

pub(in crate::dashboard) async fn update(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    let changed = match body(&form).into_change::<ApiKeyDraft>() {
        Ok(proposal) => api_keys::update(&desk.context, id, &form.expected(), proposal).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => {
            let problems = refusal(error)?;
            let key = api_keys::read(&desk.context, id).await?;
            let page = change(&desk, &key, &form, &problems).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn ask_revoke(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, Fault> {
    revocation(&desk, id, &[]).await
}

pub(in crate::dashboard) async fn revoke(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match api_keys::revoke(&desk.context, id, &form.expected()).await {
        Ok(()) => Ok(done(&place(id), Notice::Revoked)),
        Err(error) => {
            let page = revocation(&desk, id, &refusal(error)?).await?;
            Ok((StatusCode::CONFLICT, page).into_response())
        }
    }
}

async fn revocation(desk: &Desk, id: ApiKeyId, problems: &[Problem]) -> Result<Markup, Fault> {
    let key = api_keys::read(&desk.context, id).await?;
    let (there, revision) = (place(id), key.revision.to_string());
    let is_own = desk.viewer.administrator.api_key_id() == id;
    let question = Question {
        title: "Revoke this API key?",
        subject: html! {
            "The API key " strong { (said(&key.name)) } " " code { (key.hint) } " will be refused, for good."
            @if is_own { " It is the key you are signed in with: you will be signed out." }
        },
        means: &[
            "Whoever uses it gets 401 from now on, within a second on every instance.",
            "Sessions of this dashboard that it began end at once.",
            "It cannot be brought back. Its record stays.",
        ],
        dangerous: true,
        yes: "Revoke API key",
        action: &format!("{there}/revoke"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    let content = ask(&desk.viewer, &question, problems);
    Ok(desk.page(Section::ApiKeys, "Revoke API key", &content))
}

fn shown_once(desk: &Desk, created: &Created) -> Markup {
    let key = &created.api_key;
    let content = html! {
        (crumbs())
        div.head { h1 { "API key created" } }
        p.notice.warn role="status" {
            strong { "This is the only time the key is shown." }
            "Copy it now into the secret store of whoever will use it. Here only its digest is kept."
        }
        section.card {
            div.field {
                label for="secret" { "API key of " (said(&key.name)) }
                p.hint #secret-hint { "Select the whole field with Ctrl+A or ⌘A, then copy." }
                input.secret #secret type="text" readonly value=(created.secret.expose_secret())
                    spellcheck="false" autocomplete="off" aria-describedby="secret-hint";
            }
            div.actions { a.button.main href=(place(key.id)) { "I have copied it" } }
        }
    };
    desk.page(Section::ApiKeys, "API key created", &content)
}

async fn creation(desk: &Desk, form: &Form, problems: &[Problem]) -> Result<Markup, Fault> {
    let services = services::choices(&desk.context).await?;
    let fields = Fields::new(form, problems);
    let identity = html! {
        (fields.radios(Field { name: "type", label: "Type", ..Field::default() }, &[
            Choice { value: "live", label: "Live", hint: "sk_live_: production runtime operations." },
            Choice { value: "test", label: "Test", hint: "sk_test_: staging and test operations." },
            Choice { value: "admin", label: "Admin", hint: "sk_admin_: the management API and this dashboard. Belongs to no service." },
        ]))
        (fields.select(Field {
            name: "serviceId", label: "Service", hint: "The calling application, for live and test keys.", required: false,
        }, Some("None (admin keys)"), chosen(&services)))
    };
    let terms = terms(
        desk,
        form,
        problems,
        &identity,
        PLACE,
        "Create API key",
        PLACE,
    )
    .await?;
    let content = html! { (crumbs()) h1 { "Create API key" } (terms) };
    Ok(desk.page(Section::ApiKeys, "Create API key", &content))
}

async fn change(
    desk: &Desk,
    key: &ApiKey,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, Fault> {
    let there = place(key.id);
    let action = format!("{there}/edit");
    let identity =
        html! { p.lead { "Type and service of " code { (key.hint) } " cannot be changed." } };
    let terms = terms(
        desk,
        form,
        problems,
        &identity,
        &action,
        "Save changes",
        &there,
    )
    .await?;
    let content = html! { (crumbs()) h1 { "Edit API key" } (terms) };
    Ok(desk.page(Section::ApiKeys, "Edit API key", &content))
}

async fn terms(
    desk: &Desk,
    form: &Form,
    problems: &[Problem],
    identity: &Markup,
    action: &str,
    button: &str,
    back: &str,
) -> Result<Markup, Fault> {
    let policies = policies::choices(&desk.context).await?;
    let policies = policies
        .into_iter()
        .map(|(number, name)| (number.clone(), format!("{number} – {name}")));
    let fields = Fields::new(form, problems);
    let operations = Operation::ALL.map(|operation| Choice {
        value: operation.name(),
        label: operation.name(),
        hint: "",
    });
    Ok(html! {
        form.form method="post" action=(action) novalidate {
            (token(&desk.viewer))
            @if let Some(revision) = form.some("revision") {
                input type="hidden" name="revision" value=(revision);
            }
            (fields.summary())
            (fields.line("text", Field {
                name: "name", label: "Name", hint: "Who uses it and where, in 1 to 100 characters.", required: true,
            }))
            (identity)
            (fields.select(Field {
                name: "policyNumber", label: "Bound policy",
                hint: "Used when a request names no policy. Not for admin keys.", required: false,
            }, Some("None"), policies))
            div.option-group {
                (fields.radios(Field { name: "operations", label: "What it may be used for", ..Field::default() }, &[
                    Choice { value: "all", label: "Everything its type may", hint: "" },
                    Choice { value: "some", label: "Only what is ticked below", hint: "" },
                ]))
                (fields.checks(Field { name: "allowedOperations", label: "Operations", ..Field::default() }, &operations))
            }
            (fields.area(Field {
                name: "allowedCidrs", label: "Networks it may be used from",
                hint: "One a line, such as 192.0.2.0/24 or 2001:db8::/32. Empty for anywhere.", required: false,
            }, 3))
            (fields.line("datetime-local", Field {
                name: "expiresAt", label: "Expires (UTC)", hint: "Empty for never.", required: false,
            }))
            div.actions {
                button.main type="submit" { (button) }
                a.button href=(back) { "Cancel" }
            }
        }
    })
}

fn body(form: &Form) -> Body {
    let list = |items: Vec<String>| Value::from(items);
    let operations = if form.has("operations", "some") {
        list(form.all("allowedOperations").map(str::to_owned).collect())
    } else {
        Value::Null
    };
    let networks: Vec<String> = form
        .text("allowedCidrs")
        .split(['\n', ',', ' '])
        .map(|network| network.trim().to_owned())
        .filter(|network| !network.is_empty())
        .collect();
    Body::default()
        .set("name", form.text("name"))
        .set("policyNumber", or_null(form.some("policyNumber")))
        .set("allowedOperations", operations)
        .set(
            "allowedCidrs",
            if networks.is_empty() {
                Value::Null
            } else {
                list(networks)
            },
        )
        .set("expiresAt", moment_in(form.some("expiresAt")))
}

fn form_of(key: &ApiKey) -> Form {
    let mut form = Form::default()
        .with("revision", key.revision.to_string())
        .with("name", key.name.as_str())
        .with_some("policyNumber", key.policy_number.as_deref())
        .with(
            "operations",
            if key.allowed_operations.is_some() {
                "some"
            } else {
                "all"
            },
        )
        .with_some("expiresAt", key.expires_at.map(typed));
    for operation in key
        .allowed_operations
        .iter()
        .flat_map(|allowed| allowed.iter())
    {
        form = form.with("allowedOperations", operation.name());
    }
    let networks = key.allowed_cidrs.iter().flatten().map(ToString::to_string);
    form.with("allowedCidrs", networks.collect::<Vec<_>>().join("\n"))
}

/// A moment as browsers write it into a field, to the millisecond: what is not touched stays.
pub(super) fn typed(at: Timestamp) -> String {
    at.to_string().trim_end_matches('Z').to_owned()
}

fn row(key: &ApiKey, names: &HashMap<ServiceId, String>, now: Timestamp) -> Vec<Markup> {
    vec![
        html! { a href=(place(key.id)) { (said(&key.name)) } br; span.id { (key.hint) } },
        html! { (key.kind.name()) },
        owner(key, names),
        status(key.status),
        expiry(key, now),
        match key.last_used_at {
            Some(at) => html! { (distance(now, at)) },
            None => html! { span.faint { "never" } },
        },
    ]
}

fn owner(key: &ApiKey, names: &HashMap<ServiceId, String>) -> Markup {
    match key.service_id {
        Some(id) => service(id, names),
        None => html! { span.faint { "administrators" } },
    }
}

fn bound(key: &ApiKey) -> Markup {
    match &key.policy_number {
        Some(number) => html! { a href={ "/dashboard/policies/" (number) } { (number) } },
        None => html! { span.faint { "none" } },
    }
}

fn operations(key: &ApiKey) -> String {
    match (key.kind, key.allowed_operations) {
        (Kind::Admin, _) => "management".to_owned(),
        (Kind::Live | Kind::Test, None) => "everything its type may".to_owned(),
        (Kind::Live | Kind::Test, Some(allowed)) => allowed
            .iter()
            .map(Operation::name)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn networks(key: &ApiKey) -> String {
    match &key.allowed_cidrs {
        None => "anywhere".to_owned(),
        Some(networks) => {
            let texts: Vec<_> = networks.iter().map(ToString::to_string).collect();
            texts.join(", ")
        }
    }
}

fn expiry(key: &ApiKey, now: Timestamp) -> Markup {
    match key.expires_at {
        Some(at) => html! { (moment(at)) " " span.faint { "(" (distance(now, at)) ")" } },
        None => html! { span.faint { "never" } },
    }
}

fn status(status: Status) -> Markup {
    match status {
        Status::Active => badge(Tone::Good, "active"),
        Status::Expired => badge(Tone::Warn, "expired"),
        Status::Revoked => badge(Tone::Bad, "revoked"),
    }
}

fn place(id: ApiKeyId) -> String {
    format!("{PLACE}/{id}")
}

fn crumbs() -> Markup {
    html! { p.crumbs { a href=(PLACE) { "API Keys" } } }
}
