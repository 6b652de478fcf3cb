//! How members are written.

use std::fmt;

use utoipa::ToSchema;

use super::{Base64, Head, Json, WriteMember, write_name};
use crate::closed_set::ClosedSet;
use crate::ids::KeyId;
use crate::protection::Refusal;
use crate::request_tag::RequestTag;
use formats::binary::append_base64;
use formats::clock::Timestamp;

impl WriteMember for Json<'_> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        out.push_str(self.0);
        Ok(())
    }
}

impl<B: AsRef<[u8]>> WriteMember for Base64<B> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        out.push('"');
        append_base64(out, self.0.as_ref());
        out.push('"');
        Ok(())
    }
}

impl WriteMember for Head<'_> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        match self {
            Self::Request(tag) => tag.write(out),
            Self::Item => {
                out.push_str("200");
                Ok(())
            }
        }
    }

    fn write_named(&self, name: &str, out: &mut String) -> Result<(), Refusal> {
        write_name(
            out,
            match self {
                Self::Request(_) => name,
                Self::Item => "status",
            },
        );
        self.write(out)
    }
}

impl<T: WriteMember> WriteMember for Option<T> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        self.as_ref().map_or(Ok(()), |value| value.write(out))
    }

    /// An absent member has no name either.
    fn write_named(&self, name: &str, out: &mut String) -> Result<(), Refusal> {
        let written = self.as_ref().map(|value| value.write_named(name, out));
        written.unwrap_or(Ok(()))
    }
}

impl WriteMember for &RequestTag {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        out.push('"');
        // Printable ASCII: nothing else needs an escape.
        for character in self.as_str().chars() {
            if matches!(character, '"' | '\\') {
                out.push('\\');
            }
            out.push(character);
        }
        out.push('"');
        Ok(())
    }
}

/// Text without characters that need an escape.
fn write_plain(out: &mut String, text: &str) -> Result<(), Refusal> {
    out.push('"');
    out.push_str(text);
    out.push('"');
    Ok(())
}

impl<T: ClosedSet + ToSchema + fmt::Display> WriteMember for T {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        write_plain(out, &self.to_string())
    }
}

impl WriteMember for KeyId {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        write_plain(out, &self.to_string())
    }
}

impl WriteMember for Timestamp {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        write_plain(out, &self.to_string())
    }
}

impl WriteMember for &'static str {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        write_plain(out, self)
    }
}

impl WriteMember for bool {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        out.push_str(if *self { "true" } else { "false" });
        Ok(())
    }
}
