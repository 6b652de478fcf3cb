//! What a page is given of its request.

use std::convert::Infallible;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::Markup;

use super::app::Dashboard;
use super::fault::Fault;
use super::form::Form;
use super::gate::Viewer;
use super::view::confirm::{self, Question};
use super::view::notice::Notice;
use super::view::shell::{self, Section};
use crate::clock::Timestamp;
use crate::management::{Actor, Context};
use crate::problem::Problem;
use crate::request_tag::RequestTag;

/// An administrator at work.
#[derive(Debug)]
pub(super) struct Desk {
    /// What every use case is given.
    pub(super) context: Context,
    /// Who is looking.
    pub(super) viewer: Viewer,
    /// Everything else there is.
    pub(super) dashboard: Dashboard,
    /// What the last page has to say of what was just done.
    notice: Option<Notice>,
}

/// The form that was sent. The gate has read it and found it to be this browser's own.
#[derive(Debug)]
pub(super) struct Sent(pub(super) Form);

/// The query of the address.
#[derive(Debug)]
pub(super) struct Asked(pub(super) Form);

/// What the last part of the path names.
#[derive(Debug)]
pub(super) struct Addressed<T>(pub(super) T);

impl Desk {
    /// A whole page.
    pub(super) fn page(&self, section: Section, title: &str, content: &Markup) -> Markup {
        shell::page_with(&self.viewer, Some(section), title, self.notice, content)
    }

    /// The page that asks before something is done; `problems` are why it came to nothing.
    pub(super) fn asks(
        &self,
        section: Section,
        question: &Question<'_>,
        problems: &[Problem],
    ) -> Markup {
        let content = confirm::ask(&self.viewer, question, problems);
        self.page(section, question.title, &content)
    }

    /// The moment for which pages are drawn.
    pub(super) fn now(&self) -> Timestamp {
        self.dashboard.clock.now()
    }
}

/// The form again, with what is wrong with it.
pub(super) fn wrong(page: Markup) -> Response {
    (StatusCode::BAD_REQUEST, page).into_response()
}

/// The question again, with why nothing came of the answer.
pub(super) fn not_done(page: Markup) -> Response {
    (StatusCode::CONFLICT, page).into_response()
}

/// Goes on to `place`, which tells what was done.
pub(super) fn done(place: &str, notice: Notice) -> Response {
    Redirect::to(&format!("{place}?done={}", notice.name())).into_response()
}

impl FromRequestParts<Dashboard> for Desk {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Dashboard) -> Result<Self, Fault> {
        let viewer = parts.extensions.get::<Viewer>().cloned();
        let tag = parts.extensions.get::<RequestTag>();
        // A page that asks for a desk and is not behind the gate is a defect of the router.
        let (Some(viewer), Some(tag)) = (viewer, tag) else {
            return Err(Fault::Defect);
        };
        let query = Form::of(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            context: Context {
                clock: dashboard.clock.clone(),
                entropy: dashboard.entropy,
                catalog: dashboard.catalog.clone(),
                pool: dashboard.database.clone(),
                actor: Actor::administrator(&viewer.administrator, tag.to_string()),
            },
            viewer,
            dashboard: dashboard.clone(),
            notice: Notice::named(query.text("done")),
        })
    }
}

impl FromRequestParts<Dashboard> for Sent {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &Dashboard) -> Result<Self, Fault> {
        parts
            .extensions
            .remove::<Form>()
            .map(Self)
            .ok_or(Fault::Defect)
    }
}

impl FromRequestParts<Dashboard> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Dashboard) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(Form::of(query.as_bytes())))
    }
}

impl<T: FromStr> FromRequestParts<Dashboard> for Addressed<T> {
    type Rejection = Fault;

    /// What cannot be a name at all names nothing.
    async fn from_request_parts(parts: &mut Parts, state: &Dashboard) -> Result<Self, Fault> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|_| Fault::NotFound)?;
        text.parse().map(Self).map_err(|_| Fault::NotFound)
    }
}
