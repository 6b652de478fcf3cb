//! The OpenAPI document: its outline, its references and its routes.

mod examples;
mod open;
mod outline;
mod routes;
mod schemathesis;
mod strict;

pub(crate) use self::routes::operations;
pub(crate) use self::strict::new_resource;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use testkit::conformance::document;

#[test]
fn references_and_components_match() {
    let document = document();
    let mut references = BTreeSet::new();
    gather(document, &mut references);
    for reference in &references {
        let pointer = reference.strip_prefix('#').expect("a reference within this document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for kind in ["schemas", "responses", "headers"] {
        let components = document["components"][kind].as_object().expect(kind);
        for name in components.keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(references.contains(&reference), "{reference} is unused");
        }
    }
}

#[test]
fn operation_ids_are_unique() {
    let mut seen = BTreeSet::new();
    for (_, _, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(seen.insert(id), "{id}");
    }
}

#[test]
fn an_independent_validator_accepts_the_document() {
    let mut validator = Command::new(tools().join("bin/openapi-spec-validator"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("openapi-spec-validator runs");
    let mut input = validator.stdin.take().expect("an input");
    write!(input, "{}", document()).expect("it reads");
    drop(input);
    let output = validator.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
}

/// The folder of the tools that check the document.
#[expect(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
fn tools() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_API")
        .expect("SEALWARD_TEST_API is not set: ./dev test sets it to what tests/outside/api/setup prints")
        .into()
}

fn gather(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                references.insert(reference.clone());
            }
            members.values().for_each(|value| gather(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| gather(value, references)),
        _ => {}
    }
}
