//! Settings of the PKCS#11 tokens.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// The tokens and how hard to drive them.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Hsm {
    /// The tokens; several of them hold the same keys and stand in for each other.
    pub tokens: Vec<HsmToken>,
    /// Sessions that work at the same time on each token. A token behind a network wants more than
    /// the cores it has.
    pub workers: usize,
    /// Operations that may wait for a session before callers are told to come back later.
    pub queue: usize,
    /// How long one operation may take, its wait included.
    pub deadline: Span,
    /// How long making a key may take; an RSA key takes real tokens many seconds.
    pub generate_deadline: Span,
    /// How often each token proves that it works, which also keeps its sessions from being closed
    /// for idleness.
    pub canary_interval: Span,
    /// Calls that may hang in the vendor's module before the process ends for its supervisor to
    /// start it anew.
    pub hang_budget: usize,
    /// Where the token lacks RSA-OAEP with SHA-256: lets it decrypt without padding and takes the
    /// padding off here. Accepted in development only.
    pub allow_raw_rsa: bool,
}

/// One token.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct HsmToken {
    /// The vendor's PKCS#11 module, a shared library.
    pub module: PathBuf,
    /// The token's label; give this or `serial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The token's serial number, where labels are not unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Where the user PIN comes from.
    pub pin: SecretSource,
}

impl Default for Hsm {
    fn default() -> Self {
        let usual = hsm::Config::new(Vec::new());
        Self {
            tokens: Vec::new(),
            workers: usual.workers,
            queue: usual.queue,
            deadline: Span(usual.deadline),
            generate_deadline: Span(usual.generate_deadline),
            canary_interval: Span(usual.canary_interval),
            hang_budget: usual.hang_budget,
            allow_raw_rsa: usual.allow_raw_rsa,
        }
    }
}

impl Hsm {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        for (place, token) in self.tokens.iter().enumerate() {
            if token.label.is_some() == token.serial.is_some() {
                found.push(format!(
                    "hsm.tokens[{place}] needs either label or serial, to tell which token of {} is meant",
                    token.module.display()
                ));
            }
            if stage != Stage::Development && token.pin.is_plain() {
                found.push(format!(
                    "hsm.tokens[{place}].pin is written into the settings, which only development allows: \
                     use {{ file = \"…\" }}, {{ credential = \"…\" }} or {{ command = [\"…\"] }}"
                ));
            }
        }
        if stage != Stage::Development && self.allow_raw_rsa {
            found.push(
                "hsm.allow_raw_rsa is for development only: a production token must offer RSA-OAEP with SHA-256"
                    .to_owned(),
            );
        }
        for (name, number) in [("workers", self.workers), ("queue", self.queue)] {
            if number == 0 {
                found.push(format!("hsm.{name} must be at least 1"));
            }
        }
        for (name, span) in [
            ("deadline", self.deadline),
            ("generate_deadline", self.generate_deadline),
            ("canary_interval", self.canary_interval),
        ] {
            if span < Span::millis(100) {
                found.push(format!("hsm.{name} must be at least 100ms"));
            }
        }
    }
}
