//! Security events: sign-ins, refused management requests, reads of the audit logs, and the state of
//! the service. They are management events without a change.

mod event;
mod tokens;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tracing::Instrument as _;
use uuid::Uuid;

use super::{Actor, Authorized, Event, ReadAudit, store};
use crate::audit::AnonymousLimit;
use crate::db::Pool;
use crate::ids::EventId;
use crate::jobs::Pulse;
use crate::resource::Rows;
use formats::clock::{Clock, Entropy};

pub use self::event::{LogRead, RefusedRequest, Selection};
pub use self::tokens::RecordedStates;
pub use crate::segments::Log;

/// The number of events of unauthenticated requests that wait to be written.
const QUEUE: usize = 256;

/// The number of reads that an instance remembers, so that it writes each once an hour.
const READS: u64 = 10_000;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// How often the number of unrecorded requests is checked.
const SUMMARY_CHECK: Duration = Duration::from_secs(1);

/// Records security events. Clones share it.
#[derive(Clone)]
pub struct SecurityLog(Arc<SecurityState>);

struct SecurityState {
    clock: Clock,
    entropy: Entropy,
    pool: Pool,
    /// The digests of recorded reads.
    reads: Cache<[u8; 32], ()>,
    anonymous: AnonymousLimit<()>,
    waiting: mpsc::Sender<(Actor, Event)>,
}

/// Records that `sealward audit init` began the tamper-evident logs or changed their public keys, in the
/// transaction of the change.
pub(crate) async fn record_initialization(
    rows: Rows<&mut PgConnection>,
    (clock, entropy): (&Clock, &Entropy),
    before: &[String],
    after: &[String],
    foreign: &[Uuid],
) -> sqlx::Result<()> {
    let id = EventId::new(clock, entropy);
    let event = Event::initialized(before, after, foreign);
    store::insert_event(rows, id, clock.now(), &Actor::system("cli"), event, None).await
}

/// Writes the events of unauthenticated requests.
pub struct SecurityWriter {
    log: SecurityLog,
    waiting: mpsc::Receiver<(Actor, Event)>,
}

impl SecurityLog {
    /// A log in this database, and the writer of events that no request waits for.
    pub fn open(clock: Clock, entropy: Entropy, pool: Pool) -> (Self, SecurityWriter) {
        let (sender, waiting) = mpsc::channel(QUEUE);
        let log = Self(Arc::new(SecurityState {
            anonymous: AnonymousLimit::new(clock.monotonic()),
            clock,
            entropy,
            pool,
            reads: Cache::builder().max_capacity(READS).time_to_live(HOUR).build(),
            waiting: sender,
        }));
        let writer = SecurityWriter { log: log.clone(), waiting };
        (log, writer)
    }

    /// Records an event of an identified caller or of the service.
    pub async fn record(&self, actor: &Actor, event: Event) -> sqlx::Result<()> {
        let (state, actor) = (Arc::clone(&self.0), actor.clone());
        let writing = async move {
            let id = EventId::new(&state.clock, &state.entropy);
            let mut connection = state.pool.acquire().await?;
            let now = state.clock.now();
            let rows = state.pool.rows_on(&mut connection);
            store::insert_event(rows, id, now, &actor, event, None).await
        };
        // The event is recorded also if the client disconnects.
        let written = tokio::spawn(writing.in_current_span()).await;
        written.unwrap_or(Err(sqlx::Error::WorkerCrashed))
    }

    /// Records that the author reads an audit log: each export, and other reads once per selection and
    /// hour on all instances together.
    pub async fn record_read(
        &self,
        context: &Authorized<ReadAudit>,
        read: LogRead<'_>,
    ) -> sqlx::Result<()> {
        let actor = &context.actor;
        let mut event = Event::log_read(&read);
        let (Some(reader), None) = (actor.uuid(), read.format) else {
            return self.record(actor, event).await;
        };
        let hour = self.0.clock.now().as_millis().div_euclid(HOUR_MILLIS);
        let details = event.after.as_ref().map(ToString::to_string);
        let content = Sha256::new()
            .chain_update(reader)
            .chain_update(hour.to_be_bytes())
            .chain_update(details.unwrap_or_default())
            .finalize();
        // The login of the service must not add the event of a read before.
        let key = self.0.pool.seals().current();
        let Some(digest) = key.and_then(|key| key.name_of_read(&content)) else {
            return self.record(actor, event).await;
        };
        event.read_digest = Some(digest);
        let recorded = self.0.reads.try_get_with(digest, self.record(actor, event));
        recorded.await.map_err(shared)
    }

    /// Records an event of an unauthenticated request: some each second, the others as a number.
    pub fn submit_anonymous(&self, client: IpAddr, request_id: String, event: Event) {
        let SecurityState { anonymous, clock, waiting, .. } = &*self.0;
        if anonymous.admit(clock.monotonic(), ())
            && waiting.try_send((Actor::anonymous(client, request_id), event)).is_err()
        {
            anonymous.count(());
        }
    }

    async fn summarize(&self, end: bool) {
        let SecurityState { anonymous, clock, .. } = &*self.0;
        let Some(summary) = anonymous.summary(clock.monotonic(), end) else {
            return;
        };
        let event = Event::refused_in_total(summary.requests);
        let actor = Actor::system("unauthenticated requests");
        if let Err(error) = self.record(&actor, event).await {
            tracing::warn!(%error, requests = summary.requests, "the number of refused management requests could not be recorded");
        }
    }
}

const HOUR_MILLIS: i64 = 60 * 60 * 1_000;

/// The error of a read that several requests share.
fn shared(error: Arc<sqlx::Error>) -> sqlx::Error {
    Arc::try_unwrap(error).unwrap_or(sqlx::Error::WorkerCrashed)
}

impl SecurityWriter {
    /// Writes events until the job shall end, and then the remaining ones.
    pub async fn run(&mut self, pulse: Pulse) {
        let Self { log, waiting } = self;
        let write = async |(actor, event): (Actor, Event)| {
            if let Err(error) = log.record(&actor, event).await {
                tracing::debug!(%error, "a refused management request could not be recorded");
                log.0.anonymous.count(());
            }
        };
        loop {
            tokio::select! {
                () = pulse.ending() => break,
                Some(event) = waiting.recv() => write(event).await,
                () = sleep(SUMMARY_CHECK) => {}
            }
            log.summarize(false).await;
            pulse.alive();
        }
        while let Ok(event) = waiting.try_recv() {
            write(event).await;
        }
        log.summarize(true).await;
    }
}
