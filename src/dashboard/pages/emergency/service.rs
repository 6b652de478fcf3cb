//! The freeze of a service, with its confirmation.

use axum::response::Response;
use maud::{Markup, html};

use super::SECTION;
use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Submitted, done, refused};
use crate::form::{Body, Form};
use crate::view::confirm::Question;
use crate::view::notice::Notice;
use crate::view::words::isolated;
use engine::ids::ServiceId;
use engine::management::services::{self, ServiceStatus};
use engine::management::{Error, ManagePolicies};
use formats::problem::Problem;

/// What a freeze does, one sentence each.
const FREEZE: [&str; 3] = [
    "Within a second, all instances refuse the operations of the service, and operations for it as the destination, with 403 SERVICE_FROZEN.",
    "Nothing is deleted. Its keys are not rotated during the freeze.",
    "The end of the freeze can need the approval of another person.",
];

pub(crate) async fn ask(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
) -> Result<Markup, PageError> {
    cx.authorize::<ManagePolicies>()?;
    question(&cx, id, &[]).await
}

pub(crate) async fn freeze(
    cx: PageContext,
    Addressed(id): Addressed<ServiceId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match frozen(&cx, id, &form).await {
        Ok(()) => Ok(done(&place(id), Notice::ServiceFrozen)),
        Err(error) => Ok(refused(question(&cx, id, &refusal(error)?).await?)),
    }
}

async fn frozen(cx: &PageContext, id: ServiceId, form: &Form) -> Result<(), Error> {
    let request = Body::default().set("status", ServiceStatus::Frozen.name()).into_change()?;
    services::update(&cx.authorize()?, id, &form.expected(), request).await?;
    Ok(())
}

async fn question(
    cx: &PageContext,
    id: ServiceId,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let service = services::read(&cx.context, id).await?;
    let revision = service.revision.to_string();
    let question = Question {
        title: "Freeze this service?",
        subject: html! { "The service " strong { (isolated(&service.name)) } " will be frozen." },
        means: &FREEZE,
        dangerous: true,
        yes: "Freeze service",
        action: &format!("{}/freeze", place(id)),
        fields: &[("revision", &revision)],
        back: &place(id),
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}

fn place(id: ServiceId) -> String {
    format!("{}/{id}", SECTION.place())
}
