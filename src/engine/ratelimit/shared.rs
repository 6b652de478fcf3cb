//! Shared buckets in Valkey or Redis: one round trip per token, with the clock of the server.
//!
//! After a failure or a timeout no request uses the storage until [`SharedBuckets::look`] has reached it
//! again.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Script};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use super::bucket::Rule;
use super::buckets::Ahead;
use super::census::Census;
use super::scope::Scope;
use super::store;
use crate::db::Pool;
use crate::settings::RateLimit;
use formats::clock::Timestamp;

/// The interval of the checks.
pub(super) const PERIOD: Duration = Duration::from_millis(500);

/// The timeout of a connection attempt, with TLS and authentication.
const CONNECTING: Duration = Duration::from_secs(2);

/// The maximum number of requests that wait for the connection.
const WAITING: usize = 4096;

/// The connection to the shared storage.
pub struct SharedBuckets {
    client: Client,
    patience: Duration,
    script: Script,
    /// None while the storage is unreachable.
    connection: ArcSwapOption<MultiplexedConnection>,
    instances: AtomicU32,
    outages: AtomicU64,
}

/// The state of a shared bucket, with the time of the server.
pub(super) struct Bucket {
    pub(super) taken: bool,
    pub(super) lacking: u64,
    pub(super) at: Timestamp,
}

/// The settings of the shared storage are invalid.
#[derive(Debug, thiserror::Error)]
pub enum BadAddress {
    /// The URL or its CA certificates are invalid.
    #[error("ratelimit.url: {0}")]
    Address(#[from] RedisError),
    /// The CA certificates cannot be read.
    #[error("ratelimit.ca: {0}")]
    Ca(#[from] std::io::Error),
}

/// Why a request to the storage failed.
#[derive(Debug, thiserror::Error)]
enum Away {
    #[error("the reply timed out")]
    Late,
    #[error(transparent)]
    Failed(#[from] RedisError),
}

impl SharedBuckets {
    /// The shared storage of the settings, if there is one. It is not connected yet.
    pub fn of(
        settings: &RateLimit,
        password: Option<&SecretString>,
    ) -> Result<Option<Self>, BadAddress> {
        let Some(url) = &settings.url else {
            return Ok(None);
        };
        let mut address = redis::IntoConnectionInfo::into_connection_info(url.as_str())?;
        if let Some(password) = password {
            let login = address.redis_settings().clone();
            address = address.set_redis_settings(login.set_password(password.expose_secret()));
        }
        let over_tls = url.starts_with("rediss://") || url.starts_with("valkeys://");
        let client = if over_tls {
            let certificates =
                redis::TlsCertificates { client_tls: None, root_cert: settings.ca_certificates()? };
            Client::build_with_tls(address, certificates)?
        } else {
            Client::open(address)?
        };
        Ok(Some(Self {
            client,
            patience: settings.timeout.0,
            script: Script::new(include_str!("take.lua")),
            connection: ArcSwapOption::empty(),
            instances: AtomicU32::new(1),
            outages: AtomicU64::new(0),
        }))
    }

    pub(super) fn is_in_reach(&self) -> bool {
        self.connection.load().is_some()
    }

    /// The last known number of instances.
    pub(super) fn instances(&self) -> NonZeroU32 {
        NonZeroU32::new(self.instances.load(Ordering::Relaxed)).unwrap_or(NonZeroU32::MIN)
    }

    /// The number of outages.
    pub(super) fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    /// Gives `given_back` tokens back and takes `tokens`, or only reads with 0; none while the storage is
    /// unreachable. `ahead` is the missing time that only this instance knows.
    pub(super) async fn ask(
        &self,
        scope: Scope,
        rule: Rule,
        ahead: Ahead,
        given_back: u32,
        tokens: u32,
    ) -> Option<Bucket> {
        let connection = self.connection.load_full()?;
        let name = scope.to_string();
        let asking = self.answer(&connection, &name, rule, ahead, [given_back, tokens]);
        match asking.await {
            Ok(bucket) => Some(bucket),
            Err(away) => {
                self.lose(&connection, &away);
                None
            }
        }
    }

    /// Checks the storage and counts the instances.
    pub(super) async fn look(&self, db: &Pool, census: &mut Census) {
        let (counted, ()) = tokio::join!(timeout(PERIOD, store::instances(db)), self.find());
        // While the database is unreachable too, the last number stays.
        if let Ok(Ok(count)) = counted {
            let known = census.taken(self.instances().get(), count);
            self.instances.store(known, Ordering::Relaxed);
        }
    }

    /// Checks the storage once, and connects if necessary.
    pub(super) async fn find(&self) {
        if let Some(connection) = self.connection.load_full() {
            if let Err(away) = self.probe(&connection).await {
                self.lose(&connection, &away);
            }
            return;
        }
        let found = async {
            let connection = self.connect().await?;
            self.probe(&connection).await?;
            Ok::<_, Away>(connection)
        };
        match found.await {
            Ok(connection) => {
                self.connection.store(Some(Arc::new(connection)));
                tracing::info!("rate limits are shared with other instances");
            }
            Err(away) => tracing::debug!(%away, "the shared rate limits are still unreachable"),
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, Away> {
        // Each request has its own timeout, which includes the wait for the connection.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECTING))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(WAITING);
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        Ok(timeout(CONNECTING, connecting).await.map_err(|_| Away::Late)??)
    }

    /// Takes a token from an unused bucket, so that a read-only or full server counts as
    /// unreachable.
    async fn probe(&self, connection: &MultiplexedConnection) -> Result<(), Away> {
        let rule = Rule::new(NonZeroU32::MAX, NonZeroU32::MAX);
        let name = "sealward:limit:probe";
        self.answer(connection, name, rule, Ahead::default(), [0, 1]).await?;
        Ok(())
    }

    async fn answer(
        &self,
        connection: &MultiplexedConnection,
        name: &str,
        rule: Rule,
        ahead: Ahead,
        [given_back, tokens]: [u32; 2],
    ) -> Result<Bucket, Away> {
        let mut connection = connection.clone();
        let mut asking = self.script.key(name);
        asking
            .key(format!("{name}:debt"))
            .arg(rule.interval())
            .arg(rule.depth())
            .arg(tokens)
            .arg(rule.most_debt())
            .arg(ahead.lacking)
            .arg(ahead.debt)
            .arg(given_back);
        let asking = asking.invoke_async(&mut connection);
        let answered = timeout(self.patience, asking).await;
        let (taken, lacking, at): (bool, u64, i64) = answered.map_err(|_| Away::Late)??;
        Ok(Bucket { taken, lacking, at: Timestamp::from_millis(at) })
    }

    /// Drops a connection unless another task has replaced it.
    fn lose(&self, connection: &Arc<MultiplexedConnection>, why: &Away) {
        let before = self.connection.compare_and_swap(connection, None);
        let was_this = before.as_ref().is_some_and(|before| Arc::ptr_eq(before, connection));
        if was_this {
            self.outages.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%why, "shared rate limits are unreachable: each instance enforces its share");
        }
    }
}

impl fmt::Debug for SharedBuckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBuckets")
            .field("is_in_reach", &self.is_in_reach())
            .field("instances", &self.instances())
            .finish_non_exhaustive()
    }
}
