//! Settings of the audit log.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Forward, Span, Stage};

/// The audit log.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Audit {
    /// The maximum number of records that wait for a commit. Further requests are refused.
    pub queue: usize,
    /// The maximum time to commit a record. After this time, Sealward refuses the request.
    pub deadline: Span,
    /// The tamper-evident logs of the records.
    pub seal: Seal,
    /// Forwarding of sealed records to a collector.
    pub forward: Forward,
}

/// Sealing: the tamper-evident logs of the records. It starts after `sealward audit init`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Seal {
    /// The interval in which committed records are sealed and checkpoints are signed.
    pub interval: Span,
    /// The name of this installation in checkpoints, such as `example.com/sealward`. The origins of the
    /// logs are this name with `/operations` and `/management`. It takes effect at `sealward audit init`.
    pub origin: String,
    /// The place outside of the database that has the latest checkpoints: the path of a file that all
    /// instances share, on a file system with locks, or `witness:NAME` for a witness of `witnesses`. Sealing
    /// stops if the logs do not extend them. Clients can read a checkpoint when this place has it. If the
    /// place is a witness, sealing begins after it has answered.
    pub anchor: Option<SealAnchor>,
    /// Whether checkpoints and hashes are served without authentication, below `/audit/log`. Records are
    /// not. It needs an Ed25519 key.
    pub publish: bool,
    /// The minimum time between two published checkpoints.
    pub publish_interval: Span,
    /// The witnesses that cosign checkpoints (C2SP `tlog-witness`). They need an Ed25519 key.
    pub witnesses: Vec<SealWitness>,
    /// Whether checkpoints also have a signature of Sealward that a quantum computer cannot forge: a
    /// cosignature with ML-DSA-44 (C2SP `tlog-cosignature`, type 6). `sealward audit init` makes its key, in
    /// a token that supports ML-DSA.
    pub post_quantum: bool,
}

/// The place outside of the database that has the latest checkpoints.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(from = "String", into = "String")]
#[schemars(inline, with = "String")]
pub enum SealAnchor {
    /// A file.
    File(PathBuf),
    /// The witness whose key has this name.
    Witness(String),
}

/// What precedes the name of a witness in `audit.seal.anchor`.
const WITNESS: &str = "witness:";

impl From<String> for SealAnchor {
    fn from(text: String) -> Self {
        match text.strip_prefix(WITNESS) {
            Some(name) => Self::Witness(name.to_owned()),
            None => Self::File(text.into()),
        }
    }
}

impl From<SealAnchor> for String {
    fn from(anchor: SealAnchor) -> Self {
        match anchor {
            SealAnchor::File(path) => path.display().to_string(),
            SealAnchor::Witness(name) => format!("{WITNESS}{name}"),
        }
    }
}

/// A witness.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SealWitness {
    /// The submission prefix of the witness, such as `https://witness.example.com/log`.
    pub url: String,
    /// The verifier key of its Ed25519 or ML-DSA-44 cosignatures: `NAME+ID+BASE64`.
    pub key: String,
    /// PEM file with the CA certificates of the witness. Default: the CAs of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
}

impl Default for Seal {
    fn default() -> Self {
        Self {
            interval: Span::seconds(1),
            origin: "sealward".to_owned(),
            anchor: None,
            publish: false,
            publish_interval: Span::seconds(60 * 60),
            witnesses: Vec::new(),
            post_quantum: false,
        }
    }
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            queue: 16_384,
            deadline: Span::seconds(5),
            seal: Seal::default(),
            forward: Forward::default(),
        }
    }
}

impl Audit {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        self.forward.contradictions(stage, found);
        if self.queue == 0 {
            found.push("audit.queue must be at least 1".to_owned());
        }
        if self.deadline < Span::millis(100) {
            found.push("audit.deadline must be at least 100ms".to_owned());
        }
        if self.seal.interval < Span::millis(10) {
            found.push("audit.seal.interval must be at least 10ms".to_owned());
        }
        if self.seal.publish_interval < Span::millis(10) {
            found.push("audit.seal.publish_interval must be at least 10ms".to_owned());
        }
        let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        for (place, witness) in self.seal.witnesses.iter().enumerate() {
            if !is_url(&witness.url) {
                found.push(format!(
                    "audit.seal.witnesses[{place}].url must be a URL such as https://witness.example.com"
                ));
            }
        }
        if let Some(SealAnchor::Witness(name)) = &self.seal.anchor {
            let is_named = |it: &SealWitness| it.key.split('+').next() == Some(name.as_str());
            if !self.seal.witnesses.iter().any(is_named) {
                found.push("audit.seal.anchor must name a key of audit.seal.witnesses".to_owned());
            }
        }
        let origin = &self.seal.origin;
        if origin.is_empty() || origin.contains(|it: char| it.is_whitespace() || it == '+') {
            found.push("audit.seal.origin must be a name without spaces and plus signs".to_owned());
        }
    }
}
