//! Why there is no page, and the page that says so.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hsm::ErrorKind;
use maud::html;

use super::gate::Viewer;
use super::view::shell;
use super::view::words::capital;
use crate::catalog::Unreadable;
use crate::management::{self, Missing};
use crate::problem::{Code, Problem};
use crate::request_tag::RequestTag;

/// Why a request gets no page as its sender hoped.
#[derive(Debug)]
pub(super) enum Fault {
    /// There is nothing at this address.
    NotFound,
    /// The use case came to nothing, for a reason that no form shows.
    Management(management::Error),
    /// Who is looking cannot be told while the database cannot be read.
    Unreadable(#[expect(dead_code, reason = "the log reads it, by Debug")] Unreadable),
    /// The form is not one that this browser was given.
    ForeignForm,
    /// The form is larger than the settings allow, or none.
    UnreadableForm,
    /// Too many requests.
    TooMany,
    /// The time for answering is over.
    TimedOut,
    /// A defect of ours.
    Defect,
}

/// Carries a fault to the gate, which knows who is looking.
#[derive(Clone, Debug)]
struct Carried(Arc<Fault>);

/// What people are told.
struct Told {
    status: StatusCode,
    title: &'static str,
    text: Cow<'static, str>,
}

impl Fault {
    fn told(&self) -> Told {
        let told = |status, title, text: &str| Told {
            status,
            title,
            text: text.to_owned().into(),
        };
        match self {
            Self::NotFound => told(
                StatusCode::NOT_FOUND,
                "There is no such page",
                "The address may be mistyped, or what it showed is gone.",
            ),
            Self::Management(error) => of_management(error),
            Self::Unreadable(_) => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "This cannot be shown at the moment",
                "The database cannot be reached. Nothing was changed: load the page again in a moment.",
            ),
            Self::ForeignForm => told(
                StatusCode::FORBIDDEN,
                "This form was not accepted",
                "It did not come from this page in this browser, or the page is older than your \
                 sign-in. Nothing was changed: open the page again and send the form from there.",
            ),
            Self::UnreadableForm => told(
                StatusCode::PAYLOAD_TOO_LARGE,
                "This form could not be read",
                "It is larger than this service accepts, or broke off. Nothing was changed.",
            ),
            Self::TooMany => told(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests",
                "Wait a moment, then load the page again.",
            ),
            Self::TimedOut => told(
                StatusCode::SERVICE_UNAVAILABLE,
                "This took too long",
                "The service did not finish in time. If you changed something, look whether it \
                 happened before you try again.",
            ),
            Self::Defect => told(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong here",
                "This is a defect of the service; its log has the details under the request below.",
            ),
        }
    }
}

fn of_management(error: &management::Error) -> Told {
    use management::Error;
    let told = |status, title, text: String| Told {
        status,
        title,
        text: text.into(),
    };
    match error {
        Error::Missing(missing) => told(
            StatusCode::NOT_FOUND,
            match missing {
                Missing::Service => "There is no such service",
                Missing::Policy => "There is no such policy",
                Missing::Key => "There is no such key",
                Missing::ApiKey => "There is no such API key",
            },
            "It may have been deleted meanwhile.".to_owned(),
        ),
        Error::Conflict(_) | Error::NotAllowed(_) | Error::Outdated | Error::Invalid(_) => {
            told(StatusCode::CONFLICT, "This was not done", sentences(error))
        }
        Error::Token(_) | Error::Database(_) => told(
            StatusCode::SERVICE_UNAVAILABLE,
            "This cannot be done at the moment",
            sentences(error),
        ),
        Error::BrokenOff => Fault::Defect.told(),
    }
}

/// What is to be told in the form that proposed it, at its fields where they are known.
///
/// # Errors
/// What no form can tell.
pub(super) fn refusal(error: management::Error) -> Result<Vec<Problem>, Fault> {
    use management::Error;
    match error {
        Error::Invalid(problems) => Ok(problems.into_vec()),
        Error::Conflict(_) | Error::NotAllowed(_) | Error::Outdated | Error::Token(_) => {
            Ok(vec![Problem::of_body(Code::Conflict, sentences(&error))])
        }
        Error::Missing(_) | Error::Database(_) | Error::BrokenOff => Err(error.into()),
    }
}

/// What a use case that came to nothing means to people. Tells nothing that only the log should.
pub(super) fn sentences(error: &management::Error) -> String {
    use management::Error;
    match error {
        Error::Conflict(why) => format!("{}.", capital(why)),
        Error::NotAllowed(why) => format!("{}.", capital(why)),
        Error::Invalid(problems) => {
            let messages = problems.as_slice().iter().map(|problem| {
                if problem.field.is_empty() {
                    format!("{}.", capital(&problem.message))
                } else {
                    format!("{}: {}.", problem.field, problem.message)
                }
            });
            messages.collect::<Vec<_>>().join(" ")
        }
        Error::Outdated => {
            "Somebody changed this after you opened the page. Look at what it is now, \
                            then decide again."
                .to_owned()
        }
        Error::Missing(missing) => format!("There is no such {missing}."),
        Error::Token(error) => match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => {
                "The token cannot be reached, or is busy. Nothing was changed.".to_owned()
            }
            ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Refused => {
                "The token refused this. Nothing was changed; the log says what it answered."
                    .to_owned()
            }
        },
        Error::Database(_) => "The database did not answer as it should. Look whether the change \
                               happened before you try again."
            .to_owned(),
        Error::BrokenOff => "The work broke off, which is a defect.".to_owned(),
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.told().status.into_response();
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
    }
}

impl From<management::Error> for Fault {
    fn from(error: management::Error) -> Self {
        Self::Management(error)
    }
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Management(error.into())
    }
}

/// The response, or the page that tells of the fault it carries.
pub(super) fn drawn(mut response: Response, viewer: Option<&Viewer>, tag: &RequestTag) -> Response {
    let Some(Carried(fault)) = response.extensions_mut().remove::<Carried>() else {
        return response;
    };
    let told = fault.told();
    if told.status.is_server_error() {
        tracing::error!(request_id = %tag, cause = ?fault, "a page could not be shown");
    } else {
        tracing::info!(request_id = %tag, cause = ?fault, "a page was refused");
    }
    let content = html! {
        div.lone {
            h1 { (told.title) }
            p { (told.text) }
            p { a.button href="/dashboard" { "Go to the overview" } }
            p.faint { "Request " code { (tag) } }
        }
    };
    let page = match viewer {
        Some(viewer) => shell::page(viewer, None, told.title, &content),
        None => shell::bare(told.title, &content),
    };
    (told.status, page).into_response()
}
