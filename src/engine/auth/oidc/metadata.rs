//! The OpenID configuration of a provider (OpenID Connect Discovery, section 3).

use serde::Deserialize;

/// The members that Sealward uses.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) jwks_uri: String,
    /// Where people sign out at the provider (OpenID Connect RP-Initiated Logout).
    #[serde(default)]
    pub(super) end_session_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    subject_types_supported: Vec<String>,
    /// Whether redirects name the issuer (RFC 9207).
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    /// Reads the configuration of `issuer`.
    pub(super) fn parse(json: &[u8], issuer: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(json)
            .map_err(|error| format!("the OpenID configuration is not valid: {error}"))?;
        if read.issuer != issuer {
            return Err(format!("the OpenID configuration names the issuer {:?}", read.issuer));
        }
        let endpoints = [&read.authorization_endpoint, &read.token_endpoint, &read.jwks_uri];
        let is_safe = |url: &String| url.starts_with("https://");
        if endpoints.into_iter().all(is_safe) && read.end_session_endpoint.iter().all(is_safe) {
            return Ok(read);
        }
        Err("the endpoints of the OpenID configuration must be https:// URLs".to_owned())
    }

    /// Whether all tokens of a person have one subject. Pairwise subjects differ between audiences.
    pub(super) fn has_public_subjects(&self) -> bool {
        let mut types = self.subject_types_supported.iter();
        types.all(|supported| supported != "pairwise")
    }

    /// Whether the client secret belongs into the body of token requests: if the provider does not
    /// support HTTP Basic, which is the default.
    pub(super) fn wants_secret_in_body(&self) -> bool {
        let has = |method: &str| {
            let mut methods = self.token_endpoint_auth_methods_supported.iter();
            methods.any(|supported| supported == method)
        };
        has("client_secret_post") && !has("client_secret_basic")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://login.example.com";

    fn document() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://login.example.com/auth",
            "token_endpoint": "https://login.example.com/token",
            "jwks_uri": "https://login.example.com/jwks",
        })
    }

    fn parse(document: &Value) -> Result<Metadata, String> {
        Metadata::parse(document.to_string().as_bytes(), ISSUER)
    }

    #[test]
    fn a_configuration_belongs_to_its_issuer_and_uses_tls() {
        assert!(parse(&document()).is_ok());
        for (member, value) in [
            ("issuer", "https://login.example.com/"),
            ("issuer", "https://evil.example"),
            ("token_endpoint", "http://login.example.com/token"),
            ("jwks_uri", "http://login.example.com/jwks"),
            ("authorization_endpoint", "javascript:alert(1)"),
            ("end_session_endpoint", "javascript:alert(1)"),
        ] {
            let mut changed = document();
            changed[member] = value.into();
            assert!(parse(&changed).is_err(), "{member} {value}");
        }
        assert!(parse(&json!({ "issuer": ISSUER })).is_err());
    }

    #[test]
    fn subjects_can_differ_between_tokens_if_pairwise_ones_are_supported() {
        let with = |types: &[&str]| {
            let mut changed = document();
            changed["subject_types_supported"] = json!(types);
            parse(&changed).unwrap().has_public_subjects()
        };
        assert!(with(&["public"]));
        assert!(parse(&document()).unwrap().has_public_subjects());
        assert!(!with(&["pairwise"]));
        assert!(!with(&["public", "pairwise"]));
    }

    #[test]
    fn the_secret_is_in_the_body_only_if_basic_is_not_supported() {
        let with = |methods: &[&str]| {
            let mut changed = document();
            changed["token_endpoint_auth_methods_supported"] = json!(methods);
            parse(&changed).unwrap().wants_secret_in_body()
        };
        assert!(!with(&[]));
        assert!(!with(&["client_secret_post", "client_secret_basic"]));
        assert!(with(&["client_secret_post", "private_key_jwt"]));
    }
}
