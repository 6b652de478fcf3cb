//! The revocation of an API key, with its confirmation.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Submitted, done, refused};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::isolated;
use crate::ids::ApiKeyId;
use crate::management::api_keys;
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, PageError> {
    question(&cx, id, &[]).await
}

pub(in crate::dashboard) async fn revoke(
    cx: PageContext,
    Addressed(id): Addressed<ApiKeyId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match api_keys::revoke(&cx.context, id, &form.expected()).await {
        Ok(()) => Ok(done(&place(id), Notice::Revoked)),
        Err(error) => Ok(refused(question(&cx, id, &refusal(error)?).await?)),
    }
}

async fn question(
    cx: &PageContext,
    id: ApiKeyId,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let key = api_keys::read(&cx.context, id).await?;
    let (there, revision) = (place(id), key.revision.to_string());
    let is_own = cx.viewer.administrator.api_key_id() == id;
    let question = Question {
        title: "Revoke this API key?",
        subject: html! {
            "The API key " strong { (isolated(&key.name)) } " " code { (key.hint) } " will be revoked permanently."
            @if is_own { " It is the key you are signed in with: you will be signed out." }
        },
        means: &[
            "Requests with this key get 401, on all instances within one second.",
            "Dashboard sessions of this key end immediately.",
            "The key cannot be restored. Its record remains.",
        ],
        dangerous: true,
        yes: "Revoke API key",
        action: &format!("{there}/revoke"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}
