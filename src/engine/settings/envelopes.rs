//! Settings of envelopes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Envelopes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Envelopes {
    /// Accepts ML-KEM and hybrid keys, policies with `HPKE-8-KE`, `HPKE-12-KE` or `HPKE-13-KE`, and envelopes with these
    /// algorithms. They follow Internet-Drafts, which can change.
    pub post_quantum: bool,
}
