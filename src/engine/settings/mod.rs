//! Settings: a TOML file, and `SEALWARD_…` variables that take precedence. One file per section.
//! Only this module reads configuration files and the environment. It refuses unknown settings and
//! suggests the nearest name. It reports all mistakes at once.

mod admin;
mod approvals;
mod audit;
mod auth;
mod auth_spiffe;
mod certificates;
mod crypto;
mod database;
mod envelopes;
mod forward;
mod hsm;
mod http;
mod keys;
mod limits;
mod load;
mod log;
mod metrics;
mod migrate;
mod names;
mod oidc;
mod ratelimit;
mod retain;
mod secret;
mod span;
mod telemetry;
mod tls;
mod transit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::admin::Admin;
pub use self::approvals::Approvals;
pub use self::audit::{Audit, Seal, SealAnchor, SealWitness};
pub use self::auth::{Auth, AuthIssuer};
pub use self::auth_spiffe::AuthSpiffe;
pub use self::certificates::{NotInPem, certificates, revocation_lists};
pub use self::crypto::Crypto;
pub use self::database::{Database, NotAServer};
pub use self::envelopes::Envelopes;
pub use self::forward::{Endpoint, Forward, ForwardProtocol};
pub use self::hsm::{Hsm, HsmToken};
pub use self::http::Http;
pub use self::keys::Keys;
pub use self::limits::Limits;
pub use self::load::{Environment, SettingsError};
pub use self::log::{Log, LogFormat};
pub use self::metrics::Metrics;
pub use self::migrate::Migrate;
pub use self::names::schema;
pub use self::oidc::{Oidc, RoleGroups};
pub use self::ratelimit::RateLimit;
pub use self::retain::Retain;
pub use self::secret::{SecretError, SecretSource};
pub use self::span::Span;
pub use self::telemetry::{Otlp, Telemetry};
pub use self::tls::{Stamp, TLS_VERSIONS, Tls, TlsFiles};
pub use self::transit::Transit;

/// All settings in effect.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Settings {
    /// The environment of this instance. It decides which API keys are accepted: `production`
    /// accepts `sk_live_`, `staging` accepts `sk_test_`, `development` accepts both and relaxes
    /// some rules.
    pub environment: Stage,
    /// The API listener.
    pub http: Http,
    /// The metrics listener.
    pub metrics: Metrics,
    /// The Postgres database.
    pub database: Database,
    /// The PKCS#11 tokens.
    pub hsm: Hsm,
    /// Limits of one request.
    pub limits: Limits,
    /// The shared storage of rate limits.
    pub ratelimit: RateLimit,
    /// The key lifecycle.
    pub keys: Keys,
    /// The cryptographic floor: the algorithms that make new keys and new data. Data that exists is opened and
    /// verified in any case. All instances have the same settings here.
    pub crypto: Crypto,
    /// Envelopes.
    pub envelopes: Envelopes,
    /// The API of the Transit engine of Vault and OpenBao, for their clients.
    pub transit: Transit,
    /// The approval of changes by other people.
    pub approvals: Approvals,
    /// The credentials of applications other than API keys.
    pub auth: Auth,
    /// The audit log.
    pub audit: Audit,
    /// Administrators.
    pub admin: Admin,
    /// The log.
    pub log: Log,
    /// The login of `sealward migrate` and `sealward rows`.
    pub migrate: Migrate,
    /// The login and the period of `sealward retain`.
    pub retain: Retain,
    /// Traces.
    pub telemetry: Telemetry,
}

/// The environment of an instance.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Stage {
    /// Real data, with `sk_live_` keys.
    #[default]
    Production,
    /// Tests before production, with `sk_test_` keys.
    Staging,
    /// A developer's machine or CI, with both types of key.
    Development,
}

impl Settings {
    /// Whether private keys may be sent to the API in plaintext (over TLS).
    pub(crate) fn plaintext_import_allowed(&self) -> bool {
        self.keys.allow_plaintext_import.unwrap_or(self.environment == Stage::Development)
    }

    /// The files of TLS, if it is on.
    pub fn tls_files(&self) -> Option<TlsFiles> {
        self.http.tls.files(&self.auth.spiffe)
    }

    /// Whether keys that can leave the token may be adopted.
    pub(crate) fn extractable_allowed(&self) -> bool {
        self.keys.allow_extractable || self.environment != Stage::Production
    }

    /// How long the service accepts requests after SIGTERM.
    pub fn drain_delay(&self) -> std::time::Duration {
        match (self.http.drain_delay, self.environment) {
            (Some(delay), _) => delay.0,
            (None, Stage::Development) => std::time::Duration::ZERO,
            (None, Stage::Production | Stage::Staging) => std::time::Duration::from_secs(5),
        }
    }

    /// All mistakes beyond the type of a single setting.
    fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let has_spiffe = !self.auth.spiffe.is_empty();
        self.http.contradictions(has_spiffe, &mut found);
        self.metrics.contradictions(&mut found);
        self.database.contradictions(self.environment, &mut found);
        self.hsm.contradictions(self.environment, &mut found);
        self.limits.contradictions(&mut found);
        self.ratelimit.contradictions(self.environment, &mut found);
        self.keys.contradictions(self.environment, &mut found);
        self.crypto.contradictions(&mut found);
        self.transit.contradictions(&mut found);
        self.approvals.contradictions(&mut found);
        self.auth.contradictions(self.environment, &self.admin.oidc, &self.http.tls, &mut found);
        self.audit.contradictions(self.environment, &mut found);
        self.admin.contradictions(self.environment, &mut found);
        self.migrate.contradictions(self.environment, &mut found);
        self.retain.contradictions(self.environment, &mut found);
        self.telemetry.contradictions(&mut found);
        found
    }
}
