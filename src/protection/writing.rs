//! Answers, written straight into the buffer that leaves.

use super::Body;
use crate::binary::append_base64;
use crate::request_tag::RequestTag;
use crate::wiped::Wiped;

/// An answer being written: an object whose first member is the request's name.
pub(super) struct Writing(Wiped<String>);

impl Writing {
    /// Begins an answer, with room for `length` bytes beside what every answer has, so that no
    /// plaintext is left behind where it grew.
    pub(super) fn answer_to(tag: &RequestTag, length: usize) -> Self {
        let mut out = Wiped::new(String::with_capacity(length + 512));
        out.push_str(r#"{"requestId":""#);
        // Printable ASCII: nothing else needs an escape.
        for character in tag.as_str().chars() {
            if matches!(character, '"' | '\\') {
                out.push('\\');
            }
            out.push(character);
        }
        out.push('"');
        Self(out)
    }

    /// Adds a member whose value is JSON text.
    pub(super) fn json(mut self, name: &'static str, value: &str) -> Self {
        self.name(name).push_str(value);
        self
    }

    /// Adds a member whose value is a string without anything to escape.
    pub(super) fn plain(mut self, name: &'static str, value: &str) -> Self {
        let out = self.name(name);
        out.push('"');
        out.push_str(value);
        out.push('"');
        self
    }

    /// Adds a member whose value is standard base64.
    pub(super) fn base64(mut self, name: &'static str, bytes: &[u8]) -> Self {
        let out = self.name(name);
        out.push('"');
        append_base64(out, bytes);
        out.push('"');
        self
    }

    /// Opens a member that is an object; members follow until [`Writing::close`].
    pub(super) fn open(mut self, name: &'static str) -> Self {
        self.name(name).push('{');
        self
    }

    /// Closes the object that was opened.
    pub(super) fn close(mut self) -> Self {
        self.0.push('}');
        self
    }

    /// Adds a member whose value `write` appends.
    pub(super) fn written<E>(
        mut self,
        name: &'static str,
        write: impl FnOnce(&mut String) -> Result<(), E>,
    ) -> Result<Self, E> {
        write(self.name(name))?;
        Ok(self)
    }

    /// The whole answer.
    pub(super) fn finish(self) -> Body {
        Body(self.close().0)
    }

    fn name(&mut self, name: &'static str) -> &mut String {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_json_whatever_the_request_is_called() {
        let tag = RequestTag::from_client(br#"a "quoted\ name"#)
            .unwrap()
            .unwrap();
        let body = Writing::answer_to(&tag, 0)
            .open("result")
            .base64("hash", &[0xfb, 0xff])
            .plain("algorithm", "SHA-256")
            .close()
            .json("payload", "[1.0]")
            .finish();
        let expected = r#"{"requestId":"a \"quoted\\ name","result":{"hash":"+/8=","algorithm":"SHA-256"},"payload":[1.0]}"#;
        assert_eq!(body.0.as_str(), expected);
    }
}
