//! Requests are strict. Responses are open to the additions of later releases, as docs/versioning.md
//! promises.

use std::collections::BTreeSet;

use serde_json::Value;

use super::routes::operations;
use testkit::conformance::document;

#[test]
fn responses_accept_new_members_and_values() {
    let mut seen = BTreeSet::new();
    for (_, _, operation) in operations() {
        let responses = operation["responses"].as_object().expect("responses");
        responses.values().for_each(|response| check_open(response, &mut seen));
    }
    for name in ["Key", "Problem", "CreatedApiKey", "RateLimit"] {
        let pointer = format!("#/components/schemas/{name}");
        assert!(seen.contains(pointer.as_str()), "{name}: {seen:?}");
    }
}

#[test]
fn requests_refuse_unknown_members() {
    for (_, _, operation) in operations() {
        let content = operation["requestBody"]["content"].as_object();
        for body in content.into_iter().flat_map(|content| content.values()) {
            let schema = resolved(&body["schema"]);
            let branches = schema["oneOf"].as_array();
            let one = std::slice::from_ref(schema);
            for branch in branches.map_or(one, Vec::as_slice).iter().map(resolved) {
                assert_eq!(branch["additionalProperties"], false, "{branch:#}");
            }
        }
    }
}

#[test]
fn requests_list_their_values() {
    let schemas = &document()["components"]["schemas"];
    for name in ["KeyAlgorithm", "Cipher", "SignatureAlgorithm", "Tier"] {
        assert!(schemas[name]["enum"].is_array(), "{name}");
    }
}

/// Asserts that `part` and all schemas to which it refers are open, except the envelope, whose format is
/// fixed.
fn check_open(part: &'static Value, seen: &mut BTreeSet<&'static str>) {
    match part {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str)
                && reference != "#/components/schemas/Jwe"
                && seen.insert(reference)
            {
                check_open(resolved(part), seen);
            }
            assert!(!members.contains_key("enum"), "{part:#}");
            assert!(!members.contains_key("allOf"), "{part:#}");
            if members.get("properties").is_some_and(Value::is_object) {
                assert_eq!(part["additionalProperties"], true, "{part:#}");
            }
            let nested = members.iter().filter(|(name, _)| !name.starts_with("example"));
            nested.for_each(|(_, member)| check_open(member, seen));
        }
        Value::Array(items) => items.iter().for_each(|item| check_open(item, seen)),
        _ => {}
    }
}

fn resolved(part: &'static Value) -> &'static Value {
    let reference = part["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    reference.map_or(part, |at| document().pointer(at).expect("a target"))
}
