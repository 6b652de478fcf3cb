//! The examples of the document match their schemas.

use serde_json::Value;

use super::routes::operations;
use testkit::conformance::{document, fits_schema};

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

/// Calls `check` with the place of a schema and its example, for each example below `place`.
fn visit(place: &str, value: &Value, check: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            // A schema contains its examples. Other objects have examples next to their schema.
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

/// Streams and the document itself need no example.
#[test]
fn every_body_has_an_example() {
    for (_, _, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        if id == "openapi" {
            continue;
        }
        let answers = &operation["responses"];
        for response in [&operation["requestBody"], &answers["200"], &answers["201"]] {
            let json = &response["content"]["application/json"];
            let is_documented = json["example"].is_object() || has_example(&json["schema"]);
            assert!(json.is_null() || is_documented, "{id}: {json:#}");
        }
    }
}

/// Whether a schema, one of its alternatives or its list items have an example.
fn has_example(schema: &'static Value) -> bool {
    let reference = schema["$ref"].as_str();
    if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) {
        return has_example(document().pointer(pointer).expect("a schema"));
    }
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    let items = &schema["properties"]["items"]["items"];
    schema["examples"].is_array()
        || alternatives.into_iter().any(has_example)
        || items.is_object() && has_example(items)
}
