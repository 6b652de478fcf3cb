//! JSON text that is written as it is.

use std::fmt;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// JSON text that `serde_json` writes as it is. Unlike [`RawValue`](serde_json::value::RawValue), it is
/// not parsed again.
///
/// It can be a secret, so `Debug` shows only its length.
#[derive(Clone, Copy)]
pub struct Verbatim<'a>(pub &'a str);

/// The struct and the field by which `serde_json` recognizes a `RawValue`.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.0)?;
        raw.end()
    }
}

impl fmt::Debug for Verbatim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verbatim({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_written_as_it_is() {
        let text = r#"{ "é\u00e9": 1.0, "a":"\"" }"#;
        assert_eq!(serde_json::to_string(&Verbatim(text)).unwrap(), text);
        let list = serde_json::to_string(&[Verbatim(text), Verbatim("1")]);
        assert_eq!(list.unwrap(), format!("[{text},1]"));
    }

    #[test]
    fn the_text_is_not_printed() {
        assert_eq!(format!("{:?}", Verbatim("\"secret\"")), "Verbatim(8 bytes)");
    }
}
