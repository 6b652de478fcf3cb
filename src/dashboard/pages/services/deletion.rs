//! The deletion of a service, with its confirmation.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::error::{PageError, refusal};
use crate::dashboard::extract::{Addressed, PageContext, Submitted, done, refused};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::isolated;
use crate::ids::ServiceId;
use crate::management::services;
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, PageError> {
    question(&cx, id, &[]).await
}

pub(in crate::dashboard) async fn delete(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match services::delete(&cx.context, id, &form.expected()).await {
        Ok(()) => Ok(done(SECTION.place(), Notice::Deleted)),
        Err(error) => Ok(refused(question(&cx, id, &refusal(error)?).await?)),
    }
}

async fn question(
    cx: &PageContext,
    id: ServiceId,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let service = services::read(&cx.context, id).await?;
    let (there, revision) = (place(id), service.revision.to_string());
    let question = Question {
        title: "Delete this service?",
        subject: html! { "The service " strong { (isolated(&service.name)) } " will be deleted." },
        means: &[
            "It cannot be restored. Audit records keep its ID.",
            "Sealward refuses the deletion if a policy, a key or an API key still refers to it.",
        ],
        dangerous: true,
        yes: "Delete service",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}
