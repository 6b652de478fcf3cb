//! The end of a policy, asked about before it comes.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::desk::{Addressed, Desk, Sent, done, not_done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::said;
use crate::management::policies::{self, Name};
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    desk: Desk,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, Fault> {
    question(&desk, &name, &[]).await
}

pub(in crate::dashboard) async fn delete(
    desk: Desk,
    Addressed(name): Addressed<Name>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match policies::delete(&desk.context, &name, &form.expected()).await {
        Ok(()) => Ok(done(SECTION.place(), Notice::Deleted)),
        Err(error) => Ok(not_done(question(&desk, &name, &refusal(error)?).await?)),
    }
}

async fn question(desk: &Desk, name: &Name, problems: &[Problem]) -> Result<Markup, Fault> {
    let policy = policies::read(&desk.context, name).await?;
    let (there, revision) = (place(policy.id), policy.revision.to_string());
    let question = Question {
        title: "Delete this policy?",
        subject: html! {
            "The policy " strong { (policy.policy_number.as_str()) } " (" (said(&policy.name)) ") will be deleted."
        },
        means: &[
            "Requests that name it are refused from then on, to unprotect too: what was protected under it needs another policy with the same destination.",
            "It cannot be brought back; audit records go on naming it.",
            "This is refused while an API key is bound to it.",
        ],
        dangerous: true,
        yes: "Delete policy",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(desk.asks(SECTION, &question, problems))
}
