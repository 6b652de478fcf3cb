//! The switch that freezes everything.

use axum::response::Response;
use maud::{Markup, html};

use crate::error::{PageError, refusal};
use crate::extract::{PageContext, Submitted, done, invalid_form};
use crate::form::{Body, Form};
use crate::view::fields::declared::References;
use crate::view::fields::{Fields, Sheet, body};
use crate::view::list::facts;
use crate::view::notice::Notice;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, isolated, moment_or};
use engine::management::emergency::{self, Emergency, FreezeRequest, UnfreezeRequest};
use engine::management::{Error, FreezeEverything};
use engine::resource::{Identified as _, RequestBody as _};
use formats::problem::Problem;

const SECTION: Section = Section::Services;
const PLACE: &str = "/dashboard/emergency";

/// The warning while everything is frozen.
pub(crate) async fn warning(cx: &PageContext) -> Result<Markup, PageError> {
    let switch = emergency::read(&cx.context).await?;
    Ok(html! {
        @if switch.is_frozen() {
            p.notice.bad {
                strong { "Everything is frozen." }
                " Every operation of every service gets 403 SERVICE_FROZEN. "
                a href=(PLACE) { "Reason and end of the freeze" }
            }
        }
    })
}

/// The way to the page.
pub(crate) fn link() -> Markup {
    html! { a.button href=(PLACE) { "Emergency" } }
}

pub(crate) async fn show(cx: PageContext) -> Result<Markup, PageError> {
    page(&cx, &Form::default(), &[]).await
}

pub(crate) async fn freeze(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let frozen = async {
        let request = Body(body(&form, FreezeRequest::FIELDS.iter().copied(), true)).into_new()?;
        emergency::freeze(&cx.authorize()?, request).await
    };
    answer(&cx, &form, frozen.await, Notice::Frozen).await
}

pub(crate) async fn unfreeze(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let active = async {
        let fields = UnfreezeRequest::FIELDS.iter().copied();
        let request = Body(body(&form, fields, true)).into_new()?;
        emergency::unfreeze(&cx.authorize()?, &form.expected(), request).await
    };
    answer(&cx, &form, active.await, Notice::Unfrozen).await
}

async fn answer(
    cx: &PageContext,
    form: &Form,
    changed: Result<Emergency, Error>,
    notice: Notice,
) -> Result<Response, PageError> {
    match changed {
        Ok(_) => Ok(done(PLACE, notice)),
        Err(error) => Ok(invalid_form(page(cx, form, &refusal(error)?).await?)),
    }
}

async fn page(cx: &PageContext, form: &Form, problems: &[Problem]) -> Result<Markup, PageError> {
    let switch = emergency::read(&cx.context).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { "Emergency" }
            @if switch.is_frozen() { (badge(Tone::Bad, "frozen")) } @else { (badge(Tone::Good, "active")) }
        }
        p.lead { "One switch refuses every operation of every service. Look-ups, published keys, health and management go on." }
        section.card {
            (facts([
                ("Reason", html! { @match switch.reason() { Some(reason) => (isolated(reason)), None => span.faint { "none" } } }),
                ("Frozen since", moment_or(switch.frozen_at(), "not frozen")),
                ("Frozen by", html! { @match switch.frozen_by() { Some(name) => (isolated(name)), None => span.faint { "none" } } }),
            ]))
        }
        @if cx.may::<FreezeEverything>() { (choice(cx, &switch, form, problems)) }
    };
    Ok(cx.page(SECTION, "Emergency", &content))
}

/// The form that sets or resets the switch.
fn choice(cx: &PageContext, switch: &Emergency, form: &Form, problems: &[Problem]) -> Markup {
    let (path, button, members) = if switch.is_frozen() {
        ("unfreeze", "Unfreeze everything", UnfreezeRequest::FIELDS)
    } else {
        ("freeze", "Freeze everything", FreezeRequest::FIELDS)
    };
    let form = form.clone().without("revision").with("revision", switch.revision().to_string());
    let fields = Fields::new(&form, problems);
    let sheet = Sheet { action: &format!("{PLACE}/{path}"), button, back: SECTION.place() };
    let none = References::default();
    let inputs = html! { @for member in members { (fields.declared(member, &none)) } };
    html! {
        section.card aria-labelledby="change" {
            h2 #change { (button) }
            ul.means {
                @if switch.is_frozen() {
                    li { "Services that are frozen by themselves stay frozen." }
                } @else {
                    li { "Every running application gets 403 SERVICE_FROZEN within a second." }
                    li { "Nothing is deleted. The end of the freeze can need the approval of another person." }
                }
            }
            (fields.sheet(&cx.viewer, sheet, &inputs))
        }
    }
}
