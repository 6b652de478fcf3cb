//! Settings of the credentials of applications other than API keys.

use std::net::IpAddr;
use std::path::PathBuf;

use axum::http::uri::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuthSpiffe, Oidc, Stage, Tls};
use formats::algorithms::JwsAlgorithm;

/// Credentials of applications other than API keys.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Auth {
    /// The issuers of JSON Web Tokens that applications can send instead of an API key. A token must
    /// match a workload identity (`/admin/identities`).
    pub issuers: Vec<AuthIssuer>,
    /// The SPIFFE trust domains whose X.509 certificates (X509-SVID) are accepted on TLS connections. A
    /// certificate must match a workload identity by `spiffeId`.
    pub spiffe: Vec<AuthSpiffe>,
    /// Whether a client certificate alone authenticates a request that has no `Authorization` header.
    pub certificates: bool,
}

/// An issuer of tokens.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct AuthIssuer {
    /// The URL of the issuer, exactly as in the claim `iss`.
    pub issuer: String,
    /// The audience. The claim `aud` of a token must be or contain it. It should name this service
    /// alone.
    pub audience: String,
    /// The accepted signature algorithms: `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512`,
    /// `ES256`, `ES384`, `ES512` or `EdDSA`.
    #[serde(default = "algorithms")]
    #[schemars(with = "Vec<String>")]
    pub algorithms: Vec<JwsAlgorithm>,
    /// The URL of the JWK Set with the keys of the issuer. Default: the `jwks_uri` of its OpenID
    /// configuration, at `/.well-known/openid-configuration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,
    /// PEM file with the CA certificates of the servers of the issuer. Default: the CAs of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
}

/// The algorithms that most issuers use.
fn algorithms() -> Vec<JwsAlgorithm> {
    vec![JwsAlgorithm::Rs256, JwsAlgorithm::Es256]
}

impl Auth {
    /// `administrators` has the audiences of tokens of administrators.
    pub(super) fn contradictions(
        &self,
        stage: Stage,
        administrators: &Oidc,
        tls: &Tls,
        found: &mut Vec<String>,
    ) {
        if !self.spiffe.is_empty() && tls.certificate.is_none() {
            found.push(
                "auth.spiffe requires http.tls.certificate and http.tls.key: workloads present their \
                 certificates over TLS"
                    .to_owned(),
            );
        }
        if self.certificates && self.spiffe.is_empty() && tls.client_ca.is_none() {
            found.push(
                "auth.certificates requires http.tls.client_ca or auth.spiffe, which name the CAs of the \
                 certificates"
                    .to_owned(),
            );
        }
        for (place, domain) in self.spiffe.iter().enumerate() {
            let mut earlier = self.spiffe.iter().take(place);
            if earlier.any(|it| it.trust_domain == domain.trust_domain) {
                found.push(format!(
                    "auth.spiffe[{place}].trust_domain must be another one than that of an earlier entry"
                ));
            }
        }
        for (place, issuer) in self.issuers.iter().enumerate() {
            let setting = format!("auth.issuers[{place}]");
            issuer.contradictions(&setting, stage, found);
            let mut audiences = administrators.audiences();
            if let Some((name, _)) = audiences.find(|(_, it)| *it == issuer.audience) {
                found.push(format!(
                    "{setting}.audience must differ from admin.oidc.{name}: tokens of administrators \
                     must not authenticate workloads"
                ));
            }
            let earlier = self.issuers.iter().take(place);
            if earlier.into_iter().any(|it| it.issuer == issuer.issuer) {
                found.push(format!(
                    "{setting}.issuer must be another one than that of an earlier entry"
                ));
            }
        }
    }
}

impl AuthIssuer {
    fn contradictions(&self, setting: &str, stage: Stage, found: &mut Vec<String>) {
        // Without a request to it, the name of an issuer can be any text.
        let discovered = self.jwks_url.is_none().then_some(("issuer", &self.issuer));
        let given = self.jwks_url.as_ref().map(|url| ("jwks_url", url));
        for (name, url) in discovered.into_iter().chain(given) {
            if !is_fetchable(url, stage) {
                found.push(format!(
                    "{setting}.{name} must be an https:// URL without a user, query or fragment \
                     (in development also http:// with a loopback address)"
                ));
            }
        }
        for (name, text) in [("issuer", &self.issuer), ("audience", &self.audience)] {
            if text.is_empty() {
                found.push(format!("{setting}.{name} must not be empty"));
            }
        }
        if self.algorithms.is_empty() {
            found.push(format!("{setting}.algorithms must name an algorithm"));
        }
    }
}

/// Whether the service may fetch keys from this URL.
fn is_fetchable(url: &str, stage: Stage) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return false;
    };
    let host = authority.host();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_loopback = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    let is_safe = match scheme {
        "https" => true,
        "http" => stage == Stage::Development && is_loopback,
        _ => false,
    };
    is_safe && !host.is_empty() && !url.contains(['@', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(issuer: &str) -> AuthIssuer {
        AuthIssuer {
            issuer: issuer.to_owned(),
            audience: "sealward".to_owned(),
            algorithms: algorithms(),
            jwks_url: None,
            ca: None,
        }
    }

    fn wrong(issuers: Vec<AuthIssuer>, stage: Stage) -> Vec<String> {
        let mut found = Vec::new();
        let administrators = Oidc {
            client_id: "dashboard".to_owned(),
            api_audience: Some("management".to_owned()),
            ..Oidc::default()
        };
        let auth = Auth { issuers, ..Auth::default() };
        auth.contradictions(stage, &administrators, &Tls::default(), &mut found);
        found
    }

    #[test]
    fn keys_are_fetched_over_https() {
        for (url, in_production, in_development) in [
            ("https://issuer.example/realms/a", true, true),
            ("http://127.0.0.1:8080", false, true),
            ("http://[::1]:8080", false, true),
            ("http://localhost", false, true),
            ("http://issuer.example", false, false),
            ("https://user@issuer.example", false, false),
            ("https://issuer.example?a=b", false, false),
            ("issuer.example", false, false),
            ("file:///etc/passwd", false, false),
            ("", false, false),
        ] {
            for (stage, expected) in
                [(Stage::Production, in_production), (Stage::Development, in_development)]
            {
                let found = wrong(vec![at(url)], stage);
                assert_eq!(found.is_empty(), expected, "{url} {stage:?}: {found:?}");
                let located = AuthIssuer {
                    jwks_url: Some(url.to_owned()),
                    ..at("kubernetes/serviceaccount")
                };
                assert_eq!(wrong(vec![located], stage).is_empty(), expected, "{url}");
            }
        }
    }

    #[test]
    fn an_issuer_has_one_entry_with_its_own_audience_and_algorithms() {
        let twice = vec![at("https://a"), at("https://a")];
        assert_eq!(
            wrong(twice, Stage::Production),
            ["auth.issuers[1].issuer must be another one than that of an earlier entry"]
        );
        for (audience, setting) in [("dashboard", "client_id"), ("management", "api_audience")] {
            let shared = AuthIssuer { audience: audience.to_owned(), ..at("https://a") };
            let found = wrong(vec![shared], Stage::Production);
            let message =
                format!("auth.issuers[0].audience must differ from admin.oidc.{setting}:");
            assert!(found[0].starts_with(&message), "{found:?}");
            assert_eq!(found.len(), 1);
        }
        let empty =
            AuthIssuer { audience: String::new(), algorithms: Vec::new(), ..at("https://a") };
        assert_eq!(
            wrong(vec![empty], Stage::Production),
            [
                "auth.issuers[0].audience must not be empty",
                "auth.issuers[0].algorithms must name an algorithm"
            ]
        );
    }

    #[test]
    fn certificates_require_tls_and_cas() {
        let with_client_ca = Tls {
            certificate: Some("certificate.pem".into()),
            client_ca: Some("clients.pem".into()),
            ..Tls::default()
        };
        let domain =
            |name: &str| AuthSpiffe { trust_domain: name.parse().unwrap(), ca: "ca.pem".into() };
        let wrong = |spiffe: &[&str], certificates, tls: &Tls| {
            let mut found = Vec::new();
            let auth = Auth {
                spiffe: spiffe.iter().map(|name| domain(name)).collect(),
                certificates,
                ..Auth::default()
            };
            auth.contradictions(Stage::Production, &Oidc::default(), tls, &mut found);
            let names = found.iter().map(|text| text.split(' ').next().unwrap_or_default());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let plain = Tls::default();
        assert_eq!(wrong(&["a"], true, &with_client_ca), [""; 0]);
        assert_eq!(wrong(&[], true, &with_client_ca), [""; 0]);
        assert_eq!(wrong(&[], true, &plain), ["auth.certificates"]);
        assert_eq!(wrong(&["a"], false, &plain), ["auth.spiffe"]);
        assert_eq!(
            wrong(&["a", "b", "a"], false, &with_client_ca),
            ["auth.spiffe[2].trust_domain"]
        );
    }
}
