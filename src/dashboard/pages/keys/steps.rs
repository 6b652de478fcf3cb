//! The actions on a key, with their confirmations.

use axum::response::Response;
use maud::{Markup, html};

use super::{SECTION, place, rules, status};
use crate::error::{PageError, refusal};
use crate::extract::{PageContext, PathSegments, Submitted, done, refused};
use crate::form::{Body, Form};
use crate::view::confirm::Question;
use crate::view::notice::Notice;
use crate::view::words::{isolated, moment, span, words};
use engine::ids::KeyId;
use engine::keys::{Key, KeyOrigin, KeyStatus, RotationDays};
use engine::management::keys::{self, KeyRequest, KeyUpdate};
use engine::management::{Error, Expected, ManageKeys};
use formats::closed_set;
use formats::problem::Problem;

closed_set! {
    /// An action on a key.
    pub(in crate) enum KeyAction: "Step" {
        Rotate = "rotate",
        Activate = "activate",
        Retire = "retire",
        Disable = "disable",
        Restore = "restore",
        Delete = "delete",
    }
}

impl KeyAction {
    /// The label of the button.
    pub(super) fn button(self) -> String {
        words(self.name())
    }

    pub(super) const fn is_dangerous(self) -> bool {
        matches!(self, Self::Disable | Self::Delete)
    }

    /// Whether the action applies to the key in its state.
    pub(super) fn fits(self, key: &Key) -> bool {
        use KeyStatus::{Active, Disabled, PendingDestruction, Retired};
        match self {
            // Sealward generates the new key, so it does not rotate imported keys.
            Self::Rotate => key.status == Active && key.origin == KeyOrigin::Generated,
            Self::Activate => matches!(key.status, Retired | Disabled),
            Self::Retire => matches!(key.status, Active | Disabled),
            Self::Disable => matches!(key.status, Active | Retired),
            Self::Restore => key.status == PendingDestruction,
            Self::Delete => matches!(key.status, Active | Retired | Disabled),
        }
    }

    /// The new state, if the action only changes the state.
    const fn leads_to(self) -> Option<KeyStatus> {
        match self {
            Self::Activate => Some(KeyStatus::Active),
            Self::Retire => Some(KeyStatus::Retired),
            Self::Disable | Self::Restore => Some(KeyStatus::Disabled),
            Self::Rotate | Self::Delete => None,
        }
    }

    const fn notice(self) -> Notice {
        match self {
            Self::Rotate => Notice::Rotated,
            Self::Restore => Notice::Restored,
            Self::Activate | Self::Retire | Self::Disable | Self::Delete => Notice::Saved,
        }
    }

    const fn means(self) -> &'static [&'static str] {
        match self {
            Self::Rotate => &[
                "The token generates a new key with the same algorithm and use. The new key becomes active.",
                "This key becomes retired: it no longer protects, encrypts or signs, but still unprotects, decrypts and verifies.",
                "If the new key needs approval, an envelope key becomes retired with the approval. Retire a signing or data key yourself after the approval.",
            ],
            Self::Activate => &[
                "The key protects, encrypts and signs again.",
                "The active envelope key of the same service and family becomes retired in the same transaction.",
            ],
            Self::Retire => &[
                "The key no longer protects, encrypts or signs.",
                "It still unprotects, decrypts and verifies.",
                "If it is the only active envelope key of the service, /protect and /unprotect fail for this destination.",
            ],
            Self::Disable => &[
                "The key cannot be used. Its envelopes cannot be opened until it is active or retired again.",
                "If it is the only active envelope key of the service, /protect and /unprotect fail for this destination.",
            ],
            Self::Restore => {
                &["The key is not destroyed. It is disabled until you activate or retire it."]
            }
            Self::Delete => &[
                "The key cannot be used from now on. Its envelopes cannot be opened.",
                "After the destruction delay the token destroys the key, and data protected with it is lost.",
                "Until then you can restore the key.",
            ],
        }
    }
}

/// The key and the step that a path names.
fn named((id, step): (String, String)) -> Result<(KeyId, KeyAction), PageError> {
    let id = id.parse().map_err(|_| PageError::NotFound)?;
    let step = step.parse().map_err(|_| PageError::NotFound)?;
    Ok((id, step))
}

pub(crate) async fn confirm(
    cx: PageContext,
    PathSegments(path): PathSegments<(String, String)>,
) -> Result<Markup, PageError> {
    let (id, step) = named(path)?;
    cx.authorize::<ManageKeys>()?;
    question(&cx, id, step, &[]).await
}

pub(crate) async fn take(
    cx: PageContext,
    PathSegments(path): PathSegments<(String, String)>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let (id, step) = named(path)?;
    match carry_out(&cx, id, step, &form).await {
        Ok(id) => Ok(done(&place(id), step.notice())),
        Err(error) => Ok(refused(question(&cx, id, step, &refusal(error)?).await?)),
    }
}

async fn carry_out(
    cx: &PageContext,
    id: KeyId,
    step: KeyAction,
    form: &Form,
) -> Result<KeyId, Error> {
    cx.authorize::<ManageKeys>()?;
    let expected = form.expected();
    let key = keys::read(&cx.context, id).await?;
    if !step.fits(&key) {
        let status = key.status.name();
        return Err(Error::Conflict(format!(
            "the action \"{step}\" does not apply to a key that is {status}"
        )));
    }
    match step {
        KeyAction::Rotate => rotate(cx, id, &expected).await,
        KeyAction::Delete => {
            keys::delete(&cx.authorize()?, rules(cx), id, &expected).await?;
            Ok(id)
        }
        KeyAction::Activate | KeyAction::Retire | KeyAction::Disable | KeyAction::Restore => {
            let status = step.leads_to().map(KeyStatus::name);
            let proposal = Body::default().set_some("status", status).into_change::<KeyUpdate>()?;
            let (context, vault) = (&cx.authorize()?, &cx.dashboard.vault);
            keys::update(context, vault, rules(cx), id, &expected, proposal).await?;
            Ok(id)
        }
    }
}

/// Generates a key with the same properties, which is the next version of its name, and retires this one.
async fn rotate(cx: &PageContext, id: KeyId, expected: &Expected) -> Result<KeyId, Error> {
    let former = keys::read(&cx.context, id).await?;
    expected.check(former.revision)?;
    let body = Body::default()
        .set("serviceId", former.service_id.to_string())
        .set("name", &*former.name)
        .set("use", former.usage.name())
        .set("algorithm", former.algorithm.name())
        .set_some("rotationDays", former.rotation_days.map(RotationDays::days))
        .set("generate", true);
    let vault = &cx.dashboard.vault;
    let made =
        keys::create(&cx.authorize()?, vault, rules(cx), body.into_new::<KeyRequest>()?).await?;
    // That transaction has retired an envelope key. Other keys are retired here.
    let former = keys::read(&cx.context, id).await?;
    if former.status == KeyStatus::Active {
        let retire = Body::default().set("status", KeyStatus::Retired.name());
        keys::update(&cx.authorize()?, vault, rules(cx), id, &Expected::Any, retire.into_change()?)
            .await?;
    }
    Ok(made.id)
}

async fn question(
    cx: &PageContext,
    id: KeyId,
    step: KeyAction,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let key = keys::read(&cx.context, id).await?;
    let (there, revision) = (place(id), key.revision.to_string());
    let delay = rules(cx).destruction_delay;
    let question = Question {
        title: &format!("{} this key?", step.button()),
        subject: html! {
            strong { (isolated(&key.name)) } " (" code { (key.id) } ", " (key.algorithm.name()) ") is " (status(key.status)) "."
            @if step == KeyAction::Delete {
                " It will be destroyed on " (moment(cx.now().plus(delay)))
                ", in " (span(delay)) "."
            }
        },
        means: step.means(),
        dangerous: step.is_dangerous(),
        yes: &format!("{} key", step.button()),
        action: &format!("{there}/{}", step.name()),
        fields: &[("revision", &revision)],
        back: &there,
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_by_its_name() {
        for step in KeyAction::ALL {
            assert_eq!(step.name().parse(), Ok(step));
        }
        assert!("destroy".parse::<KeyAction>().is_err());
    }
}
