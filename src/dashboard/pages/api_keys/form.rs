//! The form that creates or changes an API key.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::{CREATE, SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Query, Submitted, done, invalid_form};
use crate::dashboard::form::{Body, Form, moment, or_null, typed};
use crate::dashboard::view::fields::{Choice, Field, Fields, Sheet};
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::services::chosen;
use crate::dashboard::view::words::isolated;
use crate::ids::{ApiKeyId, ServiceId};
use crate::management::api_keys::{self, ApiKey, ApiKeyRequest, Created, Networks};
use crate::management::{Error, policies, services};
use crate::operation::Operation;
use crate::problem::Problem;

pub(in crate::dashboard) async fn new(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    let form = Form::default()
        .with("type", "live")
        .with("serviceId", query.text("serviceId"))
        .with("operations", "all");
    creation(&cx, &form, &[]).await
}

pub(in crate::dashboard) async fn create(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match made(&cx, &form).await {
        // No redirect: only this response contains the key.
        Ok(created) => Ok((StatusCode::CREATED, shown_once(&cx, &created)).into_response()),
        Err(error) => Ok(invalid_form(creation(&cx, &form, &refusal(error)?).await?)),
    }
}

pub(in crate::dashboard) async fn edit(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, PageError> {
    let key = api_keys::read(&cx.context, id).await?;
    change(&cx, &key, &form_of(&key), &[]).await
}

pub(in crate::dashboard) async fn update(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, id, &form).await {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => {
            let problems = refusal(error)?;
            let key = api_keys::read(&cx.context, id).await?;
            Ok(invalid_form(change(&cx, &key, &form, &problems).await?))
        }
    }
}

async fn made(cx: &PageContext, form: &Form) -> Result<Created, Error> {
    let proposal = body(form)
        .set("type", form.text("type"))
        .set("serviceId", or_null(form.some("serviceId")));
    api_keys::create(&cx.context, proposal.into_new()?).await
}

async fn changed(cx: &PageContext, id: ApiKeyId, form: &Form) -> Result<ApiKey, Error> {
    let proposal = body(form).into_change::<ApiKeyRequest>()?;
    api_keys::update(&cx.context, id, &form.expected(), proposal).await
}

fn shown_once(cx: &PageContext, created: &Created) -> Markup {
    let key = &created.api_key;
    let content = html! {
        (SECTION.crumbs())
        div.head { h1 { "API key created" } }
        p.notice.warn role="status" {
            strong { "Copy the key now. It is not shown again." }
            "Store it in the secret store of the application or administrator. Sealward stores only its digest."
        }
        section.card {
            div.field {
                label for="secret" { "API key of " (isolated(&key.name)) }
                p.hint #secret-hint { "Select the whole field with Ctrl+A or ⌘A, then copy." }
                textarea.secret #secret rows="2" readonly spellcheck="false" autocomplete="off"
                    aria-describedby="secret-hint" { (created.secret.expose_secret()) }
            }
            div.actions { a.button.main href=(place(key.id)) { "I have copied it" } }
        }
    };
    cx.page(SECTION, "API key created", &content)
}

async fn creation(
    cx: &PageContext,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let policies = policies::choices(&cx.context).await?;
    let fields = Fields::new(form, problems);
    let sheet = Sheet {
        action: SECTION.place(),
        button: CREATE,
        back: SECTION.place(),
    };
    let terms = terms(&fields, || owner(&fields, &services), policies);
    Ok(page(cx, CREATE, &fields.sheet(&cx.viewer, sheet, &terms)))
}

async fn change(
    cx: &PageContext,
    key: &ApiKey,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let policies = policies::choices(&cx.context).await?;
    let fields = Fields::new(form, problems);
    let there = place(key.id);
    let sheet = Sheet {
        action: &format!("{there}/edit"),
        button: "Save changes",
        back: &there,
    };
    let fixed =
        || html! { p.lead { "Type and service of " code { (key.hint) } " cannot be changed." } };
    let terms = terms(&fields, fixed, policies);
    Ok(page(
        cx,
        "Edit API key",
        &fields.sheet(&cx.viewer, sheet, &terms),
    ))
}

fn page(cx: &PageContext, title: &str, form: &Markup) -> Markup {
    cx.page(
        SECTION,
        title,
        &html! { (SECTION.crumbs()) h1 { (title) } (form) },
    )
}

/// The type and the service, which cannot change later.
fn owner(fields: &Fields<'_>, services: &[(ServiceId, String)]) -> Markup {
    html! {
        (fields.radios(Field { name: "type", label: "Type", ..Field::default() }, &[
            Choice { value: "live", label: "Live", hint: "sk_live_: the runtime API in production." },
            Choice { value: "test", label: "Test", hint: "sk_test_: the runtime API in staging and development." },
            Choice { value: "admin", label: "Admin", hint: "sk_admin_: the management API and this dashboard, without a service." },
        ]))
        (fields.select(Field {
            name: "serviceId", label: "Service", hint: "The calling application. Required for live and test keys, not for admin keys.", required: false,
        }, Some("None (admin keys)"), chosen(services)))
    }
}

/// The fields. `owner` renders the type and the service in their place, so that problems are listed in
/// the order of the page.
fn terms(
    fields: &Fields<'_>,
    who: impl FnOnce() -> Markup,
    policies: Vec<(String, String)>,
) -> Markup {
    let policies = policies
        .into_iter()
        .map(|(number, name)| (number.clone(), format!("{number} – {name}")));
    let operations = Operation::ALL.map(|operation| Choice {
        value: operation.name(),
        label: operation.name(),
        hint: "",
    });
    html! {
        (fields.line("text", Field {
            name: "name", label: "Name", hint: "1 to 100 characters. For example, the application and its location.", required: true,
        }))
        (who())
        (fields.select(Field {
            name: "policyNumber", label: "Bound policy",
            hint: "The policy of requests without a policy number. Not for admin keys.", required: false,
        }, Some("None"), policies))
        div.option-group {
            (fields.radios(Field { name: "operations", label: "Allowed operations", ..Field::default() }, &[
                Choice { value: "all", label: "All operations of its type", hint: "" },
                Choice { value: "some", label: "Only the selected operations", hint: "" },
            ]))
            (fields.checks(Field { name: "allowedOperations", label: "Operations", ..Field::default() }, &operations))
        }
        (fields.area(Field {
            name: "allowedCidrs", label: "Allowed networks",
            hint: "One network per line, such as 192.0.2.0/24 or 2001:db8::/32. Leave empty to allow all networks.", required: false,
        }, 3))
        (fields.line("datetime-local", Field {
            name: "expiresAt", label: "Expires (UTC)", hint: "Leave empty if the key does not expire.", required: false,
        }))
    }
}

fn body(form: &Form) -> Body {
    let operations = if form.has("operations", "some") {
        form.all("allowedOperations").map(Value::from).collect()
    } else {
        Value::Null
    };
    let networks: Vec<String> = form
        .text("allowedCidrs")
        .split(['\n', ',', ' '])
        .map(|network| network.trim().to_owned())
        .filter(|network| !network.is_empty())
        .collect();
    let networks = Some(networks).filter(|networks| !networks.is_empty());
    Body::default()
        .set("name", form.text("name"))
        .set("policyNumber", or_null(form.some("policyNumber")))
        .set("allowedOperations", operations)
        .set("allowedCidrs", networks.map_or(Value::Null, Value::from))
        .set("expiresAt", moment(form.some("expiresAt")))
}

fn form_of(key: &ApiKey) -> Form {
    let mut form = Form::default()
        .with("revision", key.revision.to_string())
        .with("name", &*key.name)
        .with_some("policyNumber", key.policy_number.number())
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
    let networks = key
        .allowed_cidrs
        .iter()
        .flat_map(Networks::iter)
        .map(|network| network.to_string());
    form.with("allowedCidrs", networks.collect::<Vec<_>>().join("\n"))
}
