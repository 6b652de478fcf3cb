//! The face of the trail for those who answer requests: hand a record over, wait for its receipt.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hsm::{Counted, Spread, TIMES};
use sqlx::PgPool;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::record::Record;
use super::scribe::Scribe;
use super::strangers::Strangers;
use crate::clock::{Clock, Entropy, Timestamp};
use crate::ids::RecordId;
use crate::settings::Audit;

/// Takes records. Cheap to clone; all clones feed one [`Scribe`].
#[derive(Clone)]
pub struct Recorder {
    queue: mpsc::Sender<Handed>,
    shared: Arc<Shared>,
}

/// What the recorder and its scribe both look at.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    pub(super) deadline: Duration,
    pub(super) strangers: Strangers,
    pub(super) pulse: Pulse,
    /// How long records took to be committed.
    pub(super) commits: Spread<{ TIMES.len() }>,
    /// How many were committed together.
    pub(super) batches: Spread<{ SIZES.len() }>,
}

/// The bounds of batches, in records.
const SIZES: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// What the trail has counted since the start.
#[derive(Clone, Copy, Debug)]
pub struct Commits {
    /// How long records took from being handed over to being committed, in microseconds.
    pub commits: Counted<{ TIMES.len() }>,
    /// How many records were committed together.
    pub batches: Counted<{ SIZES.len() }>,
}

/// A record on its way, with the id and the time it will have whenever it is written.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) id: RecordId,
    pub(super) ts: Timestamp,
    pub(super) took: Duration,
    /// When it was handed over, on the monotonic clock.
    pub(super) at: Duration,
    pub(super) record: Record,
    pub(super) waiter: Option<oneshot::Sender<Result<Receipt, Unrecorded>>>,
}

/// The proof that a record is committed. Only the scribe makes one.
#[derive(Debug)]
pub struct Receipt(());

impl Receipt {
    pub(super) fn of_commit() -> Self {
        Self(())
    }
}

/// There is no receipt, so there is no answer but "not available".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecorded {
    /// As many records wait as may.
    #[error("too many audit records wait to be committed")]
    Full,
    /// The commit did not come within the deadline. It may come yet.
    #[error("the audit record was not committed in time")]
    Late,
    /// The database has not taken records for longer than the deadline.
    #[error("the audit trail cannot be written")]
    Out,
    /// The database takes other records, but not this one.
    #[error("the database refuses this audit record")]
    Refused,
    /// The process is ending.
    #[error("the audit trail is closed")]
    Closed,
}

impl Recorder {
    /// Opens the trail: a recorder, and the scribe that writes through a connection of its own, to
    /// where the pool leads.
    pub fn open(
        clock: Clock,
        entropy: Entropy,
        database: PgPool,
        settings: &Audit,
    ) -> (Self, Scribe) {
        let (queue, arriving) = mpsc::channel(settings.queue.max(1));
        let shared = Arc::new(Shared {
            clock,
            entropy,
            deadline: settings.deadline.0,
            strangers: Strangers::default(),
            pulse: Pulse::default(),
            commits: Spread::new(TIMES),
            batches: Spread::new(SIZES),
        });
        let scribe = Scribe::start(Arc::clone(&shared), arriving, database);
        (Self { queue, shared }, scribe)
    }

    /// Whether a record handed over now stands a chance. Ask before work that would be in vain.
    ///
    /// # Errors
    /// The trail is out, full or closed.
    pub fn ready(&self) -> Result<(), Unrecorded> {
        if self.queue.is_closed() {
            return Err(Unrecorded::Closed);
        }
        let now = self.shared.clock.monotonic();
        if self.shared.pulse.failing_for(now) > self.shared.deadline {
            return Err(Unrecorded::Out);
        }
        if self.queue.capacity() == 0 {
            return Err(Unrecorded::Full);
        }
        Ok(())
    }

    /// Hands a record over. From here on it will be committed, whether or not anyone waits for it;
    /// there is no point in between at which the caller could be cut off.
    ///
    /// # Errors
    /// The trail is out, full or closed; then the record was not taken.
    pub fn hand_over(&self, record: Record) -> Result<Pending, Unrecorded> {
        self.ready()?;
        let (waiter, receipt) = oneshot::channel();
        self.queue
            .try_send(self.shared.hand(record, Some(waiter)))
            .map_err(|refused| match refused {
                TrySendError::Full(_) => Unrecorded::Full,
                TrySendError::Closed(_) => Unrecorded::Closed,
            })?;
        Ok(Pending {
            receipt,
            deadline: self.shared.deadline,
        })
    }

    /// Records a request of nobody, at most twenty a second; the rest are counted. Never waits, and
    /// leaves half of the queue to those who are somebody.
    pub fn stranger(&self, record: Record) {
        if !self.shared.strangers.admit(self.shared.clock.monotonic()) {
            return;
        }
        let crowded = self.queue.capacity() <= self.queue.max_capacity() / 2;
        if crowded || self.queue.try_send(self.shared.hand(record, None)).is_err() {
            self.shared.strangers.count();
        }
    }

    /// How many records wait to be taken into a batch.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// How long commits took so far, and how much each of them took along.
    #[must_use]
    pub fn counted(&self) -> Commits {
        Commits {
            commits: self.shared.commits.read(),
            batches: self.shared.batches.read(),
        }
    }

    /// Whether the last attempt to write, or to see whether writing would work, succeeded.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let now = self.shared.clock.monotonic();
        !self.queue.is_closed() && self.shared.pulse.failing_for(now).is_zero()
    }
}

impl Shared {
    /// Counts a batch that was committed just now.
    pub(super) fn count(&self, batch: &[Handed]) {
        let now = self.clock.monotonic();
        self.batches
            .add(u64::try_from(batch.len()).unwrap_or(u64::MAX));
        for handed in batch {
            self.commits.time(now.saturating_sub(handed.at));
        }
    }

    pub(super) fn hand(
        &self,
        record: Record,
        waiter: Option<oneshot::Sender<Result<Receipt, Unrecorded>>>,
    ) -> Handed {
        let id = RecordId::new(&self.clock, &self.entropy);
        let at = self.clock.monotonic();
        Handed {
            id,
            ts: id.made_at(),
            took: at.saturating_sub(record.arrived),
            at,
            record: record.cleaned(),
            waiter,
        }
    }
}

/// A record that was handed over and is not yet known to be committed.
#[derive(Debug)]
#[must_use = "only the receipt proves that the record is committed"]
pub struct Pending {
    receipt: oneshot::Receiver<Result<Receipt, Unrecorded>>,
    deadline: Duration,
}

impl Pending {
    /// Waits for the commit. To stop waiting does not take the record back.
    ///
    /// # Errors
    /// It did not come in time, or will not come.
    pub async fn receipt(self) -> Result<Receipt, Unrecorded> {
        match tokio::time::timeout(self.deadline, self.receipt).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Unrecorded::Closed),
            Err(_) => Err(Unrecorded::Late),
        }
    }
}

/// Since when writing fails; zero while it does not.
#[derive(Debug, Default)]
pub(super) struct Pulse(AtomicU64);

impl Pulse {
    pub(super) fn well(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(super) fn failing(&self, now: Duration) {
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX).max(1);
        let _ = self
            .0
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(super) fn failing_for(&self, now: Duration) -> Duration {
        match self.0.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => now
                .saturating_sub(Duration::from_micros(since))
                .max(Duration::from_micros(1)),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("queued", &self.queued())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_remembers_when_it_began_to_fail() {
        let pulse = Pulse::default();
        let at = Duration::from_secs;
        assert_eq!(pulse.failing_for(at(3)), Duration::ZERO);
        pulse.failing(at(3));
        pulse.failing(at(4));
        assert_eq!(pulse.failing_for(at(5)), at(2));
        assert!(pulse.failing_for(at(3)) > Duration::ZERO);
        pulse.well();
        assert_eq!(pulse.failing_for(at(9)), Duration::ZERO);
    }
}
