//! Canonical JSON: canonicalization is idempotent and preserves the value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use formats::canonical;
use formats::json::{ValueKind, Text};
use serde_json::Value;

fuzz_target!(|body: &[u8]| {
    let Ok(text) = Text::parse(body) else { return };
    let Ok(bytes) = canonical::bytes(text) else {
        return;
    };
    if text.kind() == ValueKind::String {
        assert_eq!(
            serde_json::from_str::<String>(text.as_str())
                .ok()
                .as_deref()
                .map(str::as_bytes),
            Some(&*bytes)
        );
        return;
    }
    let again = Text::parse(&bytes).expect("canonical bytes are JSON");
    assert_eq!(
        canonical::bytes(again).expect("canonical bytes are canonical"),
        bytes
    );
    if let (Ok(before), Ok(after)) = (
        serde_json::from_str::<Value>(text.as_str()),
        serde_json::from_slice::<Value>(&bytes),
    ) {
        assert!(same(&before, &after), "{before} became {after}");
    }
});

/// Equality that treats 1 and 1.0 as the same number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}
