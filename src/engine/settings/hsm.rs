//! Settings of the PKCS#11 tokens.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretSource, Span, Stage};

/// The tokens and the limits of their use.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Hsm {
    /// The tokens. All hold the same keys. If one fails, the others take over.
    pub tokens: Vec<HsmToken>,
    /// The number of sessions that work in parallel on each token. A network token needs more
    /// sessions than the machine has cores.
    pub workers: usize,
    /// The maximum number of operations that wait for a session. Further operations are refused.
    pub queue: usize,
    /// The maximum time of an operation, including its wait.
    pub deadline: Span,
    /// The maximum time to generate a key. Hardware tokens need many seconds for an RSA key.
    pub generate_deadline: Span,
    /// How often each idle token is checked. The check also keeps idle sessions open. A token in use is
    /// checked within a second of each operation.
    pub canary_interval: Span,
    /// The maximum number of hanging calls into the PKCS#11 module of each token, at least
    /// 3 × (`workers` + 1), which a stall does not reach. If more calls hang, the process exits, so that its
    /// supervisor restarts it.
    pub hang_budget: usize,
    /// If the token lacks RSA-OAEP with SHA-256, decrypt with raw RSA and remove the padding in the
    /// service. Accepted in development only.
    pub allow_raw_rsa: bool,
}

/// One token.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct HsmToken {
    /// The PKCS#11 module of the vendor, a shared library.
    pub module: PathBuf,
    /// The text that the module receives at its start, for modules such as NSS that take their configuration
    /// so. Most read a file or the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_parameters: Option<String>,
    /// The label of the token. Give this or `serial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The serial number of the token, if labels are not unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// The source of the user PIN.
    pub pin: SecretSource,
    /// Tries the PIN even if the token refused it before, or reports a failed login since the last
    /// successful one.
    /// Set it for one start after you have checked the PIN; too many wrong PINs lock the token.
    #[serde(default)]
    pub retry_pin: bool,
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
                    "hsm.tokens[{place}] must have either label or serial, to select a token of {}",
                    token.module.display()
                ));
            }
            if stage != Stage::Development && token.pin.is_plain() {
                found.push(format!(
                    "hsm.tokens[{place}].pin must be in the settings only in development: \
                     use {{ file = \"…\" }}, {{ credential = \"…\" }} or {{ command = [\"…\"] }}"
                ));
            }
        }
        if stage != Stage::Development && self.allow_raw_rsa {
            found.push(
                "hsm.allow_raw_rsa must be false outside development: the token must support RSA-OAEP with SHA-256"
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
