//! The connection for change notifications, and its heartbeat.
//!
//! A heartbeat is a notification that this connection sends to itself. Postgres delivers
//! notifications in commit order, so a received heartbeat proves that all earlier changes were
//! received. A plain query would only prove that the server responds.

use std::convert::Infallible;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Executor as _, Row as _};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{CONFIRMED_FOR, Catalog, Topic};
use crate::db::Pool;
use crate::floor::Floor;
use crate::jobs::Pulse;
use formats::clock::Entropy;

/// The application name, by which Postgres counts instances. The fingerprint of the floor follows it.
pub const LISTENER: &str = "sealward notices";

/// The channel of the triggers in the migrations.
const CHANGES: &str = "catalog";
/// The interval of heartbeats.
const PERIOD: Duration = Duration::from_millis(250);
/// The interval of connection attempts.
const RETRY: Duration = Duration::from_millis(250);

/// Notifies this connection, and returns how full the queue of notifications is.
const BEAT: &str = "SELECT pg_notification_queue_usage() FROM pg_notify($1, $2)";
/// The usage of the queue up to which caches are used. Triggers send nothing from twice this value on, because a full
/// queue would fail each change. It takes longer than a heartbeat to get there.
const HIGHEST_USAGE: f64 = 0.25;

/// Why the connection was dropped.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("the server closed the connection")]
    Closed,
    #[error("the heartbeat timed out")]
    Late,
    /// The former server can still accept writes and heartbeats, but look-ups read another one.
    #[error("another server is the primary now")]
    Moved,
    #[error("a session that listens and is idle in a transaction fills the queue of notifications")]
    Full,
}

impl Catalog {
    /// Listens for changes on a separate connection, until it is dropped.
    pub async fn listen(
        self,
        pool: Pool,
        floor: Floor,
        entropy: Entropy,
        pulse: Pulse,
    ) -> Infallible {
        let name = format!("{LISTENER} {}", floor_of_listener(floor));
        let mut known_lost = false;
        loop {
            let followed = self.follow(&pool, name.trim_end(), entropy, &mut known_lost, &pulse);
            let Err(lost) = followed.await;
            self.withdraw_confirmation();
            pulse.alive();
            if !known_lost {
                tracing::warn!(reason = %lost, "change notifications are unavailable: every look-up reads the database");
            }
            known_lost = true;
            sleep(RETRY).await;
        }
    }

    async fn follow(
        &self,
        pool: &Pool,
        name: &str,
        entropy: Entropy,
        known_lost: &mut bool,
        pulse: &Pulse,
    ) -> Result<Infallible, Lost> {
        let server = pool.connect_options();
        let mut listener = connect(&server, name).await?;
        let beats = format!("beat_{:032x}", u128::from_be_bytes(entropy.bytes()));
        listener.listen_all([CHANGES, beats.as_str()]).await?;
        // Changes during the outage were missed.
        self.everything_changed();
        for beat in 0_u64.. {
            if !pool.is_at(&server) {
                return Err(Lost::Moved);
            }
            let sent = Instant::now();
            let notice = sqlx::query(BEAT).bind(&beats).bind(beat.to_string());
            let usage = timeout(CONFIRMED_FOR, listener.fetch_one(notice)).await;
            let usage: f64 = usage.map_err(|_| Lost::Late)??.try_get(0)?;
            if usage > HIGHEST_USAGE {
                return Err(Lost::Full);
            }
            let mut is_back = false;
            let next = sleep_until(sent + PERIOD);
            tokio::pin!(next);
            loop {
                tokio::select! {
                    received = listener.try_recv() => {
                        let received = received?.ok_or(Lost::Closed)?;
                        if received.channel() == CHANGES {
                            self.table_changed(received.payload());
                        } else if received.payload().parse() == Ok(beat) {
                            self.confirm_by_beat_of(sent);
                            pulse.succeeded();
                            is_back = true;
                            if std::mem::take(known_lost) {
                                tracing::info!("change notifications are available again");
                            }
                        }
                    }
                    () = &mut next, if is_back => break,
                    () = sleep_until(sent + CONFIRMED_FOR), if !is_back => return Err(Lost::Late),
                }
            }
        }
        Err(Lost::Closed)
    }

    fn table_changed(&self, table: &str) {
        match Topic::of_table(table) {
            Some(topic) => self.changed(topic),
            None => self.everything_changed(),
        }
    }
}

/// The part of the application name that distinguishes the floors of instances. That of the default is empty.
pub fn floor_of_listener(floor: Floor) -> String {
    if floor == Floor::default() { String::new() } else { floor.fingerprint() }
}

/// Look-ups use the pool and never wait for this connection.
async fn connect(server: &PgConnectOptions, name: &str) -> Result<PgListener, sqlx::Error> {
    let options = server.clone().application_name(name);
    let own = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(2))
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&own).await?;
    listener.ignore_pool_close_event(true);
    listener.eager_reconnect(false);
    Ok(listener)
}
