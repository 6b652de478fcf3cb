//! The extractors of pages.

use std::convert::Infallible;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::Markup;
use serde::de::DeserializeOwned;

use super::app::SharedDashboard;
use super::error::PageError;
use super::form::Form;
use super::view::confirm::{self, Question};
use super::view::notice::Notice;
use super::view::shell::{self, PageStatus, Section};
use super::viewer::Viewer;
use engine::management::changes;
use engine::management::security::LogRead;
use engine::management::{Actor, Authorized, Context, Error, ReadResources, Right};
use engine::request_tag::RequestTag;
use formats::clock::Timestamp;
use formats::problem::Problem;

/// The context of a page for an administrator.
pub(super) struct PageContext {
    /// The context of management functions that read resources.
    pub(super) context: Authorized<ReadResources>,
    /// The administrator who is signed in.
    pub(super) viewer: Viewer,
    /// The state that all pages share.
    pub(super) dashboard: SharedDashboard,
    /// What every page shows.
    status: PageStatus,
}

/// The segments of a path. One that cannot be decoded is answered like an unknown one.
#[derive(Debug)]
pub(super) struct PathSegments<T>(pub(super) T);

/// The submitted form. [`access`](super::access) has read it and checked its token.
#[derive(Debug)]
pub(super) struct Submitted(pub(super) Form);

/// The query string.
#[derive(Debug)]
pub(super) struct Query(pub(super) Form);

/// The resource that the path names.
#[derive(Debug)]
pub(super) struct Addressed<T>(pub(super) T);

impl PageContext {
    /// A whole page.
    pub(super) fn page(&self, section: Section, title: &str, content: &Markup) -> Markup {
        shell::page_with(&self.viewer, Some(section), title, self.status, content)
    }

    /// The confirmation page; `problems` say why the change failed.
    pub(super) fn confirmation(
        &self,
        section: Section,
        question: &Question<'_>,
        problems: &[Problem],
    ) -> Markup {
        let content = confirm::ask(&self.viewer, question, problems);
        self.page(section, question.title, &content)
    }

    /// The context of management functions that need the right `R`.
    pub(super) fn authorize<R: Right>(&self) -> Result<Authorized<R>, Error> {
        self.context.authorize()
    }

    /// Whether the administrator has the right `R`: a page offers only what it allows.
    pub(super) fn may<R: Right>(&self) -> bool {
        self.context.may::<R>()
    }

    /// Records that the administrator reads or exports an audit log.
    pub(super) async fn record_read(&self, read: LogRead<'_>) -> Result<(), PageError> {
        let context = self.authorize()?;
        Ok(self.dashboard.security.record_read(&context, read).await?)
    }

    /// The time for which a page is rendered.
    pub(super) fn now(&self) -> Timestamp {
        self.dashboard.engine.clock.now()
    }
}

/// The form with its problems.
pub(super) fn invalid_form(page: Markup) -> Response {
    (StatusCode::BAD_REQUEST, page).into_response()
}

/// The confirmation page of a change that failed.
pub(super) fn refused(page: Markup) -> Response {
    (StatusCode::CONFLICT, page).into_response()
}

/// Redirects to `place`, which shows the result.
pub(super) fn done(place: &str, notice: Notice) -> Response {
    Redirect::to(&format!("{place}?done={}", notice.name())).into_response()
}

impl FromRequestParts<SharedDashboard> for PageContext {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        dashboard: &SharedDashboard,
    ) -> Result<Self, PageError> {
        let viewer = parts.extensions.get::<Viewer>().cloned();
        let tag = parts.extensions.get::<RequestTag>();
        // A route without access control is a defect of the router.
        let (Some(viewer), Some(tag)) = (viewer, tag) else {
            return Err(PageError::Defect);
        };
        let query = Form::of(parts.uri.query().unwrap_or_default().as_bytes());
        let actor = Actor::administrator(&viewer.administrator, tag.to_string());
        let context = Context::of_request(&dashboard.engine, actor, None);
        let context = context.authorize()?;
        let status = PageStatus {
            notice: query.text("done").parse().ok(),
            pending: changes::pending(&context).await?,
        };
        Ok(Self { context, viewer, dashboard: dashboard.clone(), status })
    }
}

impl FromRequestParts<SharedDashboard> for Submitted {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &SharedDashboard) -> Result<Self, PageError> {
        parts.extensions.remove::<Form>().map(Self).ok_or(PageError::Defect)
    }
}

impl FromRequestParts<SharedDashboard> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &SharedDashboard,
    ) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(Form::of(query.as_bytes())))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<SharedDashboard> for PathSegments<T> {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &SharedDashboard,
    ) -> Result<Self, PageError> {
        let segments = Path::from_request_parts(parts, state).await;
        segments.map(|Path(segments)| Self(segments)).map_err(|_| PageError::NotFound)
    }
}

impl<T: FromStr> FromRequestParts<SharedDashboard> for Addressed<T> {
    type Rejection = PageError;

    /// A malformed id is answered like an unknown one.
    async fn from_request_parts(
        parts: &mut Parts,
        state: &SharedDashboard,
    ) -> Result<Self, PageError> {
        let PathSegments(text) = PathSegments::<String>::from_request_parts(parts, state).await?;
        text.parse().map(Self).map_err(|_| PageError::NotFound)
    }
}
