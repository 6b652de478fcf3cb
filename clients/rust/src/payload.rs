//! Payloads as JSON text.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::error::{Error, Invalid};

/// The JSON text of a payload.
///
/// Sealward returns the text that it received: member order, big numbers and `1.0` do not change. The text is
/// wiped when dropped, and its `Debug` form does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(Zeroizing<String>);

impl Payload {
    /// The payload of a value, as `serde_json` writes it: NaN and infinite numbers become null.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        let mut text = Wiped::default();
        let written = serde_json::to_writer(&mut text, value).is_ok();
        match String::from_utf8(std::mem::take(&mut *text.0)) {
            Ok(text) if written => Ok(Self(Zeroizing::new(text))),
            _ => Err(Error::Invalid(Invalid::Value)),
        }
    }

    /// The payload with exactly this JSON text.
    pub fn raw(text: impl Into<String>) -> Result<Self, Error> {
        let text = Zeroizing::new(text.into());
        serde_json::from_str::<&RawValue>(&text).map_err(|_| Error::Invalid(Invalid::Json))?;
        Ok(Self(text))
    }

    /// The payload of bytes: a JSON string with their standard base64 encoding.
    pub fn bytes(bytes: &[u8]) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 3 * 4 + 6));
        text.push('"');
        STANDARD.encode_string(bytes, &mut text);
        text.push('"');
        Self(text)
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The value of the JSON text.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.0)
            .map_err(|error| Error::Type { line: error.line(), column: error.column() })
    }

    /// The bytes of a payload that [`Payload::bytes`] made.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let text = Zeroizing::new(self.parse::<String>()?);
        let bytes = STANDARD.decode(text.as_bytes());
        bytes.map(Zeroizing::new).map_err(|_| Error::Type { line: 1, column: 1 })
    }

    pub(crate) fn as_raw(&self) -> Result<&RawValue, Error> {
        serde_json::from_str(&self.0).map_err(|_| Error::Invalid(Invalid::Json))
    }

    pub(crate) fn from_raw(value: &RawValue) -> Self {
        Self(Zeroizing::new(value.get().to_owned()))
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// A growing buffer that leaves no copy behind when it grows.
#[derive(Default)]
pub(crate) struct Wiped(pub(crate) Zeroizing<Vec<u8>>);

impl Wiped {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(bytes)))
    }

    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let mut larger =
                Zeroizing::new(Vec::with_capacity(needed.next_power_of_two().max(512)));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }
}

impl io::Write for Wiped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_does_not_change() {
        for text in ["12345678901234567890", "1.0", "{\"b\":1,\"a\":1e2}", "\"\\u00e9\"", "null"] {
            assert_eq!(Payload::raw(text).unwrap().text(), text);
        }
    }

    #[test]
    fn what_is_not_one_json_value_is_refused() {
        for text in ["", "{", "1 2", "nul", "'a'"] {
            assert!(matches!(Payload::raw(text), Err(Error::Invalid(Invalid::Json))), "{text}");
        }
    }

    #[test]
    fn bytes_come_back() {
        for bytes in [&b""[..], b"\0", b"\xff\xfe\0", &[7; 1000]] {
            assert_eq!(*Payload::bytes(bytes).to_bytes().unwrap(), bytes);
        }
        let text = Payload::json("no base64!").unwrap();
        assert!(matches!(text.to_bytes(), Err(Error::Type { .. })));
    }

    #[test]
    fn debug_does_not_show_the_text() {
        assert_eq!(format!("{:?}", Payload::json("4111").unwrap()), "[redacted]");
    }
}
