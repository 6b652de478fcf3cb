//! Request bodies: the scanner accepts the same input as serde_json and returns members unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use formats::json::{Members, NotJson, Text};
use serde_json::value::RawValue;

const NAMES: [&str; 4] = ["payload", "policyNumber", "jwe", "operation"];

fuzz_target!(|body: &[u8]| {
    let theirs = str::from_utf8(body)
        .ok()
        .and_then(|text| serde_json::from_str(text).ok());
    let theirs: Option<Box<RawValue>> = theirs;
    match Text::parse(body) {
        Ok(text) => {
            assert_eq!(Some(text.as_str()), theirs.as_deref().map(RawValue::get));
            read(text);
        }
        Err(NotJson::Depth) => {}
        Err(_) => assert!(theirs.is_none(), "refused what serde_json takes"),
    }
});

fn read(text: Text<'_>) {
    let mut members = Members::exactly(text, &NAMES);
    let [payload, policy, jwe, operation] = NAMES.map(|name| members.get(name));
    for value in [payload, policy, jwe, operation].into_iter().flatten() {
        assert_eq!(Text::parse(value.as_str().as_bytes()), Ok(value));
    }
    members.required_string("policyNumber");
    members.optional_string("operation");
    if let Err(problems) = members.finish(|| Some(())) {
        assert!(!problems.is_empty());
    }
    for number in text.numbers() {
        assert!(number.parse::<f64>().is_ok(), "not a number: {number}");
    }
}
