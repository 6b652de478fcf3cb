//! The contract of the document without its prose: one line for each operation and each schema.
//!
//! In a line, `name!` is a required member and `…` says that later releases can add members or values.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use testkit::conformance::document;

use super::routes::operations;

/// What people read and what other tests compare with the schemas.
const PROSE: [&str; 3] = ["description", "examples", "discriminator"];

#[test]
fn the_document_matches_its_outline() {
    let mut outline = String::new();
    for (method, path, operation) in operations() {
        let id = operation["operationId"].as_str().expect("an id");
        let request = bodies(&operation["requestBody"]);
        let (parameters, security) = (parameters(operation), security(operation));
        let responses = members(&operation["responses"]);
        let responses: Vec<_> = responses.map(|(status, it)| response(status, it)).collect();
        let responses = responses.join(", ");
        writeln!(outline, "{method} {path}{parameters} {id}({request}) {security} -> {responses}")
            .expect("a line");
    }
    for (name, schema) in members(&document()["components"]["schemas"]) {
        writeln!(outline, "{name} = {}", kind(schema)).expect("a line");
    }
    for (name, parameter) in members(&document()["components"]["parameters"]) {
        writeln!(outline, "@{name} = {}", kind(&parameter["schema"])).expect("a line");
    }
    for (name, response) in members(&document()["components"]["responses"]) {
        let headers = headers(response);
        writeln!(outline, "{name}: {}{headers}", bodies(response)).expect("a line");
    }
    insta::assert_snapshot!("outline", outline);
}

#[test]
fn every_operation_is_described() {
    let tags = document()["tags"].as_array().expect("tags");
    for (method, path, operation) in operations() {
        for text in ["summary", "description"] {
            let text = operation[text].as_str().unwrap_or_default();
            assert!(text.ends_with('.'), "{method} {path}: {text:?}");
        }
        let [tag] = operation["tags"].as_array().expect("tags").as_slice() else {
            panic!("{method} {path} has not one tag");
        };
        assert!(tags.iter().any(|it| it["name"] == *tag), "{tag}");
        for (status, response) in members(&operation["responses"]) {
            let response = resolved(response);
            let text = response["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{method} {path}: {status}");
            // The description of an error starts with its codes.
            let is_error = status.starts_with(['4', '5']);
            assert!(!is_error || text.contains('`'), "{method} {path}: {text}");
        }
    }
}

/// The query parameters and headers of an operation.
fn parameters(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut found = String::new();
    for parameter in parameters {
        if let Some(shared) = reference(parameter) {
            write!(found, " @{shared}").expect("text");
            continue;
        }
        let name = parameter["name"].as_str().expect("a name");
        let mark = match parameter["in"].as_str() {
            Some("path") => ':',
            Some("query") => '?',
            _ => '@',
        };
        let required = if parameter["required"] == true { "!" } else { "" };
        let kind = kind(&parameter["schema"]);
        write!(found, " {mark}{name}{required}: {kind}").expect("text");
    }
    found
}

fn security(operation: &Value) -> String {
    let schemes = operation["security"].as_array().into_iter().flatten();
    let schemes = schemes.map(|scheme| members(scheme).map(|(name, _)| name.as_str()).collect());
    let schemes: Vec<Vec<_>> = schemes.collect();
    match schemes.concat().join(" | ") {
        none if none.is_empty() => "anonymous".to_owned(),
        some => some,
    }
}

fn response(status: &str, response: &'static Value) -> String {
    match reference(response) {
        Some(name) => format!("{status} {name}"),
        None => format!("{status} {}{}", bodies(response), headers(response)),
    }
}

/// The schemas of a request or a response. JSON is not named.
fn bodies(holder: &Value) -> String {
    let bodies: Vec<_> = members(&holder["content"])
        .map(|(media, body)| match media.as_str() {
            "application/json" => kind(&body["schema"]),
            media => format!("{media} {}", kind(&body["schema"])),
        })
        .collect();
    bodies.join(" | ")
}

fn headers(response: &'static Value) -> String {
    let headers = members(&response["headers"]).map(|(name, header)| {
        let required = if resolved(header)["required"] == true { "!" } else { "" };
        format!(" @{name}{required}")
    });
    headers.collect()
}

/// A schema in one line, with every keyword that a program reads.
fn kind(schema: &Value) -> String {
    let Some(keywords) = schema.as_object() else {
        return "any".to_owned();
    };
    let mut parts = Vec::new();
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "$ref" => parts.push(reference(schema).expect("a name").to_owned()),
            "oneOf" => {
                let alternatives: Vec<_> =
                    value.as_array().expect(keyword).iter().map(kind).collect();
                parts.push(format!("({})", alternatives.join(" | ")));
            }
            "properties" => parts.push(object(keywords, value)),
            "additionalProperties" if keywords.contains_key("properties") => {}
            "additionalProperties" => parts.push(format!("{{*: {}}}", kind(value))),
            "items" => parts.push(format!("[{}]", kind(value))),
            "type" if value == "object" || value == "array" => {}
            "type" if keywords.contains_key("enum") => {}
            "type" => parts.insert(0, values(value)),
            "enum" => parts.push(values(value)),
            "x-extensible-enum" => parts.push(format!("{} | …", values(value))),
            "required" => {}
            keyword if PROSE.contains(&keyword) => {}
            keyword => parts.push(format!("{keyword}={value}")),
        }
    }
    if parts.is_empty() {
        return "any".to_owned();
    }
    parts.join(" ")
}

fn object(keywords: &Map<String, Value>, properties: &Value) -> String {
    let required = keywords.get("required").and_then(Value::as_array);
    let mut fields: Vec<_> = members(properties)
        .map(|(name, schema)| {
            let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
            let mark = if is_required { "!" } else { "" };
            format!("{name}{mark}: {}", kind(schema))
        })
        .collect();
    match keywords.get("additionalProperties") {
        Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => fields.push("…".to_owned()),
        Some(schema) => fields.push(format!("*: {}", kind(schema))),
        None => fields.push("unspecified".to_owned()),
    }
    format!("{{ {} }}", fields.join(", "))
}

/// The names of types or values.
fn values(value: &Value) -> String {
    let one = std::slice::from_ref(value);
    let values = value.as_array().map_or(one, Vec::as_slice).iter();
    let values: Vec<_> = values
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect();
    values.join(" | ")
}

/// The name of the component to which a reference refers.
fn reference(part: &Value) -> Option<&str> {
    let (_, name) = part["$ref"].as_str()?.rsplit_once('/')?;
    Some(name)
}

fn resolved(part: &'static Value) -> &'static Value {
    let reference = part["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    reference.map_or(part, |at| document().pointer(at).expect("a target"))
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
