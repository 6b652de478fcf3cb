//! The deletion of a policy, with its confirmation.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Submitted, done, refused};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::isolated;
use crate::management::policies::{self, Name};
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
) -> Result<Markup, PageError> {
    question(&cx, &name, &[]).await
}

pub(in crate::dashboard) async fn delete(
    cx: PageContext,
    Addressed(name): Addressed<Name>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match policies::delete(&cx.context, &name, &form.expected()).await {
        Ok(()) => Ok(done(SECTION.place(), Notice::Deleted)),
        Err(error) => Ok(refused(question(&cx, &name, &refusal(error)?).await?)),
    }
}

async fn question(
    cx: &PageContext,
    name: &Name,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let policy = policies::read(&cx.context, name).await?;
    let (there, revision) = (place(policy.id), policy.revision.to_string());
    let question = Question {
        title: "Delete this policy?",
        subject: html! {
            "The policy " strong { (policy.policy_number.as_str()) } " (" (isolated(&policy.name)) ") will be deleted."
        },
        means: &[
            "Requests that name it are refused, including /unprotect. To open its envelopes, use another policy with the same destination.",
            "It cannot be restored. Audit records keep its ID.",
            "Sealward refuses the deletion if an API key is bound to it.",
        ],
        dangerous: true,
        yes: "Delete policy",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}
