//! The examples of the schemas, in one file because they share the same resources.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

/// Adds the examples from `examples.json`, which names the schema of each.
pub(super) fn add(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let examples: BTreeMap<String, Vec<Value>> =
        serde_json::from_str(include_str!("examples.json")).unwrap_or_default();
    for (name, examples) in examples {
        if let Some(RefOr::T(schema)) = schemas.get_mut(&name)
            && let Some(place) = place(schema)
        {
            *place = examples;
        }
    }
}

fn place(schema: &mut Schema) -> Option<&mut Vec<Value>> {
    match schema {
        Schema::Array(array) => Some(&mut array.examples),
        Schema::Object(object) => Some(&mut object.examples),
        Schema::OneOf(one) => Some(&mut one.examples),
        Schema::AllOf(all) => Some(&mut all.examples),
        Schema::AnyOf(any) => Some(&mut any.examples),
        _ => None,
    }
}
