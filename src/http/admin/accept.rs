//! The format that a client wants.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use crate::app::App;

/// The media types that the client accepts, in its order and without parameters.
#[derive(Debug)]
pub(crate) struct Accept(Vec<String>);

impl FromRequestParts<App> for Accept {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let lines = parts.headers.get_all(header::ACCEPT).iter();
        let media = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','))
            .map(|media| media.split(';').next().unwrap_or_default().trim())
            .map(str::to_ascii_lowercase);
        Ok(Self(media.collect()))
    }
}

impl Accept {
    /// What the first media type that `known` knows stands for.
    pub(super) fn first<T>(&self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|media| known(media))
    }
}
