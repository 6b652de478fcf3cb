//! Checks every response of every test against the OpenAPI document.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::http::{Method, StatusCode};
use boon::{Compiler, SchemaIndex, Schemas};
use serde::Deserialize as _;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Answer;

/// The OpenAPI document.
pub fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        let document = sealward_http::document();
        serde_json::to_value(document).expect("a document is JSON")
    });
    &DOCUMENT
}

/// Asserts that the document describes the response: status, required headers, media type, error
/// code and the schema of a JSON body.
#[track_caller]
pub(super) fn check(method: &Method, path: &str, answer: &Answer) {
    let Some(route) = route(path) else {
        return;
    };
    if answer.status == StatusCode::METHOD_NOT_ALLOWED {
        return;
    }
    let asked = match *method {
        Method::HEAD => "get".to_owned(),
        _ => method.as_str().to_lowercase(),
    };
    let status = answer.status.as_str();
    let place = resolved(&[route, "/", &asked, "/responses/", status].concat());
    let about = format!("{method} {path}: {status}");
    let response = document().pointer(&place);
    let response = response.unwrap_or_else(|| panic!("{about} is not documented: {answer:?}"));
    for name in required_headers(&place, response) {
        assert!(answer.headers.contains_key(name), "{about} lacks {name}");
    }
    let Some(content) = response["content"].as_object() else {
        assert_eq!(answer.body, "", "{about}");
        return;
    };
    let media = answer.header("content-type");
    let media = media.split(';').next().unwrap_or_default();
    assert!(content.contains_key(media), "{about} as {media}");
    if answer.body.is_empty() || media != "application/json" {
        return;
    }
    let Some(body) = read(&answer.body) else {
        assert!(answer.status.is_success(), "{about}: {}", answer.body);
        return;
    };
    if let Some(code) = body["error"]["code"].as_str() {
        let documented = response["description"].as_str().unwrap_or_default();
        assert!(documented.contains(&format!("`{code}`")), "{about} {code} is not documented");
    }
    if let Err(why) = fits_schema(&format!("{place}/content/application~1json/schema"), &body) {
        panic!("{about} is not as documented: {why}\n{body:#}");
    }
}

/// Validates `value` against the schema at `place` in the document.
pub fn fits_schema(place: &str, value: &Value) -> Result<(), String> {
    let (schemas, index) = &*compiled(place);
    let fits = schemas.validate(value, *index);
    fits.map_err(|error| error.to_string())
}

type Compiled = (Schemas, SchemaIndex);

/// The schema at `place`, compiled on first use.
fn compiled(place: &str) -> Arc<Compiled> {
    const NAME: &str = "https://sealward.example/openapi.json";
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Compiled>>>> = LazyLock::new(Mutex::default);
    // The map is consistent after a panic of another test.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.get(place) {
        return compiled.clone();
    }
    let mut compiler = Compiler::new();
    compiler.enable_format_assertions();
    compiler.enable_content_assertions();
    let mut known_values = document().clone();
    close(&mut known_values);
    let added = compiler.add_resource(NAME, known_values);
    added.expect("a name of ours");
    let mut schemas = Schemas::new();
    let escaped = place.replace('{', "%7B").replace('}', "%7D");
    let index = compiler.compile(&format!("{NAME}#{escaped}"), &mut schemas);
    let index = index.unwrap_or_else(|error| panic!("{place}: {error}"));
    let compiled = Arc::new((schemas, index));
    known.insert(place.to_owned(), compiled.clone());
    compiled
}

/// Turns the known values of responses into the only ones: clients accept others, tests do not.
fn close(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Array(mut values)) = members.remove("x-extensible-enum") {
                let is_nullable = members["type"].is_array();
                values.extend(is_nullable.then_some(Value::Null));
                members.insert("enum".to_owned(), values.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// The body as JSON. `None` if it contains a payload that `Value` cannot hold: a lone surrogate or
/// a number out of range.
fn read(body: &str) -> Option<Value> {
    let mut reader = serde_json::Deserializer::from_str(body);
    reader.disable_recursion_limit();
    match Value::deserialize(&mut reader) {
        Ok(value) => Some(value),
        Err(_) => {
            let is_json = serde_json::from_str::<&RawValue>(body);
            is_json.unwrap_or_else(|error| panic!("{error}: {body}"));
            None
        }
    }
}

fn required_headers<'d>(place: &str, response: &'d Value) -> impl Iterator<Item = &'d String> {
    let headers = response["headers"].as_object().into_iter().flatten();
    headers.filter_map(move |(name, _)| {
        let header = document().pointer(&resolved(&format!("{place}/headers/{name}")))?;
        (header["required"] == true).then_some(name)
    })
}

/// The route in the document that matches `path`, with the fewest parameters.
fn route(path: &str) -> Option<&'static str> {
    static PLACES: LazyLock<HashMap<&'static str, String>> = LazyLock::new(|| {
        let paths = document()["paths"].as_object().expect("paths");
        let place = |path: &String| format!("/paths/{}", path.replace('/', "~1"));
        paths.keys().map(|path| (path.as_str(), place(path))).collect()
    });
    let path = path.split('?').next().unwrap_or_default();
    let fitting = PLACES.iter().filter(|(template, _)| fits(template, path));
    fitting
        .min_by_key(|(template, _)| template.matches('{').count())
        .map(|(_, place)| place.as_str())
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

/// `place`, or the target of the reference at `place`.
fn resolved(place: &str) -> String {
    let reference = document().pointer(place).and_then(|at| at["$ref"].as_str());
    let leads = reference.and_then(|reference| reference.strip_prefix('#'));
    leads.unwrap_or(place).to_owned()
}
