//! Those whom a page of another site led here.
//!
//! Their browser keeps its cookie back, so that nobody can act in its name, and would look like one
//! that is not signed in: asked to sign in again, it would be given another secret, and a link in a
//! mail would end its session. So they are asked to come again, from a page of ours.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::view::shell;

/// Whether a request was led here by another site, as browsers say.
pub(super) fn is_from_elsewhere(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site");
    *request.method() == Method::GET && site.is_some_and(|site| site == "cross-site")
}

/// Has the browser come again.
pub(super) fn again(request: &Request) -> Response {
    let place = request.uri().path_and_query();
    let place = place.map_or("/dashboard", |place| place.as_str());
    let content = html! {
        div.lone {
            h1 { "Opening the dashboard" }
            p { a.button href=(place) { "Go on" } }
        }
    };
    let page = shell::bare("Opening the dashboard", &content);
    let Ok(refresh) = HeaderValue::from_str(&format!("0; url={place}")) else {
        return page.into_response();
    };
    (StatusCode::OK, [(header::REFRESH, refresh)], page).into_response()
}
