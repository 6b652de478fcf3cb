//! The primary of several servers, found at the start and after a failover.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Error, Pool, place, takes_writes, unreachable};
use crate::settings::Database;

/// The interval of the checks that the server is still the primary.
const PERIOD: Duration = Duration::from_secs(1);

/// The servers of a URL, at least one. One of them is the primary.
#[derive(Clone, Debug)]
pub struct Servers {
    /// The section of the settings that has the URL.
    section: &'static str,
    first: PgConnectOptions,
    others: Vec<PgConnectOptions>,
}

/// Connections to the primary.
#[derive(Debug)]
pub struct Primary {
    servers: Servers,
    pool: Pool,
    connections: u32,
    patience: Duration,
}

impl Servers {
    pub(super) fn new(
        section: &'static str,
        first: PgConnectOptions,
        others: Vec<PgConnectOptions>,
    ) -> Self {
        Self { section, first, others }
    }

    /// Whether connections verify the server by its certificate.
    pub(crate) fn are_verified(&self) -> bool {
        matches!(self.first.get_ssl_mode(), PgSslMode::VerifyFull)
    }

    /// Applies `change` to the options of each server.
    pub fn each(self, change: impl Fn(PgConnectOptions) -> PgConnectOptions) -> Self {
        Self {
            section: self.section,
            first: change(self.first),
            others: self.others.into_iter().map(&change).collect(),
        }
    }

    /// A connection to the primary, and its options. A single server is used as it is.
    pub(super) async fn primary(
        &self,
        patience: Duration,
    ) -> Result<(PgConnection, PgConnectOptions), Error> {
        if self.others.is_empty() {
            let connected = timeout(patience, self.first.connect()).await;
            let connected = connected.unwrap_or(Err(sqlx::Error::PoolTimedOut));
            return match connected {
                Ok(connection) => Ok((connection, self.first.clone())),
                Err(source) => Err(unreachable(self.section, &self.first, source)),
            };
        }
        let mut asked = JoinSet::new();
        for options in [&self.first].into_iter().chain(&self.others) {
            let (section, options) = (self.section, options.clone());
            asked.spawn(async move {
                let found = timeout(patience, writer(&options)).await;
                let found = found.unwrap_or(Err(sqlx::Error::PoolTimedOut));
                found.map_err(|source| unreachable(section, &options, source))
            });
        }
        let mut refused = None;
        while let Some(answer) = asked.join_next().await {
            match answer {
                Ok(Ok(Some(found))) => return Ok(found),
                Ok(Err(error)) => refused = Some(error),
                Ok(Ok(None)) | Err(_) => {}
            }
        }
        Err(refused.unwrap_or_else(|| Error::OnlyStandbys {
            section: self.section,
            place: place(&self.first),
        }))
    }
}

/// A connection to this server, if it accepts writes.
async fn writer(
    options: &PgConnectOptions,
) -> sqlx::Result<Option<(PgConnection, PgConnectOptions)>> {
    let mut connection = options.connect().await?;
    let is_writer = takes_writes(&mut connection).await?;
    Ok(is_writer.then(|| (connection, options.clone())))
}

/// Connects after a check that Postgres responds.
pub async fn connect(servers: Servers, settings: &Database) -> Result<Primary, Error> {
    let patience = settings.connect_timeout.0;
    // A separate connection reports the cause of a failure; a pool reports only its timeout.
    let (connection, options) = servers.primary(patience).await?;
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "a connection to the database did not close cleanly");
    }
    let connections = settings.connections;
    Ok(Primary {
        servers,
        pool: pool(options, connections, patience).into(),
        connections,
        patience,
    })
}

fn pool(options: PgConnectOptions, connections: u32, patience: Duration) -> PgPool {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(patience)
        // Connections to a vanished server never respond, and connections to a former primary are
        // read-only. The pool must not test them.
        .test_before_acquire(false)
        .before_acquire(move |connection, _| {
            Box::pin(async move { Ok(is_sound(connection, patience / 2).await) })
        })
        .after_release(move |connection, _| {
            Box::pin(async move { Ok(answers(connection, patience).await) })
        })
        .connect_lazy_with(options)
}

async fn is_sound(connection: &mut PgConnection, patience: Duration) -> bool {
    let asked = timeout(patience, takes_writes(connection)).await;
    matches!(asked, Ok(Ok(true)))
}

async fn answers(connection: &mut PgConnection, patience: Duration) -> bool {
    matches!(timeout(patience, connection.ping()).await, Ok(Ok(())))
}

impl Primary {
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Whether the settings name other servers.
    pub fn has_others(&self) -> bool {
        !self.servers.others.is_empty()
    }

    /// Directs new connections to the primary and closes connections to other servers, until it is
    /// dropped. It calls `round` for each check.
    pub async fn follow(&self, round: impl Fn()) -> Infallible {
        let mut watched: Option<PgConnection> = None;
        loop {
            round();
            tokio::time::sleep(PERIOD).await;
            if let Some(connection) = &mut watched
                && is_sound(connection, self.patience / 2).await
            {
                continue;
            }
            // Without a primary, writes fail on the existing connections.
            watched = match self.servers.primary(self.patience).await {
                Ok((connection, options)) => {
                    self.go_to(options);
                    Some(connection)
                }
                Err(_) => None,
            };
        }
    }

    fn go_to(&self, options: PgConnectOptions) {
        let before = self.pool.connect_options();
        let (from, to) = (place(&before), place(&options));
        if from != to {
            let pool = pool(options, self.connections, self.patience);
            self.pool.replace(pool);
            tracing::warn!(%from, %to, "failover: another server is the primary now");
        }
    }
}
