//! The bytes of recipients and identities: single bytes, and texts with their length in one byte before them.

/// Reads fields. Each method returns none if the bytes end, or if a text is not visible ASCII.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Bytes with their length before them.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.byte()?);
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let text = str::from_utf8(self.counted()?).ok()?;
        (!text.is_empty() && is_visible(text)).then_some(text)
    }

    /// All other bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Writes fields.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins with these bytes.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Adds bytes with their length; none if they are too long.
    pub(crate) fn counted(mut self, field: &[u8]) -> Option<Self> {
        self.0.push(u8::try_from(field.len()).ok()?);
        self.0.extend_from_slice(field);
        Some(self)
    }

    /// Adds a text; none if it is too long or not visible ASCII.
    pub(crate) fn text(self, text: &str) -> Option<Self> {
        is_visible(text).then_some(self)?.counted(text.as_bytes())
    }

    /// Ends with these bytes.
    pub(crate) fn rest(mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.extend_from_slice(bytes);
        self.0
    }
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a text can be the number of a policy.
pub(crate) fn is_policy_number(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let bytes = Writer::new(&[7]).text("a").unwrap().rest(b"xy");
        assert_eq!(bytes, b"\x07\x01axy");
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.byte(), Some(7));
        assert_eq!(reader.text(), Some("a"));
        assert_eq!(reader.rest(), b"xy");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(Writer::new(&[]).text(&"a".repeat(256)).is_none());
        assert!(Writer::new(&[]).text("a b").is_none());
        assert_eq!(Reader::new(b"").byte(), None);
        for bytes in [&b"\x02a"[..], b"\x01\n", b"\x01\xff", b"\x00", b""] {
            assert_eq!(Reader::new(bytes).text(), None, "{bytes:?}");
        }
    }

    #[test]
    fn policy_numbers_are_those_of_the_service() {
        for number in ["POL-000001", "a._-9", &"x".repeat(64)] {
            assert!(is_policy_number(number), "{number}");
        }
        for other in ["", "a b", "a/b", "\u{e4}", &"x".repeat(65)] {
            assert!(!is_policy_number(other), "{other}");
        }
    }
}
