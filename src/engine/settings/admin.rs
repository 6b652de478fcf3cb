//! Settings of administrators: how they sign in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Oidc, Stage};

/// Administrators.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Admin {
    /// Whether admin keys can sign in to the dashboard. The management API accepts them in any case.
    pub key_sign_in: bool,
    /// Sign-in with OpenID Connect.
    pub oidc: Oidc,
}

impl Default for Admin {
    fn default() -> Self {
        Self { key_sign_in: true, oidc: Oidc::default() }
    }
}

impl Admin {
    pub(super) fn contradictions(&self, stage: Stage, found: &mut Vec<String>) {
        if !self.key_sign_in && self.oidc.issuer.is_none() {
            found.push("admin.key_sign_in = false requires admin.oidc.issuer".to_owned());
        }
        self.oidc.contradictions(stage, found);
    }
}
