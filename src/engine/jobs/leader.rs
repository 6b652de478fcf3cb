//! Leadership of the jobs that one instance at a time runs.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::time::{Instant, sleep, timeout};

use super::job::{Job, Spec};
use super::store;
use crate::db::Pool;

/// The time after which a connection or a lock has failed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The candidacy of this instance for a job. The connection that waits for the lock, or has it.
#[derive(Debug)]
pub(crate) struct Leader {
    pool: Pool,
    job: Job,
    period: Duration,
    connection: Option<Locking>,
    marked_at: MarkedAt,
}

/// When this instance last marked the job.
type MarkedAt = Arc<Mutex<Option<Instant>>>;

#[derive(Debug)]
struct Locking {
    /// The server and the login at the time of the connection.
    options: Arc<PgConnectOptions>,
    connection: PgConnection,
}

/// The leadership of a job, until it is dropped: the server releases the lock when the connection ends.
#[derive(Debug)]
pub(crate) struct Leadership {
    pool: Pool,
    job: Job,
    period: Duration,
    connection: Locking,
    marked_at: MarkedAt,
}

impl Leader {
    /// A candidate for this job.
    pub(crate) fn new(pool: Pool, spec: impl Into<Spec>) -> Self {
        let Spec { job, period, .. } = spec.into();
        Self { pool, job, period, connection: None, marked_at: Arc::default() }
    }

    /// Takes the lock of the job; none if another instance has it.
    pub(crate) async fn lead(&mut self) -> sqlx::Result<Option<Leadership>> {
        let led = timeout(TIMEOUT, self.take_lock()).await;
        led.unwrap_or_else(|_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into())))
    }

    async fn take_lock(&mut self) -> sqlx::Result<Option<Leadership>> {
        let current = self.pool.connect_options();
        let waiting = self.connection.take();
        // After a failover the lock of the former primary has no meaning.
        let waiting = waiting.filter(|waiting| Arc::ptr_eq(&waiting.options, &current));
        let mut connection = match waiting {
            Some(waiting) => waiting,
            None => Locking::open(current, self.job).await?,
        };
        if !store::take_turn(&mut connection.connection, &lock_of(self.job)).await? {
            self.connection = Some(connection);
            return Ok(None);
        }
        Ok(Some(Leadership {
            pool: self.pool.clone(),
            job: self.job,
            period: self.period,
            connection,
            marked_at: Arc::clone(&self.marked_at),
        }))
    }

    /// Keeps the leadership until the next call of [`Self::lead`].
    pub(crate) fn keep(&mut self, leadership: Leadership) {
        self.connection = Some(leadership.connection);
    }
}

impl Locking {
    async fn open(options: Arc<PgConnectOptions>, job: Job) -> sqlx::Result<Self> {
        let name = format!("sealward {job}");
        let own = options.as_ref().clone().application_name(&name);
        let connection = own.connect().await?;
        Ok(Self { options, connection })
    }
}

impl Leadership {
    /// The connection that has the lock.
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection.connection
    }

    /// The marks of this leadership.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            pool: self.pool.clone(),
            job: self.job,
            period: self.period,
            marked_at: Arc::clone(&self.marked_at),
        }
    }

    /// Releases the lock.
    pub(crate) async fn release(self) -> sqlx::Result<()> {
        self.connection.connection.close().await
    }
}

/// Marks a job as led, so that other instances do not miss it. They use the pool, since the connection of the
/// lock works.
#[derive(Debug)]
pub struct Marks {
    pool: Pool,
    job: Job,
    period: Duration,
    marked_at: MarkedAt,
}

impl Marks {
    /// Marks the job at the start of `work`, and once a period until its end.
    pub async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut first = pin!(self.mark());
        tokio::select! {
            done = &mut work => {
                first.await;
                return done;
            }
            () = &mut first => {}
        }
        tokio::select! {
            done = work => done,
            never = self.repeat() => match never {},
        }
    }

    async fn repeat(&self) -> Infallible {
        loop {
            sleep(self.period).await;
            self.mark().await;
        }
    }

    /// A job that takes the lead again each time that it works is not marked each time.
    async fn mark(&self) {
        let marked_at = *self.marked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if marked_at.is_some_and(|at| at.elapsed() < self.period / 2) {
            return;
        }
        match self.write().await {
            Ok(()) => {
                let mut marked_at = self.marked_at.lock().unwrap_or_else(PoisonError::into_inner);
                *marked_at = Some(Instant::now());
            }
            Err(error) => {
                tracing::debug!(%error, job = %self.job, "the leader of a job could not be marked");
            }
        }
    }

    async fn write(&self) -> sqlx::Result<()> {
        let now = store::now(&self.pool).await?;
        let key = self.pool.seals().current();
        let mac = key.map(|key| key.authenticate_mark(self.job.name(), now));
        store::mark(&self.pool, self.job, now, mac).await
    }
}

/// The name of the lock of a job.
fn lock_of(job: Job) -> String {
    format!("sealward job {job}")
}
