//! Settings that limit one request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// Limits of one request.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Limits {
    /// The maximum size of a request body, in bytes. Requests that open an envelope or a ciphertext have
    /// their own limit.
    pub max_body_bytes: usize,
    /// The maximum size of a request body that opens an envelope or a ciphertext or verifies a signature,
    /// in bytes. Default: the size of the largest envelope that `max_body_bytes` allows, in its longest
    /// form. If you lower `max_body_bytes`, set it to the previous default, so that larger envelopes stay
    /// readable.
    pub max_envelope_bytes: Option<usize>,
    /// The maximum size of the body of `/protect/batch`, in bytes. `/unprotect/batch` and
    /// `/rewrap/batch` accept bodies up to the largest response of `/protect/batch`.
    pub max_batch_bytes: usize,
    /// The maximum time to answer a request.
    pub request_timeout: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 1024 * 1024,
            max_envelope_bytes: None,
            max_batch_bytes: 16 * 1024 * 1024,
            request_timeout: Span::seconds(30),
        }
    }
}

impl Limits {
    /// The maximum size of a request body that opens what a request of `max_body_bytes` made.
    pub fn envelope_bytes(&self) -> usize {
        self.max_envelope_bytes.unwrap_or(self.largest_envelope())
    }

    /// The legacy form encodes the ciphertext twice in base64, which has four characters for three bytes.
    /// The rest is room for the header, the wrapped key and the context.
    fn largest_envelope(&self) -> usize {
        const OTHER_MEMBERS: usize = 64 * 1024;
        let encoded_twice = self.max_body_bytes.div_ceil(9).saturating_mul(16);
        encoded_twice.saturating_add(OTHER_MEMBERS)
    }

    /// The maximum size of a batch that opens what a batch of `max_batch_bytes` made. The legacy form of
    /// an envelope encodes its ciphertext twice in base64, which has four characters for three bytes.
    pub fn opening_batch_bytes(&self) -> usize {
        /// Room for the header and the wrapped key of each item.
        const OTHER_MEMBERS: usize = 1_000 * 6 * 1024;
        let encoded_twice = self.max_batch_bytes.div_ceil(9).saturating_mul(16);
        encoded_twice.saturating_add(OTHER_MEMBERS)
    }

    /// The maximum size of any request body.
    pub fn largest_body(&self) -> usize {
        let largest = self.opening_batch_bytes().max(self.envelope_bytes());
        largest.max(self.max_body_bytes)
    }

    pub(super) fn contradictions(&self, found: &mut Vec<String>) {
        if self.max_body_bytes < 1024 {
            found.push("limits.max_body_bytes must be at least 1024".to_owned());
        }
        if self.envelope_bytes() < self.largest_envelope() {
            found.push(format!(
                "limits.max_envelope_bytes must be at least {}, the largest envelope that \
                 limits.max_body_bytes allows",
                self.largest_envelope()
            ));
        }
        if self.max_batch_bytes < 1024 {
            found.push("limits.max_batch_bytes must be at least 1024".to_owned());
        }
        if self.request_timeout < Span::millis(100) {
            found.push("limits.request_timeout must be at least 100ms".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_of_the_largest_body_fit_by_default() {
        let mut limits = Limits::default();
        assert!(limits.envelope_bytes() > limits.max_body_bytes * 16 / 9);
        let largest = limits.envelope_bytes();
        for (given, contradictions) in [(largest, 0), (2 * largest, 0), (largest - 1, 1)] {
            limits.max_envelope_bytes = Some(given);
            let mut found = Vec::new();
            limits.contradictions(&mut found);
            assert_eq!(found.len(), contradictions, "{found:?}");
            assert_eq!(limits.envelope_bytes(), given);
        }
    }
}
