//! The format of API keys and the `Authorization` header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use engine::auth::ApiKeySecret;

fuzz_target!(|text: &str| {
    if let Ok(key) = ApiKeySecret::parse(text) {
        assert!(text.starts_with(key.kind().prefix()));
        assert!(text.is_ascii() && text.len() < 64);
        assert!(!format!("{key:?}").contains(text), "a key shows itself");
    }
});
