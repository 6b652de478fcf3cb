//! The steps that take one thing away. Each finds what an owner names, whose own page then asks.

use std::str::FromStr;

use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::{PLACE, SECTION, page};
use crate::error::{PageError, refusal};
use crate::extract::{PageContext, PathSegments, Submitted, invalid_form};
use crate::form::Form;
use crate::view::fields::{Field, Fields, Sheet};
use engine::ids::{ApiKeyId, KeyId, PersonId, ServiceId};
use engine::management::{Error, FreezeEverything, api_keys, keys, people, services};
use formats::closed_set;
use formats::problem::{Code, Problem};

closed_set! {
    /// A step, with the name of its command.
    pub(in crate) enum EmergencyStep: "EmergencyStep" {
        FreezeService = "freeze-service",
        LockPerson = "lock-person",
        DisableKey = "disable-key",
        RevokeApiKey = "revoke-api-key",
    }
}

/// Finds what the form names, and leads to the page that asks about it.
pub(crate) async fn find(
    cx: PageContext,
    PathSegments(step): PathSegments<String>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let step: EmergencyStep = step.parse().map_err(|_| PageError::NotFound)?;
    cx.authorize::<FreezeEverything>()?;
    match step.place(&cx, form.text(step.field().name)).await {
        Ok(place) => Ok(Redirect::to(&place).into_response()),
        Err(error) => {
            let problems = refusal(error)?;
            Ok(invalid_form(page(&cx, Some(step), &form, &problems).await?))
        }
    }
}

/// The forms of all steps. The form and its problems are those of `step`.
pub(super) async fn cards(
    cx: &PageContext,
    step: Option<EmergencyStep>,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let blank = Form::default();
    let card = |it: EmergencyStep| {
        let (form, problems) = if step == Some(it) { (form, problems) } else { (&blank, &[][..]) };
        let fields = Fields::new(form, problems);
        let input = match it {
            EmergencyStep::FreezeService => {
                let services = services.iter().map(|(id, name)| (id.to_string(), name.clone()));
                fields.select(it.field(), Some("Choose a service"), services)
            }
            EmergencyStep::LockPerson | EmergencyStep::DisableKey | EmergencyStep::RevokeApiKey => {
                fields.line("text", it.field())
            }
        };
        let action = format!("{PLACE}/{}", it.name());
        let sheet = Sheet { action: &action, button: "Continue", back: SECTION.place() };
        html! {
            section.card aria-labelledby=(it.name()) {
                h2 id=(it.name()) { (it.title()) }
                (fields.sheet(&cx.viewer, sheet, &input))
            }
        }
    };
    Ok(html! { @for step in EmergencyStep::ALL { (card(step)) } })
}

impl EmergencyStep {
    const fn title(self) -> &'static str {
        match self {
            Self::FreezeService => "Freeze a service",
            Self::LockPerson => "Lock a person",
            Self::DisableKey => "Disable a key",
            Self::RevokeApiKey => "Revoke an API key",
        }
    }

    const fn field(self) -> Field<'static> {
        let (name, label, hint) = match self {
            Self::FreezeService => ("service", "Service", "Its operations will be refused."),
            Self::LockPerson => ("person", "Person", "The ID or the subject of the person."),
            Self::DisableKey => ("key", "Key", "The ID of the key."),
            Self::RevokeApiKey => ("apiKey", "API key", "The ID of the API key, not its secret."),
        };
        Field { name, label, hint, required: true }
    }

    /// The page that asks about what `named` names.
    async fn place(self, cx: &PageContext, named: &str) -> Result<String, Error> {
        let place = match self {
            Self::FreezeService => {
                let id: ServiceId = self.id(named)?;
                let found = services::read(&cx.context, id).await;
                found.map(|_| format!("services/{id}/freeze"))
            }
            Self::LockPerson => self.person(cx, named).await.map(|id| format!("people/{id}/lock")),
            Self::DisableKey => {
                let id: KeyId = self.id(named)?;
                keys::read(&cx.context, id).await.map(|_| format!("keys/{id}/disable"))
            }
            Self::RevokeApiKey => {
                let id: ApiKeyId = self.id(named)?;
                let found = api_keys::read(&cx.authorize()?, id).await;
                found.map(|_| format!("api-keys/{id}/revoke"))
            }
        };
        match place {
            Ok(place) => Ok(format!("/dashboard/{place}")),
            Err(Error::Missing(_)) => Err(self.problem("names nothing that exists")),
            Err(error) => Err(error),
        }
    }

    async fn person(self, cx: &PageContext, named: &str) -> Result<PersonId, Error> {
        let context = cx.authorize()?;
        match people::named(&context, named).await?[..] {
            [id] => people::read(&context, id).await.map(|person| person.id),
            _ => Err(self.problem("is the subject of several people: enter the ID of one of them")),
        }
    }

    fn id<I: FromStr>(self, named: &str) -> Result<I, Error> {
        named.parse().map_err(|_| self.problem("must be an ID"))
    }

    fn problem(self, message: &'static str) -> Error {
        Problem::new(self.field().name, Code::Unknown, message).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_a_field_of_its_own() {
        let names = EmergencyStep::ALL.map(|step| step.field().name);
        let mut distinct = names.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }
}
