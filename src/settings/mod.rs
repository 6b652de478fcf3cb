//! What an operator decides: a TOML file and `SEALWARD_…` variables over it, one file a section.
//!
//! This room is the only reader of files and of the environment. Unknown settings are refused with
//! the nearest known name; everything else that is wrong is told all at once.

mod audit;
mod certificates;
mod database;
mod hsm;
mod http;
mod keys;
mod limits;
mod load;
mod log;
mod metrics;
mod names;
mod ratelimit;
mod secret;
mod span;
mod telemetry;
mod tls;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::audit::Audit;
pub use self::certificates::{NotInPem, certificates, revocation_lists};
pub use self::database::Database;
pub use self::hsm::{Hsm, HsmToken};
pub use self::http::Http;
pub use self::keys::Keys;
pub use self::limits::Limits;
pub use self::load::{Environment, Error};
pub use self::log::{Log, LogFormat};
pub use self::metrics::Metrics;
pub use self::names::schema;
pub use self::ratelimit::RateLimit;
pub use self::secret::{SecretError, SecretSource};
pub use self::span::Span;
pub use self::telemetry::{Otlp, Telemetry};
pub use self::tls::{Stamp, Tls, TlsFiles};

/// All settings in effect.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Settings {
    /// What this instance is for. It decides which API keys are accepted: `production` takes
    /// `sk_live_`, `staging` takes `sk_test_`, `development` takes both and loosens what is safe to
    /// loosen on a developer's machine only.
    pub environment: Stage,
    /// Where the API listens.
    pub http: Http,
    /// Metrics for Prometheus, on a listener of their own.
    pub metrics: Metrics,
    /// The Postgres database.
    pub database: Database,
    /// The PKCS#11 tokens.
    pub hsm: Hsm,
    /// Sizes and times that bound one request.
    pub limits: Limits,
    /// Where rate limits are counted.
    pub ratelimit: RateLimit,
    /// The life of keys.
    pub keys: Keys,
    /// The audit trail.
    pub audit: Audit,
    /// The log.
    pub log: Log,
    /// What is told beside the log and metrics.
    pub telemetry: Telemetry,
}

/// What an instance is for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Stage {
    /// Real data, behind `sk_live_` keys.
    #[default]
    Production,
    /// Rehearsal, behind `sk_test_` keys.
    Staging,
    /// A developer's machine or CI: both kinds of key.
    Development,
}

impl Settings {
    /// Whether private keys may be sent to the API in plaintext (over TLS).
    #[must_use]
    pub fn plaintext_import_allowed(&self) -> bool {
        self.keys
            .allow_plaintext_import
            .unwrap_or(self.environment == Stage::Development)
    }

    /// How long load balancers have to notice that this instance ends.
    #[must_use]
    pub fn drain_delay(&self) -> std::time::Duration {
        match (self.http.drain_delay, self.environment) {
            (Some(delay), _) => delay.0,
            (None, Stage::Development) => std::time::Duration::ZERO,
            (None, Stage::Production | Stage::Staging) => std::time::Duration::from_secs(5),
        }
    }

    /// Everything that is wrong beyond a single setting's type, each with its remedy.
    fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.http.contradictions(&mut found);
        self.metrics.contradictions(&mut found);
        self.database.contradictions(self.environment, &mut found);
        self.hsm.contradictions(self.environment, &mut found);
        self.limits.contradictions(&mut found);
        self.ratelimit.contradictions(self.environment, &mut found);
        self.audit.contradictions(&mut found);
        self.telemetry.contradictions(&mut found);
        found
    }
}
