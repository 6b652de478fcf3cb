//! What an owner takes away at once: the switch that freezes everything, and the ways to the confirmations of all
//! else.

pub(crate) mod service;
pub(crate) mod steps;

use axum::response::Response;
use maud::{Markup, html};

use self::steps::EmergencyStep;
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
    page(&cx, None, &Form::default(), &[]).await
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
        Err(error) => Ok(invalid_form(page(cx, None, form, &refusal(error)?).await?)),
    }
}

/// The page. The form and its problems are those of a step, or else of the switch.
async fn page(
    cx: &PageContext,
    step: Option<EmergencyStep>,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let switch = emergency::read(&cx.context).await?;
    let blank = Form::default();
    let (of_switch, of_switch_problems) =
        if step.is_none() { (form, problems) } else { (&blank, &[][..]) };
    let is_owner = cx.may::<FreezeEverything>();
    let steps = match is_owner {
        true => Some(steps::cards(cx, step, form, problems).await?),
        false => None,
    };
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
        @if is_owner { (choice(cx, &switch, of_switch, of_switch_problems)) }
        @if let Some(steps) = steps { (steps) (ends()) }
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

/// What was taken away, and how each of it ends.
fn ends() -> Markup {
    let rows = [
        (
            "/dashboard/services?status=frozen",
            "Frozen services",
            "Set the status to active. This can need the approval credential.open, like the end of the freeze of everything.",
        ),
        (
            "/dashboard/people?status=locked",
            "Locked people",
            "Unlock the person. This can need the approval api-key.admin.",
        ),
        (
            "/dashboard/keys?status=disabled",
            "Disabled keys",
            "Activate or retire the key. Its activation can need the approval key.activate.",
        ),
        ("/dashboard/api-keys", "API keys", "A revocation is permanent. Create another API key."),
    ];
    html! {
        section.card aria-labelledby="ends" {
            h2 #ends { "How it ends" }
            ul {
                @for (place, name, end) in rows { li { a href=(place) { (name) } ": " (end) } }
            }
        }
    }
}
