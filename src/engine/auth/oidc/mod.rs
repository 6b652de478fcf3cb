//! OpenID Connect: sign-in at a provider with authorization code, PKCE and nonce.
//!
//! The provider authenticates people. Sealward verifies their ID tokens and derives their roles from a
//! claim. This module knows neither browsers nor sessions.

#![deny(clippy::wildcard_enum_match_arm)]

mod access;
mod logout;
mod metadata;
mod person;
mod profile;
mod redeem;
mod roles;
mod store;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use ureq::Agent;

use self::access::AccessTokens;
pub use self::logout::{Logout, LogoutRefused};
use self::metadata::Metadata;
pub use self::redeem::{Redirect, SignedIn};
pub use self::roles::without_groups;
use crate::catalog::Unreadable;
use crate::jwt::{Issuer, Location, PublishedKeys, TokenPurpose, TokenRefused, TokenRules};
use crate::settings::{NotInPem, Oidc, certificates};
use crate::shares::{PROVIDER_REQUESTS, Shares};
use crate::web_client::client;
use formats::algorithms::JwsAlgorithm;
use formats::binary::to_base64url;
use formats::clock::Clock;

/// The maximum time of one request to the provider.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the OpenID configuration of the provider is cached.
const CACHED: Duration = Duration::from_secs(5 * 60);

/// The code of a response with the requested content.
const OK: u16 = 200;

/// The longest response of the provider, in bytes.
const LONGEST: u64 = 256 * 1024;

/// The provider of the settings. Clones share it.
#[derive(Clone)]
pub struct Provider(Arc<ProviderState>);

struct ProviderState {
    clock: Clock,
    settings: Oidc,
    issuer: String,
    redirect_uri: String,
    secret: SecretString,
    agent: Agent,
    requests: Shares<IpAddr>,
    metadata: Cache<(), Arc<Metadata>>,
    /// Verifies ID tokens.
    id_tokens: Issuer,
    /// Verifies logout tokens.
    logout_tokens: Issuer,
    /// Verifies access tokens, if the management API accepts them.
    access_tokens: Option<AccessTokens>,
}

/// The values that bind a sign-in to a browser.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The value of `state`.
    pub state: &'a str,
    /// The value of `nonce`.
    pub nonce: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
}

/// Whether the provider can show pages to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// It can: the person signs in.
    Pages,
    /// It shows none: it confirms that the person is still signed in, or refuses.
    Nothing,
}

/// The CA file of the provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("admin.oidc.ca {path}: {source}", path = .path.display())]
pub struct InvalidAuthorities {
    path: PathBuf,
    source: NotInPem,
}

/// Why a person is not signed in.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotSignedIn {
    /// The provider cannot be reached, or its response is not usable.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// The provider refused the request or the code.
    #[error("the provider answered {0:?}")]
    Refused(String),
    /// The ID token is not valid.
    #[error(transparent)]
    Token(#[from] TokenRefused),
    /// A code was exchanged for this `state` before.
    #[error("the state was used before")]
    Repeated,
    /// A claim of the ID token is missing or wrong.
    #[error("the claim {0} of the ID token is missing or wrong")]
    Claim(&'static str),
    /// No group of the person has a role.
    #[error("no group of {0:?} has a role")]
    NoRole(String),
    /// The person is locked, or a row that could say so does not count.
    #[error("{0:?} is locked")]
    Locked(String),
    /// The person cannot be recorded.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Provider {
    /// The provider of the settings. None without an issuer. Nothing is requested yet.
    pub fn new(
        clock: Clock,
        settings: &Oidc,
        secret: Option<SecretString>,
    ) -> Result<Option<Self>, InvalidAuthorities> {
        let (Some(issuer), Some(redirect_uri), Some(secret)) =
            (&settings.issuer, &settings.redirect_uri, secret)
        else {
            return Ok(None);
        };
        let read = |path: &PathBuf| {
            certificates(path).map_err(|source| InvalidAuthorities { path: path.clone(), source })
        };
        let authorities = settings.ca.as_ref().map(read).transpose()?;
        let keys = PublishedKeys::new(
            clock.clone(),
            Location::Discovery(issuer.clone()),
            authorities.as_deref(),
        );
        let rules = TokenRules {
            issuer: issuer.clone(),
            audiences: vec![settings.client_id.clone()],
            algorithms: JwsAlgorithm::ALL.to_vec(),
            // Access tokens have the type `at+jwt`.
            accepts_type: |typ| typ.is_none_or(|typ| typ == "jwt"),
            purpose: TokenPurpose::Identity,
        };
        let logout_rules = TokenRules {
            accepts_type: |typ| typ.is_none_or(|typ| matches!(typ, "jwt" | "logout+jwt")),
            purpose: TokenPurpose::Logout,
            ..rules.clone()
        };
        Ok(Some(Self(Arc::new(ProviderState {
            clock,
            settings: settings.clone(),
            issuer: issuer.clone(),
            redirect_uri: redirect_uri.clone(),
            secret,
            agent: client(authorities.as_deref(), PATIENCE),
            requests: Shares::new(PROVIDER_REQUESTS),
            metadata: Cache::builder().time_to_live(CACHED).build(),
            access_tokens: AccessTokens::new(settings, keys.clone()),
            logout_tokens: Issuer::new(logout_rules, keys.clone()),
            id_tokens: Issuer::new(rules, keys),
        }))))
    }

    /// The keys with which the provider signs.
    pub fn keys(&self) -> &PublishedKeys {
        self.0.id_tokens.keys()
    }

    /// A secret of this service that the database does not have.
    pub fn secret(&self) -> &SecretString {
        &self.0.secret
    }

    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The URL at the provider where a person signs in, or where the provider confirms the person without a page.
    pub async fn authorization_url(
        &self,
        binding: Binding<'_>,
        prompt: Prompt,
    ) -> Result<String, NotSignedIn> {
        let metadata = self.metadata().await?;
        let challenge = to_base64url(&Sha256::digest(binding.verifier.as_bytes()));
        let scopes = self.0.settings.scopes.join(" ");
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &self.0.settings.client_id),
            ("redirect_uri", &self.0.redirect_uri),
            ("scope", &scopes),
            ("state", binding.state),
            ("nonce", binding.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        if prompt == Prompt::Nothing {
            query.push(("prompt", "none"));
        }
        Ok(with_query(&metadata.authorization_endpoint, &query))
    }

    /// The URL at the provider where a person ends the session there; none if the provider has none.
    pub async fn sign_out_url(&self) -> Result<Option<String>, NotSignedIn> {
        let metadata = self.metadata().await?;
        let endpoint = metadata.end_session_endpoint.as_deref();
        let query = [("client_id", self.0.settings.client_id.as_str())];
        Ok(endpoint.map(|endpoint| with_query(endpoint, &query)))
    }

    /// Tries to read the OpenID configuration and the keys of the provider.
    pub async fn probe(&self) -> Result<(), NotSignedIn> {
        let metadata = self.metadata().await?;
        let keys = self.get(metadata.jwks_uri.clone()).await?;
        let keys: serde_json::Value = serde_json::from_slice(&keys).unwrap_or_default();
        if keys.get("keys").is_some_and(serde_json::Value::is_array) {
            return Ok(());
        }
        let reason = "jwks_uri must be a JWK Set".to_owned();
        Err(NotSignedIn::Unavailable(reason))
    }

    /// The OpenID configuration.
    async fn metadata(&self) -> Result<Arc<Metadata>, NotSignedIn> {
        let read = async {
            let issuer = &self.0.issuer;
            let base = issuer.trim_end_matches('/');
            let url = format!("{base}/.well-known/openid-configuration");
            let metadata = Metadata::parse(&self.get(url).await?, issuer);
            metadata.map(Arc::new).map_err(NotSignedIn::Unavailable)
        };
        let read = self.0.metadata.try_get_with((), read);
        read.await.map_err(|error: Arc<NotSignedIn>| error.as_ref().clone())
    }

    async fn get(&self, url: String) -> Result<Vec<u8>, NotSignedIn> {
        let (status, body) = self.request(None, move |agent| agent.get(url).call()).await?;
        if status == OK {
            return Ok(body);
        }
        let reason = format!("the response has the status {status}");
        Err(NotSignedIn::Unavailable(reason))
    }

    /// Sends a request to the provider, for a visitor of this network.
    async fn request<S>(
        &self,
        network: Option<IpAddr>,
        send: S,
    ) -> Result<(u16, Vec<u8>), NotSignedIn>
    where
        S: FnOnce(&Agent) -> Result<ureq::http::Response<ureq::Body>, ureq::Error>,
        S: Send + 'static,
    {
        let turn = self.0.requests.take(network, 1).await;
        let turn = turn.map_err(|full| NotSignedIn::Unavailable(full.to_string()))?;
        let agent = self.0.agent.clone();
        let sent = tokio::task::spawn_blocking(move || {
            // Also if the client has left.
            let _turn = turn;
            let mut response = send(&agent)?;
            let body = response.body_mut().with_config().limit(LONGEST);
            let body = body.read_to_vec()?;
            Ok::<_, ureq::Error>((response.status().as_u16(), body))
        });
        let unavailable = |reason: String| NotSignedIn::Unavailable(reason);
        let sent = sent.await.map_err(|error| unavailable(error.to_string()))?;
        sent.map_err(|error| unavailable(error.to_string()))
    }
}

/// An endpoint, which may have a query, with these parameters.
fn with_query(endpoint: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(parameters).finish();
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn visitors_of_one_network_leave_requests_to_others() {
        let settings = Oidc {
            issuer: Some("https://login.example.com".to_owned()),
            redirect_uri: Some("https://sealward.example.com".to_owned()),
            ..Oidc::default()
        };
        let secret = SecretString::from("secret");
        let provider = Provider::new(Clock::system(), &settings, Some(secret)).unwrap().unwrap();
        let [one, other] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let gate = Arc::new(Semaphore::new(0));
        let mut slow = Vec::new();
        for _ in 0..PROVIDER_REQUESTS.total {
            let (provider, gate) = (provider.clone(), Arc::clone(&gate));
            slow.push(tokio::spawn(async move {
                let send = move |_: &Agent| {
                    // Until the gate closes.
                    drop(Handle::current().block_on(gate.acquire()));
                    Err(ureq::Error::HostNotFound)
                };
                provider.request(Some(one), send).await
            }));
        }
        let requests = &provider.0.requests;
        while requests.queued() + requests.total() - requests.free() < slow.len() {
            tokio::task::yield_now().await;
        }
        let served = provider.request(Some(other), |_| Err(ureq::Error::HostNotFound));
        let served = tokio::time::timeout(PATIENCE, served).await;
        assert!(matches!(served, Ok(Err(NotSignedIn::Unavailable(_)))), "{served:?}");
        gate.close();
        for request in slow {
            request.await.unwrap().unwrap_err();
        }
    }
}
