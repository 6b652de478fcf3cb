//! The deletion or revocation of a resource, with its confirmation.

use axum::response::Response;
use maud::Markup;

use super::form::Editable;
use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Submitted, done, refused};
use crate::view::confirm::Question;
use crate::view::notice::Notice;
use engine::management::{Error, Expected};
use formats::problem::Problem;

/// A resource that a page deletes or revokes.
pub(crate) trait Removable: Editable {
    /// The verb on the button.
    const VERB: &'static str = "Delete";
    /// The last segment of the path.
    const STEP: &'static str = "delete";
    const NOTICE: Notice = Notice::Deleted;
    /// The consequences, one sentence each.
    const CONSEQUENCES: &'static [&'static str];

    /// The sentence that names the resource.
    fn subject(&self, cx: &PageContext) -> Markup;

    /// Removes it. Returns the path of the next page.
    fn remove(
        cx: &PageContext,
        address: &Self::Address,
        expected: &Expected,
    ) -> impl Future<Output = Result<String, Error>> + Send;
}

pub(crate) async fn ask<R: Removable>(
    cx: PageContext,
    Addressed(address): Addressed<R::Address>,
) -> Result<Markup, PageError> {
    cx.authorize::<R::Right>()?;
    question::<R>(&cx, &address, &[]).await
}

pub(crate) async fn remove<R: Removable>(
    cx: PageContext,
    Addressed(address): Addressed<R::Address>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match R::remove(&cx, &address, &form.expected()).await {
        Ok(place) => Ok(done(&place, R::NOTICE)),
        Err(error) => Ok(refused(question::<R>(&cx, &address, &refusal(error)?).await?)),
    }
}

async fn question<R: Removable>(
    cx: &PageContext,
    address: &R::Address,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let resource = R::read(cx, address).await?;
    let (there, revision) = (resource.place(), resource.revision().to_string());
    let question = Question {
        title: &format!("{} this {}?", R::VERB, R::NOUN),
        subject: resource.subject(cx),
        means: R::CONSEQUENCES,
        dangerous: true,
        yes: &format!("{} {}", R::VERB, R::NOUN),
        action: &format!("{there}/{}", R::STEP),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(cx.confirmation(R::SECTION, &question, problems))
}
