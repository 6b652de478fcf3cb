//! What this instance knows of its jobs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::job::{Absence, Instances, Job, Spec};
use formats::clock::{Clock, Timestamp};

/// The jobs of this instance. Clones share them.
#[derive(Clone, Debug)]
pub struct Board(Arc<BoardState>);

#[derive(Debug)]
struct BoardState {
    clock: Clock,
    jobs: Mutex<HashMap<Job, RegisteredJob>>,
    #[cfg(feature = "fault-points")]
    faults: super::fault::Faults,
}

/// A registered job.
#[derive(Debug)]
struct RegisteredJob {
    spec: Spec,
    /// On the monotonic clock, as the others.
    registered_at: Duration,
    /// The last sign of life: of the job of this instance, or of the leader of a job of one instance.
    alive_at: Option<Duration>,
    /// Whether it ended, and has shown no sign of life since.
    has_ended: bool,
    succeeded_at: Option<Timestamp>,
    failures: u64,
}

/// The signs of life of a job.
#[derive(Clone, Debug)]
pub struct Pulse {
    board: Board,
    job: Job,
    /// Cancelled when the job shall end.
    ending: CancellationToken,
}

impl Board {
    /// A board without jobs.
    pub fn new(clock: Clock) -> Self {
        Self(Arc::new(BoardState {
            clock,
            jobs: Mutex::default(),
            #[cfg(feature = "fault-points")]
            faults: super::fault::Faults::default(),
        }))
    }

    /// Whether a job runs, on this instance or, for a job of one instance, on any. None if the settings do
    /// not need it.
    pub fn is_up(&self, job: Job) -> Option<bool> {
        let now = self.0.clock.monotonic();
        self.jobs().get(&job).map(|entry| entry.is_up(now))
    }

    /// The jobs that do not run.
    pub fn missing(&self) -> Vec<Job> {
        Job::ALL.into_iter().filter(|job| self.is_up(*job) == Some(false)).collect()
    }

    /// Whether all jobs run without which the instance is not ready.
    pub fn is_ready(&self) -> bool {
        let now = self.0.clock.monotonic();
        let jobs = self.jobs();
        let mut needed = jobs.values().filter(|entry| entry.spec.absence == Absence::NotReady);
        needed.all(|entry| entry.is_up(now))
    }

    /// How often a job ended or panicked. None if the settings do not need it.
    pub fn failures(&self, job: Job) -> Option<u64> {
        self.jobs().get(&job).map(|entry| entry.failures)
    }

    /// When the last round of a job on this instance succeeded.
    pub fn succeeded_at(&self, job: Job) -> Option<Timestamp> {
        self.jobs().get(&job)?.succeeded_at
    }

    /// The signs of life of a job that runs until it is dropped.
    pub fn pulse(&self, job: Job) -> Pulse {
        self.pulse_until(job, CancellationToken::new())
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(super) fn pulse_until(&self, job: Job, ending: CancellationToken) -> Pulse {
        Pulse { board: self.clone(), job, ending }
    }

    /// Registers a job. Until its period is over it counts as running.
    pub(super) fn register(&self, spec: Spec) {
        let entry = RegisteredJob {
            spec,
            registered_at: self.0.clock.monotonic(),
            alive_at: None,
            has_ended: false,
            succeeded_at: None,
            failures: 0,
        };
        self.jobs().insert(spec.job, entry);
    }

    /// Notes that a job ended.
    pub(super) fn failed(&self, job: Job) {
        if let Some(entry) = self.jobs().get_mut(&job) {
            entry.failures += 1;
            // Another instance can have the job of one instance.
            entry.has_ended = entry.spec.instances == Instances::Each;
        }
    }

    /// Notes how long ago an instance had a job of one instance.
    pub(super) fn led(&self, job: Job, ago: Duration) {
        let at = self.0.clock.monotonic().saturating_sub(ago);
        if let Some(entry) = self.jobs().get_mut(&job) {
            entry.alive_at = Some(at);
        }
    }

    /// Ends a job now and each time that it starts, until [`Self::disarm`].
    #[cfg(feature = "fault-points")]
    pub fn arm(&self, job: Job, end: super::fault::End) {
        self.0.faults.arm(job, end);
    }

    /// Lets a job run again.
    #[cfg(feature = "fault-points")]
    pub fn disarm(&self, job: Job) {
        self.0.faults.disarm(job);
    }

    #[cfg(feature = "fault-points")]
    pub(super) fn faults(&self) -> &super::fault::Faults {
        &self.0.faults
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<Job, RegisteredJob>> {
        self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegisteredJob {
    fn is_up(&self, now: Duration) -> bool {
        let is_recent = |at| now.saturating_sub(at) <= self.spec.patience();
        !self.has_ended && (is_recent(self.registered_at) || self.alive_at.is_some_and(is_recent))
    }
}

impl Pulse {
    /// The job works, whether or not what it tries succeeds.
    pub fn alive(&self) {
        self.note(false);
    }

    /// A round of the job succeeded.
    pub fn succeeded(&self) {
        self.note(true);
    }

    /// A round of the job ended.
    pub fn ended<T, E>(&self, outcome: &Result<T, E>) {
        self.note(outcome.is_ok());
    }

    /// Resolves when the job shall write its data and end.
    pub async fn ending(&self) {
        self.ending.cancelled().await;
    }

    fn note(&self, succeeded: bool) {
        let clock = self.board.clock();
        let (at, now) = (clock.monotonic(), clock.now());
        if let Some(entry) = self.board.jobs().get_mut(&self.job) {
            if entry.spec.instances == Instances::Each {
                entry.alive_at = Some(at);
                entry.has_ended = false;
            }
            if succeeded {
                entry.succeeded_at = Some(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    fn board() -> (Clock, Board) {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        (clock.clone(), Board::new(clock))
    }

    #[test]
    fn a_job_without_a_sign_of_life_is_missing_after_its_period() {
        let (clock, board) = board();
        assert_eq!(board.is_up(Job::LastUse), None);
        board.register(Job::LastUse.spec());
        let pulse = board.pulse(Job::LastUse);
        clock.advance(Job::LastUse.spec().period());
        assert_eq!(board.is_up(Job::LastUse), Some(true));
        clock.advance(MOMENT);
        assert_eq!(board.is_up(Job::LastUse), Some(false));
        assert_eq!(board.missing(), [Job::LastUse]);
        pulse.alive();
        assert_eq!(board.missing(), []);
        assert_eq!(board.succeeded_at(Job::LastUse), None);
        pulse.succeeded();
        assert_eq!(board.succeeded_at(Job::LastUse), Some(clock.now()));
    }

    #[test]
    fn a_job_that_ended_is_missing_until_its_next_sign_of_life() {
        let (_, board) = board();
        board.register(Job::Notices.spec());
        board.register(Job::LastUse.spec());
        assert!(board.is_ready());
        board.failed(Job::LastUse);
        assert!(board.is_ready());
        board.failed(Job::Notices);
        assert!(!board.is_ready());
        assert_eq!(board.missing(), [Job::Notices, Job::LastUse]);
        assert_eq!(board.failures(Job::Notices), Some(1));
        board.pulse(Job::Notices).alive();
        assert!(board.is_ready());
        assert_eq!(board.missing(), [Job::LastUse]);
    }

    #[test]
    fn a_job_of_one_instance_is_missing_after_three_periods_without_a_leader() {
        let (clock, board) = board();
        let interval = Duration::from_secs(60);
        board.register(Job::Sealer.spec().every(interval));
        // The job of this instance does not count: another one can have it.
        board.failed(Job::Sealer);
        assert_eq!(board.missing(), []);
        clock.advance(interval * 3 + MOMENT);
        board.pulse(Job::Sealer).alive();
        assert_eq!(board.missing(), [Job::Sealer]);
        board.led(Job::Sealer, interval * 3);
        assert_eq!(board.missing(), []);
        clock.advance(MOMENT);
        assert_eq!(board.missing(), [Job::Sealer]);
    }
}
