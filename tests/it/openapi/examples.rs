//! What the document shows as an example is as it says of its schemas.

use serde_json::Value;

use super::routes::operations;
use crate::support::conformance::{document, fits_schema};

#[test]
fn every_example_matches_its_schema() {
    let mut seen = 0;
    visit("", document(), &mut |schema, example| {
        seen += 1;
        let fits = fits_schema(schema, example);
        assert!(fits.is_ok(), "{schema}: {fits:?}\n{example:#}");
    });
    assert!(seen > 100, "{seen}");
}

/// Calls `check` with the place of a schema and an example of it, for each example from `place` on.
fn visit(place: &str, value: &Value, check: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            // A schema has its examples in an array, and whatever has a schema has them beside it.
            if let Some(Value::Array(examples)) = members.get("examples") {
                examples.iter().for_each(|example| check(place, example));
            }
            if members.contains_key("schema") {
                let schema = format!("{place}/schema");
                if let Some(example) = members.get("example") {
                    check(&schema, example);
                }
                if let Some(Value::Object(examples)) = members.get("examples") {
                    let values = examples.values().map(|example| &example["value"]);
                    values.for_each(|example| check(&schema, example));
                }
            }
            for (name, value) in members {
                if !matches!(name.as_str(), "example" | "examples") {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    visit(&format!("{place}/{name}"), value, check);
                }
            }
        }
        Value::Array(items) => {
            for (place_of_item, item) in items.iter().enumerate() {
                visit(&format!("{place}/{place_of_item}"), item, check);
            }
        }
        _ => {}
    }
}

/// Streams and the document itself speak for themselves.
#[test]
fn every_body_has_an_example() {
    for (_, _, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        if id == "openapi" {
            continue;
        }
        let answers = &operation["responses"];
        for spoken in [&operation["requestBody"], &answers["200"], &answers["201"]] {
            let json = &spoken["content"]["application/json"];
            let is_shown = json["example"].is_object() || is_exemplified(&json["schema"]);
            assert!(json.is_null() || is_shown, "{id}: {json:#}");
        }
    }
}

/// Whether there is an example of a schema, of one that it offers, or of what a list of it holds.
fn is_exemplified(schema: &'static Value) -> bool {
    let reference = schema["$ref"].as_str();
    if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) {
        return is_exemplified(document().pointer(pointer).expect("a schema"));
    }
    let offered = schema["oneOf"].as_array().into_iter().flatten();
    let held = &schema["properties"]["items"]["items"];
    schema["examples"].is_array()
        || offered.into_iter().any(is_exemplified)
        || held.is_object() && is_exemplified(held)
}
