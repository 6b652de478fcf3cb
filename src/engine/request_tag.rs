//! The ID of a request, in its response, in the log and in the audit log.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::ids::RequestId;
use formats::clock::{Clock, Entropy};

/// The request ID: of the client or generated. It is not always unique.
#[derive(Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(as = RequestId, value_type = String, description = "The ID of a request: the client's `X-Request-Id`, or a generated one.", pattern = "^[ -~]{1,128}$", examples("req_01h455vb4pex5vsknk084sn02q"))]
pub struct RequestTag(Arc<str>);

/// The request ID is not 1 to 128 printable ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATag {
    /// It has other characters.
    #[error("not printable ASCII")]
    NotPrintable,
    /// It is too long.
    #[error("longer than 128 characters")]
    TooLong,
}

/// The maximum length of a request ID.
const LONGEST: usize = 128;

impl RequestTag {
    /// A generated request ID.
    pub fn new(clock: &Clock, entropy: &Entropy) -> Self {
        Self(RequestId::new(clock, entropy).to_string().into())
    }

    /// The request ID of the client; none if it is empty.
    pub fn from_client(name: &[u8]) -> Result<Option<Self>, NotATag> {
        let name = name.trim_ascii();
        if name.is_empty() {
            return Ok(None);
        }
        let printable = name.iter().all(|byte| (b' '..=b'~').contains(byte));
        match std::str::from_utf8(name) {
            Ok(name) if printable && name.len() <= LONGEST => Ok(Some(Self(name.into()))),
            Ok(_) if printable => Err(NotATag::TooLong),
            _ => Err(NotATag::NotPrintable),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RequestTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_use_printable_ascii_of_up_to_128_characters() {
        let name = |text: &str| {
            RequestTag::from_client(text.as_bytes()).map(|tag| tag.map(|tag| tag.to_string()))
        };
        assert_eq!(name("order 17/b"), Ok(Some("order 17/b".to_owned())));
        assert_eq!(name(&"x".repeat(128)), Ok(Some("x".repeat(128))));
        assert_eq!(name(""), Ok(None));
        assert_eq!(name(&"x".repeat(129)), Err(NotATag::TooLong));
        for refused in ["tab\there", "nul\0", "ümlaut", "\u{7f}"] {
            assert_eq!(name(refused), Err(NotATag::NotPrintable), "{refused:?}");
        }
        assert_eq!(name(&"ü".repeat(129)), Err(NotATag::NotPrintable));
    }
}
