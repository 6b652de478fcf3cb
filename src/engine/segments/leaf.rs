//! The leaves of the logs. They are made from lines of exports, so that an export alone is enough to
//! compute them again.

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::Log;
use formats::hex::hex;
use formats::json::Text;
use formats::tlog::Hash;

/// The longest entry of a log, in bytes.
const MAX: usize = 65_535;

/// The member of an exported line that replaces a record whose day is retired.
pub(crate) const RETIRED: &str = "leaf_hash";

/// The member of a line whose record is not the one that was sealed.
const CHANGED: &str = "changed";

/// The members that a hash replaces in a leaf that is too long.
const LONG: [&str; 2] = ["before", "after"];

/// The member of an object with the hash of a state.
const HASHED: &str = "sha256";

/// The line is not a JSON object, or its leaf is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a line of an export in NDJSON")]
pub struct NotARecord;

/// The leaf of a record: the RFC 8785 form of its line, without `log_index` and nulls, with the version
/// of this format and the type of the record.
///
/// # Errors
/// `line` is not a record of this log. Parsers disagree about duplicate names, so a record has none at any
/// level.
pub fn leaf(log: Log, line: &str) -> Result<Vec<u8>, NotARecord> {
    let mut record = object(line)?;
    record.remove("log_index");
    record.remove(CHANGED);
    record.retain(|_, value| !value.is_null());
    // Only the leaves of long records, which collectors receive, have the hash of a state.
    if !record.contains_key("v") && LONG.iter().any(|name| is_hashed(record.get(*name))) {
        return Err(NotARecord);
    }
    for (name, value) in [("v", json!(1)), ("type", json!(kind(log)))] {
        let given = record.insert(name.to_owned(), value.clone());
        if given.is_some_and(|given| given != value) {
            return Err(NotARecord);
        }
    }
    let mut leaf = canonical(&record)?;
    if leaf.len() > MAX {
        for member in LONG {
            if let Some(value) = record.get_mut(member) {
                *value = json!({ HASHED: hex(&Sha256::digest(canonical(value)?)) });
            }
        }
        leaf = canonical(&record)?;
    }
    if leaf.len() > MAX { Err(NotARecord) } else { Ok(leaf) }
}

/// The hash of the leaf of a record; none if it has no leaf.
pub(crate) fn hash_of(log: Log, record: &impl Serialize) -> Option<Hash> {
    let line = serde_json::to_string(record).ok()?;
    leaf(log, &line).ok().map(|leaf| Hash::of_leaf(&leaf))
}

/// Refuses a line in place of a retired record that has members of a record, which no hash covers.
pub(crate) fn check_retired(log: Log, line: &str) -> Result<(), NotARecord> {
    let is_known = |(name, value): (&String, &Value)| match name.as_str() {
        "log_index" | RETIRED => true,
        "type" => value == kind(log),
        _ => false,
    };
    let is_retired = object(line)?.iter().all(is_known);
    is_retired.then_some(()).ok_or(NotARecord)
}

/// Whether a line has the hash of a state in place of the state.
pub(crate) fn has_hash_of_state(line: &str) -> bool {
    object(line).is_ok_and(|record| LONG.iter().any(|name| is_hashed(record.get(*name))))
}

fn is_hashed(state: Option<&Value>) -> bool {
    let members = state.and_then(Value::as_object);
    members.is_some_and(|members| members.len() == 1 && members.contains_key(HASHED))
}

fn object(line: &str) -> Result<Map<String, Value>, NotARecord> {
    let text = Text::parse(line.as_bytes()).map_err(|_| NotARecord)?;
    match text.tree() {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) | Err(_) => Err(NotARecord),
    }
}

/// The member `type` of the records of a log.
pub(crate) const fn kind(log: Log) -> &'static str {
    match log {
        Log::Operations => "operation",
        Log::Management => "management",
    }
}

fn canonical(value: &impl Serialize) -> Result<Vec<u8>, NotARecord> {
    serde_json_canonicalizer::to_vec(value).map_err(|_| NotARecord)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(log: Log, line: &str) -> String {
        String::from_utf8(leaf(log, line).unwrap()).unwrap()
    }

    #[test]
    fn a_leaf_is_the_canonical_line_with_version_and_type() {
        let line = r#"{"response_time_ms":0.25,"id":"rec_1","log_index":7,"ctx":null,"item":0}"#;
        assert_eq!(
            text(Log::Operations, line),
            r#"{"id":"rec_1","item":0,"response_time_ms":0.25,"type":"operation","v":1}"#
        );
        let unsealed = line.replace(":7", ":null");
        assert_eq!(text(Log::Operations, &unsealed), text(Log::Operations, line));
    }

    #[test]
    fn floats_are_as_in_the_line() {
        let line = serde_json::to_string(&json!({ "response_time_ms": 0 })).unwrap();
        let line = line.replace('0', &serde_json::to_string(&1.3_f32).unwrap());
        assert_eq!(
            text(Log::Operations, &line),
            r#"{"response_time_ms":1.3,"type":"operation","v":1}"#
        );
    }

    #[test]
    fn nulls_are_left_out_at_the_top_only() {
        assert_eq!(
            text(Log::Management, r#"{"before":null,"after":{"name":null}}"#),
            r#"{"after":{"name":null},"type":"management","v":1}"#
        );
    }

    #[test]
    fn long_states_become_hashes() {
        let line = |length| json!({ "before": { "b": 1, "a": 2 }, "after": "x".repeat(length) });
        let short = text(Log::Management, &line(65_460).to_string());
        assert!(short.contains("xxx") && short.len() <= MAX, "{}", short.len());
        let hash = |text: &str| hex(&Sha256::digest(text));
        let expected = format!(
            r#"{{"after":{{"sha256":"{}"}},"before":{{"sha256":"{}"}},"type":"management","v":1}}"#,
            hash(&format!("\"{}\"", "x".repeat(70_000))),
            hash(r#"{"a":2,"b":1}"#)
        );
        assert_eq!(text(Log::Management, &line(70_000).to_string()), expected);
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "[]",
            "{",
            "null",
            "7",
            r#"{"id":"rec_1","id":"rec_1"}"#,
            r#"{"id":"rec_1","\u0069d":"rec_1"}"#,
            r#"{"after":{"name":"a","name":"b"}}"#,
            r#"{"id":"rec_1","type":"management"}"#,
            r#"{"id":"rec_1","v":2}"#,
        ] {
            assert_eq!(leaf(Log::Operations, line), Err(NotARecord), "{line}");
        }
        let long = json!({ "request_id": "x".repeat(70_000) }).to_string();
        assert_eq!(leaf(Log::Operations, &long), Err(NotARecord));
    }
}
