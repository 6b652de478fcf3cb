//! The envelope in an answer.

use super::Refusal;
use crate::keys::PermittedKey;
use crate::policy::{PolicyPermit, to};
use formats::clock::Entropy;
use formats::envelope::{Context, ContextTag};
use formats::json::Verbatim;

/// A new envelope.
pub(super) struct Sealed {
    text: String,
    /// The `ctx` of the envelope.
    pub(super) ctx: Option<ContextTag>,
}

impl Sealed {
    /// Seals `payload` with `key`.
    pub(super) fn new(
        key: &PermittedKey<'_, PolicyPermit<to::Protect>>,
        entropy: &Entropy,
        context: Option<&Context>,
        payload: &str,
    ) -> Result<Self, Refusal> {
        let mut text = String::new();
        let ctx = key.seal(entropy, context, payload.as_bytes(), &mut text)?;
        Ok(Self { text, ctx })
    }

    /// The bytes of its text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The member `jwe` of an answer.
    pub(super) fn jwe(&self) -> Verbatim<'_> {
        Verbatim(&self.text)
    }
}
