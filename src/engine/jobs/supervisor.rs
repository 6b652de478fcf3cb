//! Runs the jobs, and starts those again that end.

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::board::{Board, Pulse};
use super::delay::{Delay, FIRST};
use super::job::{Job, Spec};

/// The owner of all jobs of an instance. Dropping it aborts them.
#[derive(Debug)]
pub struct Supervisor {
    board: Board,
    owners: HashMap<Job, Owner>,
}

#[derive(Debug)]
struct Owner {
    ending: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl Supervisor {
    /// A supervisor without jobs.
    pub fn new(board: Board) -> Self {
        Self { board, owners: HashMap::new() }
    }

    /// Runs a job: `start` starts it, and starts it again when it has ended or panicked.
    pub fn run<W>(
        &mut self,
        spec: impl Into<Spec>,
        start: impl Fn(Pulse) -> W + Send + Sync + 'static,
    ) where
        W: Future + Send + 'static,
    {
        let spec = spec.into();
        let (job, starts_after) = (spec.job, spec.starts_after());
        self.board.register(spec);
        let ending = CancellationToken::new();
        let pulse = self.board.pulse_until(job, ending.clone());
        let owned = own(self.board.clone(), job, ending.clone(), move || start(pulse.clone()));
        let owned = async move {
            sleep(starts_after).await;
            owned.await;
        };
        let task = AbortOnDropHandle::new(tokio::spawn(owned));
        self.owners.insert(job, Owner { ending, task });
    }

    /// Runs a job whose `state` remains when it starts again.
    pub fn run_with<S: Send + 'static, T: 'static>(
        &mut self,
        spec: impl Into<Spec>,
        state: S,
        work: impl for<'a> Fn(&'a mut S, Pulse) -> BoxFuture<'a, T> + Copy + Send + Sync + 'static,
    ) {
        let state = Arc::new(Mutex::new(state));
        self.run(spec, move |pulse| {
            let state = Arc::clone(&state);
            async move { work(&mut *state.lock().await, pulse).await }
        });
    }

    /// Aborts all jobs but these.
    pub async fn abort_all_but(&mut self, remaining: &[Job]) {
        let aborted =
            self.owners.extract_if(|job, _| !remaining.contains(job)).map(|(_, owner)| owner);
        let aborted: Vec<_> = aborted.collect();
        for owner in &aborted {
            owner.task.abort();
        }
        for owner in aborted {
            // It ends with the abort.
            let _ = owner.task.await;
        }
    }

    /// Has a job write its data and end. False if it takes longer than `limit`; then it is aborted.
    pub async fn finish(&mut self, job: Job, limit: Duration) -> bool {
        let Some(owner) = self.owners.remove(&job) else {
            return true;
        };
        owner.ending.cancel();
        timeout(limit, owner.task).await.is_ok()
    }
}

/// Runs a job until it ends after `ending`.
async fn own<W: Future>(board: Board, job: Job, ending: CancellationToken, start: impl Fn() -> W) {
    let mut delay = Delay::default();
    loop {
        let started = board.clock().monotonic();
        let work = async {
            start().await;
        };
        #[cfg(feature = "fault-points")]
        let work = super::fault::point(board.faults(), job, work);
        let ended = AssertUnwindSafe(work).catch_unwind().await;
        if ended.is_ok() && ending.is_cancelled() {
            return;
        }
        board.failed(job);
        let pause = delay.after(board.clock().monotonic().saturating_sub(started));
        let reason = match &ended {
            Ok(()) => "it returned",
            Err(panic) => message(&**panic),
        };
        tracing::error!(%job, reason, restart_in = ?pause, "a background job ended");
        tokio::select! {
            () = sleep(pause) => {}
            // What remains is written at once.
            () = ending.cancelled() => sleep(FIRST).await,
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked")
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::mpsc;

    use super::*;
    use formats::clock::{Clock, Timestamp};

    const JOB: Job = Job::TokenEvents;
    const PATIENCE: Duration = Duration::from_secs(60);

    fn supervisor() -> (Board, Supervisor) {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let board = Board::new(clock);
        (board.clone(), Supervisor::new(board))
    }

    #[tokio::test]
    async fn a_job_that_panics_or_returns_starts_again_with_its_state() {
        let (board, mut jobs) = supervisor();
        let (sender, mut runs) = mpsc::unbounded_channel();
        jobs.run_with(JOB, (0, sender), |(run, sender), pulse| {
            Box::pin(async move {
                *run += 1;
                sender.send(*run).unwrap();
                match run {
                    1 => panic!("on purpose"),
                    2 => {}
                    _ => {
                        pulse.succeeded();
                        pending().await
                    }
                }
            })
        });
        assert_eq!(board.is_up(JOB), Some(true));
        for (run, failures, is_up) in [(1, 1, false), (2, 2, false), (3, 2, true)] {
            assert_eq!(runs.recv().await, Some(run));
            assert_eq!(board.failures(JOB), Some(failures));
            assert_eq!(board.is_up(JOB), Some(is_up), "{run}");
        }
    }

    #[tokio::test]
    async fn a_job_that_shall_end_is_not_started_again() {
        let (board, mut jobs) = supervisor();
        let (sender, mut runs) = mpsc::unbounded_channel();
        jobs.run(JOB, move |pulse| {
            let sender = sender.clone();
            async move {
                sender.send("starts").unwrap();
                pulse.ending().await;
                sender.send("ends").unwrap();
            }
        });
        assert_eq!(runs.recv().await, Some("starts"));
        assert!(jobs.finish(JOB, PATIENCE).await);
        assert_eq!(runs.recv().await, Some("ends"));
        assert_eq!(runs.recv().await, None);
        assert_eq!(board.failures(JOB), Some(0));
    }

    #[tokio::test]
    async fn a_job_that_panics_while_it_ends_starts_again_and_writes_the_rest() {
        let (board, mut jobs) = supervisor();
        jobs.run_with(JOB, 3, |left, pulse| {
            Box::pin(async move {
                pulse.ending().await;
                *left -= 1;
                assert_eq!(*left, 0, "on purpose");
            })
        });
        assert!(jobs.finish(JOB, PATIENCE).await);
        assert_eq!(board.failures(JOB), Some(2));
    }

    #[tokio::test]
    async fn a_job_that_does_not_end_in_time_is_aborted() {
        let (_, mut jobs) = supervisor();
        let (sender, mut runs) = mpsc::unbounded_channel::<()>();
        jobs.run(JOB, move |_| {
            let sender = sender.clone();
            async move {
                let _sender = sender;
                pending::<()>().await;
            }
        });
        assert!(!jobs.finish(JOB, Duration::from_millis(1)).await);
        assert_eq!(runs.recv().await, None);
    }

    #[tokio::test]
    async fn housekeeping_starts_later_than_other_jobs() {
        let (board, mut jobs) = supervisor();
        let (sender, mut runs) = mpsc::unbounded_channel();
        for job in [Job::LastUse, JOB] {
            let sender = sender.clone();
            jobs.run(job, move |pulse| {
                sender.send(job).unwrap();
                async move { pulse.ending().await }
            });
        }
        for job in [JOB, Job::LastUse] {
            assert_eq!(runs.recv().await, Some(job));
            assert_eq!(board.is_up(job), Some(true));
        }
    }

    #[tokio::test]
    async fn the_others_are_aborted() {
        let (_, mut jobs) = supervisor();
        for job in [JOB, Job::Notices] {
            jobs.run(job, |pulse| async move { pulse.ending().await });
        }
        jobs.abort_all_but(&[Job::Notices]).await;
        assert!(jobs.owners.keys().eq(&[Job::Notices]));
        assert!(jobs.finish(Job::Notices, PATIENCE).await);
    }
}
