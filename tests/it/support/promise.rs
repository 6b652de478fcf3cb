//! What the document promises, to which every answer in every test is held.

use std::sync::LazyLock;

use axum::http::{Method, StatusCode};
use serde_json::Value;

use super::Answer;

/// The document of the API.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        let document = sealward::http::document();
        serde_json::to_value(document).expect("a document is JSON")
    });
    &DOCUMENT
}

/// Holds an answer to what the document says of its route: the status, the media type, and the code
/// of an error.
#[track_caller]
pub(super) fn keep(method: &Method, path: &str, answer: &Answer) {
    let Some(item) = route(path) else {
        return;
    };
    if answer.status == StatusCode::METHOD_NOT_ALLOWED {
        return;
    }
    let method = match *method {
        Method::HEAD => "get".to_owned(),
        _ => method.as_str().to_lowercase(),
    };
    let status = answer.status.as_str();
    let response = resolved(&item[&method]["responses"][status]);
    assert!(
        response.is_object(),
        "{method} {path}: {status} is not documented: {answer:?}"
    );
    let Some(content) = response["content"].as_object() else {
        assert_eq!(answer.body, "", "{method} {path}: {status}");
        return;
    };
    let media = answer
        .header("content-type")
        .split(';')
        .next()
        .unwrap_or_default();
    assert!(
        content.contains_key(media),
        "{method} {path}: {status} as {media}"
    );
    // The payload of a success may be JSON that Rust has no number for.
    if answer.status.is_success() || answer.body.is_empty() {
        return;
    }
    if let Some(code) = answer.json()["error"]["code"].as_str() {
        let documented = response["description"].as_str().unwrap_or_default();
        assert!(
            documented.contains(&format!("`{code}`")),
            "{method} {path}: {status} {code} is not documented"
        );
    }
}

/// What the document says of the route that `path` takes; the one with the fewest parameters.
fn route(path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap_or_default();
    let paths = document()["paths"].as_object()?;
    let fitting = paths.iter().filter(|(template, _)| fits(template, path));
    fitting
        .min_by_key(|(template, _)| template.matches('{').count())
        .map(|(_, item)| item)
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template
            .iter()
            .zip(&path)
            .all(|(wanted, given)| wanted == given || wanted.starts_with('{') && !given.is_empty())
}

fn resolved(value: &'static Value) -> &'static Value {
    let reference = value["$ref"]
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'));
    reference
        .and_then(|pointer| document().pointer(pointer))
        .unwrap_or(value)
}
