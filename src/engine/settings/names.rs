//! The names of all settings, derived from their types.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use super::Settings;
use formats::similar::nearest;

/// The JSON Schema of the settings.
pub fn schema() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    SchemaGenerator::new(settings).into_root_schema_for::<Settings>()
}

/// A setting that a variable can set.
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    pub(super) text: bool,
    /// Whether it is the source of a secret.
    pub(super) secret: bool,
}

impl Leaf {
    /// The name of its variable without the prefix, as in `HTTP_LISTEN`.
    pub(super) fn variable(&self) -> String {
        self.path.join("_").to_ascii_uppercase()
    }
}

/// All settings that a variable can set; lists count as one value.
pub(super) fn leaves(schema: &Schema) -> Vec<Leaf> {
    let mut found = Vec::new();
    gather(schema.as_value(), &mut Vec::new(), &mut found);
    found
}

fn gather(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    match schema.get("properties").and_then(Value::as_object) {
        Some(members) => {
            for (name, member) in members {
                path.push(name.clone());
                gather(member, path, found);
                path.pop();
            }
        }
        None => found.push(Leaf {
            path: path.clone(),
            text: is_text(schema),
            secret: is_secret(schema),
        }),
    }
}

/// Whether one form of the value names a systemd credential.
fn is_secret(schema: &Value) -> bool {
    let forms = ["oneOf", "anyOf"].iter().filter_map(|name| schema.get(name));
    forms
        .filter_map(Value::as_array)
        .flatten()
        .any(|form| form.pointer("/properties/credential").is_some() || is_secret(form))
}

fn is_text(schema: &Value) -> bool {
    let kind = schema.get("type");
    let named = kind.and_then(Value::as_str) == Some("string");
    let optional = kind
        .and_then(Value::as_array)
        .is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"));
    let choice = schema
        .get("oneOf")
        .and_then(Value::as_array)
        .is_some_and(|ways| ways.iter().all(|way| way.get("const").is_some_and(Value::is_string)));
    named || optional || choice
}

/// All unknown names in `table`, each with the nearest known name.
pub(super) fn unknown(table: &toml::Table, schema: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    compare(table, schema.as_value(), "", &mut found);
    found
}

fn compare(table: &toml::Table, schema: &Value, place: &str, found: &mut Vec<String>) {
    let Some(members) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, value) in table {
        let path = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        match members.get(name) {
            None => found.push(refusal(&path, name, members.keys().map(String::as_str), place)),
            Some(member) => match value {
                toml::Value::Table(inner) => compare(inner, member, &path, found),
                toml::Value::Array(items) => {
                    let item_schema = member.get("items").unwrap_or(&Value::Null);
                    for (place, item) in items.iter().enumerate() {
                        if let toml::Value::Table(inner) = item {
                            compare(inner, item_schema, &format!("{path}[{place}]"), found);
                        }
                    }
                }
                _ => {}
            },
        }
    }
}

fn refusal<'a>(
    path: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    place: &str,
) -> String {
    match nearest(name, known) {
        Some(near) if place.is_empty() => format!("unknown setting {path}: did you mean {near}?"),
        Some(near) => format!("unknown setting {path}: did you mean {place}.{near}?"),
        None => format!("unknown setting {path}"),
    }
}
