//! The end of a service, asked about before it comes.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place};
use crate::dashboard::desk::{Addressed, Desk, Sent, done, not_done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::view::confirm::Question;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::words::said;
use crate::ids::ServiceId;
use crate::management::services;
use crate::problem::Problem;

pub(in crate::dashboard) async fn ask(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, Fault> {
    question(&desk, id, &[]).await
}

pub(in crate::dashboard) async fn delete(
    desk: Desk,
    Addressed(id): Addressed<ServiceId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    match services::delete(&desk.context, id, &form.expected()).await {
        Ok(()) => Ok(done(SECTION.place(), Notice::Deleted)),
        Err(error) => Ok(not_done(question(&desk, id, &refusal(error)?).await?)),
    }
}

async fn question(desk: &Desk, id: ServiceId, problems: &[Problem]) -> Result<Markup, Fault> {
    let service = services::read(&desk.context, id).await?;
    let (there, revision) = (place(id), service.revision.to_string());
    let question = Question {
        title: "Delete this service?",
        subject: html! { "The service " strong { (said(&service.name)) } " will be deleted." },
        means: &[
            "It cannot be brought back; audit records go on naming it.",
            "This is refused while a policy, a key or an API key still refers to it.",
        ],
        dangerous: true,
        yes: "Delete service",
        action: &format!("{there}/delete"),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(desk.asks(SECTION, &question, problems))
}
