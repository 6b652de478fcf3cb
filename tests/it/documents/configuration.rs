//! `docs/configuration.md`: the test generates the reference from the settings, and the settings
//! accept every example.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use engine::settings::{Environment, Settings, schema};
use serde_json::{Map, Value};

use super::markdown::{Document, top};

const PAGE: &str = "docs/configuration.md";
/// The text above this line is not generated.
const MARK: &str =
    "<!-- Generated from src/engine/settings by the tests; see ARCHITECTURE.md. -->\n";
/// The variable that makes the test write the page instead of comparing it.
const WRITE: &str = "SEALWARD_TEST_WRITE";

#[test]
fn the_reference_matches_the_settings() {
    let page = Document::read(PAGE).text;
    let (introduction, _) = page.split_once(MARK).expect("the mark");
    let current = format!("{introduction}{MARK}{}", reference());
    if must_write() {
        fs::write(top().join(PAGE), &current).expect("write the page");
        return;
    }
    assert!(
        page == current,
        "{PAGE} is out of date: generate it with\n    {WRITE}=1 cargo test --test it the_reference"
    );
}

#[test]
fn the_settings_accept_every_example() {
    let mut tried = 0;
    for document in super::markdown::all() {
        for block in document.blocks() {
            if block.words != ["toml", "settings"] {
                continue;
            }
            let place = format!("{}:{}", document.path.display(), block.line);
            let file = temporary(&block.text);
            let loaded = Settings::load(Some(&file), &Environment::default());
            fs::remove_file(&file).expect("remove the example");
            assert!(loaded.is_ok(), "{place}: {}", loaded.unwrap_err());
            tried += 1;
        }
    }
    assert!(tried > 0, "no document contains an example");
}

#[allow(clippy::disallowed_methods, reason = "a switch of the test, not a setting")]
fn must_write() -> bool {
    std::env::var_os(WRITE).is_some()
}

pub(super) fn temporary(text: &str) -> PathBuf {
    let name = format!("sealward-example-{:032x}.toml", rand::random::<u128>());
    let file = std::env::temp_dir().join(name);
    fs::write(&file, text).expect("write the example");
    file
}

/// The page below the mark.
fn reference() -> String {
    let mut page = String::new();
    section(&mut page, &mut Vec::new(), &schema().to_value());
    page
}

fn members(schema: &Value) -> &Map<String, Value> {
    schema["properties"].as_object().expect("members")
}

/// One table of the settings file, followed by its nested tables.
fn section<'s>(page: &mut String, path: &mut Vec<&'s str>, schema: &'s Value) {
    let name = path.join(".");
    let (sections, rows): (Vec<_>, Vec<_>) =
        members(schema).iter().partition(|(_, member)| is_table(member));
    let _ = match path.as_slice() {
        [] => writeln!(page, "\n## Top level\n"),
        [_] => writeln!(page, "\n## `[{name}]`\n"),
        _ => writeln!(page, "\n### `[{name}]`\n"),
    };
    if let Some(about) = description(schema).filter(|_| !path.is_empty()) {
        let _ = writeln!(page, "{about}\n");
    }
    if !rows.is_empty() {
        table(page, &rows, &[]);
    }
    for (list, member) in rows {
        let Some(item) = member.get("items").filter(|item| is_table(item)) else {
            continue;
        };
        let required = item["required"].as_array().cloned().unwrap_or_default();
        let _ = writeln!(page, "\n### `[[{name}.{list}]]`\n");
        table(page, &members(item).iter().collect::<Vec<_>>(), &required);
    }
    for (inner, member) in sections {
        path.push(inner);
        section(page, path, member);
        path.pop();
    }
}

fn table(page: &mut String, rows: &[(&String, &Value)], required: &[Value]) {
    let _ = writeln!(page, "| Setting | Type | Default | Description |");
    let _ = writeln!(page, "|---|---|---|---|");
    for (name, member) in rows {
        let default = match member.get("default") {
            _ if required.iter().any(|it| it == name.as_str()) => "required".to_owned(),
            None | Some(Value::Null) => "none".to_owned(),
            Some(Value::Array(list)) if list.is_empty() => "none".to_owned(),
            Some(value) => format!("`{value}`"),
        };
        let about = description(member).unwrap_or_else(|| panic!("{name} has no description"));
        let kind = kind(member);
        let _ = writeln!(page, "| `{name}` | {kind} | {default} | {about} |");
    }
}

fn is_table(schema: &Value) -> bool {
    schema.get("properties").is_some()
}

/// The type of a setting, as text.
fn kind(schema: &Value) -> String {
    let choices = ["oneOf", "anyOf"].iter().find_map(|name| schema.get(*name));
    if let Some(ways) = choices.and_then(Value::as_array) {
        let ways: Vec<&Value> = ways.iter().filter(|way| way["type"] != "null").collect();
        if let [only] = ways.as_slice() {
            return kind(only);
        }
        if ways.iter().all(|way| way.get("const").is_some()) {
            let names: Vec<String> = ways.iter().map(|way| format!("`{}`", way["const"])).collect();
            return names.join(", ");
        }
        if ways.iter().any(|way| way.pointer("/properties/credential").is_some()) {
            return "[secret](#secrets)".to_owned();
        }
    }
    let json_type = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ => "",
    };
    match (json_type, schema["format"].as_str()) {
        (_, Some("duration")) => "duration".to_owned(),
        ("string", _) => "string".to_owned(),
        ("boolean", _) => "`true`, `false`".to_owned(),
        ("integer" | "number", _) => "number".to_owned(),
        ("array", _) if is_table(&schema["items"]) => "tables (see below)".to_owned(),
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        _ => panic!("this type has no name: {schema}"),
    }
}

/// The description of a setting as a table cell, with the description of each choice.
fn description(schema: &Value) -> Option<String> {
    let mut about = schema["description"].as_str()?.to_owned();
    let ways = schema.get("oneOf").and_then(Value::as_array);
    for way in ways.into_iter().flatten() {
        if let (Some(name), Some(means)) = (way.get("const"), way["description"].as_str()) {
            let _ = write!(about, " `{name}`: {means}");
        }
    }
    Some(about.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"))
}
