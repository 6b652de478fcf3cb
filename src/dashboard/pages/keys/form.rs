//! The form that changes the name and the expiry of a key.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Submitted, done, invalid_form};
use crate::dashboard::form::{Body, Form, moment, typed};
use crate::dashboard::view::fields::{Field, Fields, Sheet};
use crate::dashboard::view::notice::Notice;
use crate::ids::KeyId;
use crate::keys::Key;
use crate::management::Error;
use crate::management::keys::{self, KeyUpdate};
use crate::problem::Problem;

pub(in crate::dashboard) async fn edit(
    cx: PageContext,
    Addressed(id): Addressed<KeyId>,
) -> Result<Markup, PageError> {
    let key = keys::read(&cx.context, id).await?;
    let form = Form::default()
        .with("revision", key.revision.to_string())
        .with("name", key.name.as_str())
        .with_some("expiresAt", key.expires_at.map(typed));
    Ok(page(&cx, id, &form, &[]))
}

pub(in crate::dashboard) async fn update(
    cx: PageContext,
    Addressed(id): Addressed<KeyId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed(&cx, id, &form).await {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => Ok(invalid_form(page(&cx, id, &form, &refusal(error)?))),
    }
}

async fn changed(cx: &PageContext, id: KeyId, form: &Form) -> Result<Key, Error> {
    let proposal = Body::default()
        .set("name", form.text("name"))
        .set("expiresAt", moment(form.some("expiresAt")))
        .into_change::<KeyUpdate>()?;
    keys::update(
        &cx.context,
        &cx.dashboard.vault,
        id,
        &form.expected(),
        proposal,
    )
    .await
}

fn page(cx: &PageContext, id: KeyId, form: &Form, problems: &[Problem]) -> Markup {
    let fields = Fields::new(form, problems);
    let there = place(id);
    let sheet = Sheet {
        action: &format!("{there}/edit"),
        button: "Save changes",
        back: &there,
    };
    let terms = html! {
        (fields.line("text", Field {
            name: "name", label: "Name", hint: "1 to 100 characters, for people.", required: true,
        }))
        (fields.line("datetime-local", Field {
            name: "expiresAt", label: "Expires (UTC)",
            hint: "A reminder to replace the key. The overview shows it; the key continues to work.",
            required: false,
        }))
    };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Edit key" }
        (fields.sheet(&cx.viewer, sheet, &terms))
    };
    cx.page(SECTION, "Edit key", &content)
}
