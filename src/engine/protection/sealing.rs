//! The envelope in an answer.

use std::cell::Cell;

use utoipa::openapi::{RefOr, Schema};

use super::Refusal;
use super::body::{Described, Schemas, WriteMember, reference};
use crate::keys::PermittedKey;
use crate::policy::{PolicyPermit, to};
use formats::clock::Entropy;
use formats::envelope::{Context, ContextTag, Envelope};

/// An envelope that is sealed while it is written, straight into the buffer of the answer.
pub(super) struct Sealing<'a> {
    pub(super) key: PermittedKey<'a, PolicyPermit<to::Protect>>,
    pub(super) entropy: &'a Entropy,
    pub(super) context: Option<&'a Context>,
    pub(super) payload: &'a str,
    /// The `ctx` of the envelope, once it is written.
    pub(super) ctx: &'a Cell<Option<ContextTag>>,
}

impl Sealing<'_> {
    /// The bytes that the envelope of `payload` takes.
    pub(super) fn capacity(payload: &str) -> usize {
        // The five members need about 1,300 bytes in addition to the payload in base64.
        payload.len() / 3 * 4 + 1_300
    }
}

impl WriteMember for Sealing<'_> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        let payload = self.payload.as_bytes();
        let ctx = self.key.seal(self.entropy, self.context, payload, out)?;
        self.ctx.set(ctx);
        Ok(())
    }
}

impl Described for Sealing<'_> {
    fn schema() -> RefOr<Schema> {
        reference::<Envelope>()
    }

    fn schemas(schemas: &mut Schemas) {
        <Envelope as Described>::schemas(schemas);
    }
}
