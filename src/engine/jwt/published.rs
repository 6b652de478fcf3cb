//! The keys that an issuer publishes, fetched over HTTPS and kept current.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rustls::pki_types::CertificateDer;
use tokio::time::sleep;
use ureq::Agent;

use super::key_set::{self, NotAKeySet, PublishedKey};
use crate::jobs::Pulse;
use crate::web_client::client;
use formats::clock::Clock;
use formats::json::{Members, Text};

/// The interval of refreshes.
const PERIOD: Duration = Duration::from_secs(5 * 60);

/// The minimum interval between two attempts.
const RETRY: Duration = Duration::from_secs(30);

/// How long keys are kept while the issuer is unreachable.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum time of one request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest response, in bytes.
const LONGEST: u64 = 256 * 1024;

/// How often the age of the keys is checked.
const TICK: Duration = Duration::from_millis(500);

/// The place where an issuer publishes its keys.
#[derive(Clone, Debug)]
pub enum Location {
    /// The URL in the OpenID configuration of this issuer.
    Discovery(String),
    /// This URL.
    Url(String),
}

/// The keys that an issuer publishes. Clones share them.
#[derive(Clone)]
pub struct PublishedKeys(Arc<PublishedState>);

struct PublishedState {
    clock: Clock,
    location: Location,
    agent: Agent,
    state: Mutex<FetchState>,
    /// The attempt in progress.
    attempt: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct FetchState {
    keys: Arc<[Arc<PublishedKey>]>,
    /// When they were fetched, on the monotonic clock.
    fetched_at: Option<Duration>,
    /// When the last attempt began.
    attempted_at: Option<Duration>,
    is_failing: bool,
}

/// Why keys could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum CannotFetch {
    /// The request failed.
    #[error(transparent)]
    Http(#[from] ureq::Error),
    /// The response is no success.
    #[error("the response has the status {0}")]
    Status(u16),
    /// The OpenID configuration is of another issuer, or has no safe URL.
    #[error("the OpenID configuration must name this issuer and an https:// jwks_uri")]
    Configuration,
    /// The response has no keys.
    #[error(transparent)]
    KeySet(#[from] NotAKeySet),
    /// The task that fetches ended early.
    #[error("the task ended early")]
    BrokenOff,
}

/// Keeps these keys current until it is dropped.
pub async fn keep_all(keys: Vec<PublishedKeys>, pulse: Pulse) -> Vec<Infallible> {
    join_all(keys.into_iter().map(|keys| keys.keep(pulse.clone()))).await
}

impl PublishedKeys {
    /// The keys at `location`, which are not fetched yet. Its server must have a certificate of these CAs,
    /// by default of those of the system.
    pub fn new(
        clock: Clock,
        location: Location,
        authorities: Option<&[CertificateDer<'_>]>,
    ) -> Self {
        Self(Arc::new(PublishedState {
            clock,
            location,
            agent: client(authorities, PATIENCE),
            state: Mutex::default(),
            attempt: tokio::sync::Mutex::default(),
        }))
    }

    async fn keep(self, pulse: Pulse) -> Infallible {
        loop {
            pulse.alive();
            let age = self.age();
            if age.is_none_or(|age| age >= PERIOD) {
                self.refresh().await;
            }
            sleep(TICK).await;
        }
    }

    /// The current keys; none after a long outage of the issuer.
    pub fn current(&self) -> Arc<[Arc<PublishedKey>]> {
        match self.age() {
            Some(age) if age < KEPT => Arc::clone(&self.state().keys),
            Some(_) | None => Arc::default(),
        }
    }

    /// How long ago the keys were fetched.
    pub fn age(&self) -> Option<Duration> {
        let fetched_at = self.state().fetched_at?;
        Some(self.0.clock.monotonic().saturating_sub(fetched_at))
    }

    /// Fetches the keys, unless an attempt was made within the last seconds. Waits for an attempt that is
    /// in progress instead of making another.
    pub(super) async fn refresh(&self) {
        let this = self.clone();
        // The attempt ends even if the client of the request that waits for it disconnects.
        let attempt = tokio::spawn(async move { this.attempt().await });
        // A panic is in the log, and the keys stay as they were.
        let _ = attempt.await;
    }

    async fn attempt(self) {
        let _turn = self.0.attempt.lock().await;
        let now = self.0.clock.monotonic();
        {
            let mut state = self.state();
            let is_recent = |at: Duration| now.saturating_sub(at) < RETRY;
            if state.attempted_at.is_some_and(is_recent) {
                return;
            }
            state.attempted_at = Some(now);
        }
        let inner = Arc::clone(&self.0);
        let before = Arc::clone(&self.state().keys);
        let fetched = tokio::task::spawn_blocking(move || inner.fetch(&before)).await;
        let fetched = fetched.map_err(|_| CannotFetch::BrokenOff).and_then(|it| it);
        let mut state = self.state();
        match fetched {
            Ok(keys) => {
                if state.is_failing {
                    tracing::info!(location = %self.0.location, "the keys of the issuer are available again");
                }
                state.keys = keys.into();
                state.fetched_at = Some(now);
                state.is_failing = false;
            }
            Err(error) => {
                if !state.is_failing {
                    tracing::warn!(location = %self.0.location, %error, "the keys of the issuer cannot be fetched");
                }
                state.is_failing = true;
            }
        }
    }

    /// Fetches the keys once, without keeping them, and returns their number.
    pub async fn probe(&self) -> Result<usize, CannotFetch> {
        let inner = Arc::clone(&self.0);
        let fetched = tokio::task::spawn_blocking(move || inner.fetch(&[])).await;
        Ok(fetched.map_err(|_| CannotFetch::BrokenOff)??.len())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, FetchState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PublishedState {
    fn fetch(&self, before: &[Arc<PublishedKey>]) -> Result<Vec<Arc<PublishedKey>>, CannotFetch> {
        let url = match &self.location {
            Location::Url(url) => url.clone(),
            Location::Discovery(issuer) => self.discover(issuer)?,
        };
        Ok(key_set::parse(&self.get(&url)?, before)?)
    }

    /// The URL of the keys in the configuration of the issuer (OpenID Connect Discovery, section 4).
    fn discover(&self, issuer: &str) -> Result<String, CannotFetch> {
        let base = issuer.trim_end_matches('/');
        let configuration = self.get(&format!("{base}/.well-known/openid-configuration"))?;
        let text = Text::parse(&configuration).map_err(|_| CannotFetch::Configuration)?;
        let mut members = Members::of(text, &["issuer", "jwks_uri"]);
        let [named, url] = ["issuer", "jwks_uri"].map(|name| members.required_string(name));
        let both = members.finish(|| named.zip(url));
        let (named, url) = both.map_err(|_| CannotFetch::Configuration)?;
        // An issuer that is reached without TLS is on this machine, in development.
        let is_safe = url.starts_with("https://") || issuer.starts_with("http://");
        if named != issuer || !is_safe {
            return Err(CannotFetch::Configuration);
        }
        Ok(url.into_owned())
    }

    fn get(&self, url: &str) -> Result<Vec<u8>, CannotFetch> {
        let mut response = self.agent.get(url).call()?;
        let status = response.status();
        if !status.is_success() {
            return Err(CannotFetch::Status(status.as_u16()));
        }
        let body = response.body_mut().with_config().limit(LONGEST);
        Ok(body.read_to_vec()?)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discovery(url) | Self::Url(url) => f.write_str(url),
        }
    }
}
