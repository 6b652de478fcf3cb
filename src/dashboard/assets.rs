//! The stylesheet and the icon, embedded in the binary.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");
const ICON: &str = include_str!("icon.svg");

/// Browsers may cache both: a changed file has another URL.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The URL of the stylesheet of this version.
pub(super) fn style_address() -> &'static str {
    static ADDRESS: LazyLock<String> = LazyLock::new(|| address("style.css", STYLE));
    &ADDRESS
}

/// The URL of the icon of this version.
pub(super) fn icon_address() -> &'static str {
    static ADDRESS: LazyLock<String> = LazyLock::new(|| address("icon.svg", ICON));
    &ADDRESS
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

pub(super) async fn icon() -> Response {
    file("image/svg+xml", ICON)
}

fn file(media: &'static str, text: &'static str) -> Response {
    let media = HeaderValue::from_static(media);
    let headers = [(header::CONTENT_TYPE, media), (header::CACHE_CONTROL, IMMUTABLE)];
    (headers, text).into_response()
}

fn address(name: &str, text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let version: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("/dashboard/{name}?v={version}")
}
