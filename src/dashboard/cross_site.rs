//! Navigation from another site.
//!
//! The browser withholds its `SameSite=Strict` cookie and so seems to be signed out. A sign-in page
//! would replace its secret and end its session. The response therefore reloads the page from this
//! site, which sends the cookie.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::pages::sign_in::provider::is_check;
use super::view::shell;

/// Whether the browser reports a navigation from another site.
pub(super) fn is_cross_site(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site");
    *request.method() == Method::GET && site.is_some_and(|site| site == "cross-site")
}

/// Makes the browser load the same page from this site.
pub(super) fn reload(request: &Request) -> Response {
    // From this site, the link of another one would start a check.
    let place = request.uri().path_and_query().filter(|_| !is_check(request.uri()));
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
