//! The end of an API key, asked about before it comes.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::desk::{Addressed, Desk, Sent, done, not_done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::said;
use crate::ids::ApiKeyId;
use crate::management::api_keys;
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
) -> Result<Markup, Fault> {
    question(&desk, id, &[]).await
}

pub(in crate::dashboard) async fn revoke(
    desk: Desk,
    Addressed(id): Addressed<ApiKeyId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match api_keys::revoke(&desk.context, id, &form.expected()).await {
        Ok(()) => Ok(done(&place(id), Notice::Revoked)),
        Err(error) => Ok(not_done(question(&desk, id, &refusal(error)?).await?)),
    }
}

async fn question(desk: &Desk, id: ApiKeyId, problems: &[Problem]) -> Result<Markup, Fault> {
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
    Ok(desk.asks(SECTION, &question, problems))
}
