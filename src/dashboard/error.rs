//! Errors of pages, and the page that shows them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use hsm::ErrorKind;
use maud::html;

use super::view::notice::Notice;
use super::view::shell;
use super::view::words::capital;
use super::viewer::Viewer;
use engine::auth::Denied;
use engine::catalog::Unreadable;
use engine::db::is_transient;
use engine::management;
use engine::request_tag::RequestTag;
use engine::web::Cause;
use formats::problem::{Code, Problem};

/// Why a page cannot be shown or a form was refused.
#[derive(Debug)]
pub(super) enum PageError {
    /// No page has this address.
    NotFound,
    /// The change failed for a reason that no form shows.
    Management(management::Error),
    /// The session cannot be read from the database.
    Unreadable(Unreadable),
    /// The provider has not confirmed the person of the session for too long.
    Unconfirmed,
    /// The form token does not belong to this browser.
    ForeignForm,
    /// The form is too large or incomplete.
    UnreadableForm,
    /// The rate limit is exceeded.
    TooMany,
    /// The address has too many look-ups of unknown sessions.
    Crowded,
    /// Other large bodies used the memory for too long.
    NoMemory,
    /// The request exceeded its time limit.
    TimedOut,
    /// A defect of the service.
    Defect,
}

/// Carries an error to the access control, which knows the viewer.
#[derive(Clone, Debug)]
struct CarriedError(Arc<PageError>);

/// The text of an error page.
struct Description {
    status: StatusCode,
    title: &'static str,
    text: Cow<'static, str>,
}

impl PageError {
    /// The cause, for the log only.
    fn cause(&self) -> String {
        match self {
            Self::Management(management::Error::Token(error)) => error.report(),
            Self::Management(error) => error.to_string(),
            Self::Unreadable(Unreadable(error)) => error.to_string(),
            Self::NotFound
            | Self::Unconfirmed
            | Self::ForeignForm
            | Self::UnreadableForm
            | Self::TooMany
            | Self::Crowded
            | Self::NoMemory
            | Self::TimedOut
            | Self::Defect => self.describe().title.to_owned(),
        }
    }

    fn describe(&self) -> Description {
        let description =
            |status, title, text: &str| Description { status, title, text: text.to_owned().into() };
        match self {
            Self::NotFound => description(
                StatusCode::NOT_FOUND,
                "Page not found",
                "Check the address. The resource may have been deleted.",
            ),
            Self::Management(error) => of_management(error),
            Self::Unreadable(error) if !error.is_transient() => Self::Defect.describe(),
            Self::Unreadable(_) => description(
                StatusCode::SERVICE_UNAVAILABLE,
                "This page is temporarily unavailable",
                "The database cannot be reached. Nothing was changed. Reload the page in a moment.",
            ),
            Self::Unconfirmed => description(
                StatusCode::UNAUTHORIZED,
                "Your sign-in must be confirmed",
                "Nothing was changed. Open a page: the sign-in service of your organization then confirms your \
                 session. Send the form again from there.",
            ),
            Self::ForeignForm => description(
                StatusCode::FORBIDDEN,
                "This form was not accepted",
                "It was not sent from this page in this browser, or the page is older than your \
                 sign-in. Nothing was changed. Open the page again and send the form from there.",
            ),
            Self::UnreadableForm => description(
                StatusCode::PAYLOAD_TOO_LARGE,
                "This form could not be read",
                "It is larger than the limit, or incomplete. Nothing was changed.",
            ),
            Self::TooMany => description(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests",
                "Wait a moment, then load the page again.",
            ),
            Self::Crowded => description(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests",
                "Your address sends too many requests with unknown sessions. Reload the page in a moment.",
            ),
            Self::NoMemory => description(
                StatusCode::SERVICE_UNAVAILABLE,
                "This page is temporarily unavailable",
                "Too many large requests are in memory. Nothing was changed. Send the form again in a moment.",
            ),
            Self::TimedOut => description(
                StatusCode::SERVICE_UNAVAILABLE,
                "This took too long",
                "The request exceeded its time limit. If you changed something, check whether the change \
                 was made before you try again.",
            ),
            Self::Defect => description(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Internal error",
                "This is a defect of the service. Its log has the details under the request ID below.",
            ),
        }
    }
}

fn of_management(error: &management::Error) -> Description {
    use management::Error;
    let description =
        |status, title, text: String| Description { status, title, text: text.into() };
    match error {
        Error::Missing(missing) => description(
            StatusCode::NOT_FOUND,
            "Resource not found",
            format!("The {} does not exist. It may have been deleted.", missing.label()),
        ),
        Error::Conflict(_)
        | Error::NotAllowed(_)
        | Error::BelowFloor(_)
        | Error::Outdated
        | Error::Invalid(_) => {
            description(StatusCode::CONFLICT, "The change was refused", sentences(error))
        }
        Error::Forbidden(_) | Error::NotAnApprover(_) => {
            description(StatusCode::FORBIDDEN, "Your roles do not allow this", sentences(error))
        }
        Error::Database(error) if !is_transient(error) => PageError::Defect.describe(),
        Error::Token(_) | Error::Database(_) => description(
            StatusCode::SERVICE_UNAVAILABLE,
            "The change is temporarily impossible",
            sentences(error),
        ),
        Error::Unauthenticated => {
            description(StatusCode::UNAUTHORIZED, "Your session has ended", sentences(error))
        }
        Error::Proposed(_) => {
            description(StatusCode::ACCEPTED, "The change needs approval", sentences(error))
        }
        Error::BrokenOff => PageError::Defect.describe(),
    }
}

/// The problems to show in the form, at its fields where they are known.
pub(super) fn refusal(error: management::Error) -> Result<Vec<Problem>, PageError> {
    use management::Error;
    match error {
        Error::Invalid(problems) => Ok(problems.into_vec()),
        Error::Conflict(_)
        | Error::NotAllowed(_)
        | Error::BelowFloor(_)
        | Error::Outdated
        | Error::Token(_) => Ok(vec![Problem::of_body(Code::Conflict, sentences(&error))]),
        Error::Missing(_)
        | Error::Forbidden(_)
        | Error::NotAnApprover(_)
        | Error::Proposed(_)
        | Error::Unauthenticated
        | Error::Database(_)
        | Error::BrokenOff => Err(error.into()),
    }
}

/// The text of a failed change, without anything that only the log may hold.
pub(super) fn sentences(error: &management::Error) -> String {
    use management::Error;
    match error {
        Error::Conflict(why) => format!("{}.", capital(why)),
        Error::NotAllowed(why) | Error::NotAnApprover(why) => format!("{}.", capital(why)),
        Error::BelowFloor(breach) => format!("{}.", capital(&breach.to_string())),
        Error::Proposed(_) => "The change awaits approval. Nothing else was changed.".to_owned(),
        Error::Forbidden(_) => format!("This {error}. Nothing was changed."),
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
            "The resource changed after you opened the page. Check its current state, then \
                            try again."
                .to_owned()
        }
        Error::Missing(missing) => format!("The {} does not exist.", missing.label()),
        Error::Token(error) => match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => {
                "The token is unavailable or busy. Nothing was changed.".to_owned()
            }
            ErrorKind::BadInput
            | ErrorKind::KeyMissing
            | ErrorKind::Unusable
            | ErrorKind::Refused => {
                "The token refused the operation. Nothing was changed. The log has the details."
                    .to_owned()
            }
        },
        Error::Database(_) => {
            "The database failed. Check whether the change was made before you try again."
                .to_owned()
        }
        Error::Unauthenticated => {
            "Your API key was revoked or has expired. Nothing was changed.".to_owned()
        }
        Error::BrokenOff => "The operation stopped because of a defect.".to_owned(),
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let Self::Management(management::Error::Proposed(proposed)) = &self {
            let place = format!("/dashboard/changes/{}", proposed.proposal.id);
            return Redirect::to(&format!("{place}?done={}", Notice::Proposed.name()))
                .into_response();
        }
        let mut response = self.describe().status.into_response();
        response.extensions_mut().insert(CarriedError(Arc::new(self)));
        response
    }
}

impl From<management::Error> for PageError {
    fn from(error: management::Error) -> Self {
        Self::Management(error)
    }
}

impl From<Unreadable> for PageError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

/// A session cannot be resumed. A refused credential has no session.
impl From<Denied> for PageError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Refused(_) => Self::Management(management::Error::Unauthenticated),
            Denied::Unreadable(unreadable) => unreadable.into(),
            Denied::Crowded => Self::Crowded,
        }
    }
}

impl From<sqlx::Error> for PageError {
    fn from(error: sqlx::Error) -> Self {
        Self::Management(error.into())
    }
}

/// The response, or the page for the error that it carries.
pub(super) fn render(
    mut response: Response,
    viewer: Option<&Viewer>,
    tag: &RequestTag,
) -> Response {
    let Some(CarriedError(error)) = response.extensions_mut().remove::<CarriedError>() else {
        return response;
    };
    let description = error.describe();
    let content = html! {
        div.lone {
            h1 { (description.title) }
            p { (description.text) }
            p { a.button href="/dashboard" { "Go to the overview" } }
            p.faint { "Request " code { (tag) } }
        }
    };
    let page = match viewer {
        Some(viewer) => shell::page(viewer, None, description.title, &content),
        None => shell::bare(description.title, &content),
    };
    let mut response = (description.status, page).into_response();
    response.extensions_mut().insert(Cause(error.cause()));
    response
}
