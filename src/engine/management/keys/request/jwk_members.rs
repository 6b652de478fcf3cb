//! The members of a public JWK, also those that nothing reads. Events of proposed changes contain all of
//! them, so they have a limited depth and are texts for Postgres.

use serde_json::Value;

use formats::canonical;
use formats::json::Text;
use formats::problem::{Code, Problem};

/// Checks a JWK. A text in PEM passes.
pub(super) fn check(key: Text<'_>) -> Result<(), Problem> {
    canonical::bytes(key)?;
    let Ok(Value::Object(members)) = key.tree() else {
        return Ok(());
    };
    for (name, value) in &members {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if values.iter().any(|it| it.is_object() || it.is_array()) {
            let message = "must be a simple value or a list of simple values";
            return Err(Problem::new(name, Code::Type, message));
        }
        let mut texts = values.iter().filter_map(Value::as_str).chain([name.as_str()]);
        if texts.any(|text| text.contains('\0')) {
            let message = "must not contain U+0000";
            return Err(Problem::of_body(Code::Format, message));
        }
    }
    Ok(())
}
