//! Legacy strings: a compact serialization, or base64url of an object or of a compact serialization.
#![no_main]

use libfuzzer_sys::fuzz_target;
use formats::binary::{from_base64, from_base64url, to_base64, to_base64url};
use formats::envelope::Envelope;

fuzz_target!(|text: &str| {
    let direct = Envelope::parse_legacy(text).is_ok();
    // With one more base64url layer, only objects and compact serializations are valid.
    let wrapped = Envelope::parse_legacy(&to_base64url(text.as_bytes())).is_ok();
    if direct && text.contains('.') {
        assert!(wrapped, "a compact serialization is read in either form");
    }
    if let Ok(bytes) = from_base64url(text) {
        assert_eq!(
            to_base64url(&bytes),
            text,
            "base64url has one text for every byte string"
        );
    }
    if let Ok(bytes) = from_base64(text) {
        assert_eq!(from_base64(&to_base64(&bytes)), Ok(bytes));
    }
});
