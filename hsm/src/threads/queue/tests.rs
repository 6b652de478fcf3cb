//! A queue loses no job and hands out no job twice.

use std::sync::Arc;
use std::thread;

use proptest::prelude::*;
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;
use crate::{Caller, CancelGuard};

const BOUND: usize = 4;
const NO_PATIENCE: Duration = Duration::ZERO;

type Reply = Receiver<Result<(), HsmError>>;

fn job(kind: Access) -> (Job, Reply) {
    Job::new(kind, Instant::now() + Duration::from_secs(60), |_| Ok(()))
}

fn done() -> Result<(), HsmError> {
    Err(HsmError::new(ErrorKind::Refused, "a worker took it"))
}

/// The events of a queue.
#[derive(Debug, Clone, Copy)]
enum Step {
    Push(Access),
    Leave(usize),
    Take,
    EndWrite,
    Shut,
    Open,
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Push(Access::Read)),
        2 => Just(Step::Push(Access::Write)),
        1 => (0..20usize).prop_map(Step::Leave),
        4 => Just(Step::Take),
        2 => Just(Step::EndWrite),
        1 => Just(Step::Shut),
        2 => Just(Step::Open),
    ];
    let close = prop_oneof![9 => Just(None), 1 => Just(Some(Step::Close))];
    (prop::collection::vec(step, 0..80), close)
        .prop_map(|(steps, close)| steps.into_iter().chain(close).collect())
}

proptest! {
    /// Each accepted job is handed to exactly one worker or returned, the bounds hold, and two
    /// writes never run at the same time.
    #[test]
    fn each_job_is_answered_once(steps in steps()) {
        let queue = Queue::new(BOUND);
        queue.open();
        let (mut changes, mut writing) = (0, false);
        let mut waiting: Vec<Option<Reply>> = Vec::new();
        for step in steps {
            match step {
                Step::Push(kind) => {
                    let (job, answer) = job(kind);
                    match queue.push(job) {
                        Ok(displaced) => {
                            prop_assert!(displaced.is_none(), "there is one lane");
                            waiting.push(Some(answer));
                        }
                        Err(error) => prop_assert!(error.kind() != ErrorKind::Refused),
                    }
                }
                Step::Leave(which) => {
                    if let Some(answer) = waiting.get_mut(which) {
                        *answer = None;
                    }
                }
                Step::Take => {
                    if let Next::Work(job) = queue.next(&mut changes, NO_PATIENCE, true) {
                        if job.kind() == Access::Write {
                            prop_assert!(!writing, "two writes at a time");
                            writing = true;
                        }
                        job.answer(done());
                    }
                }
                Step::EndWrite => {
                    queue.end_write();
                    writing = false;
                }
                Step::Shut => queue.shut().into_iter().for_each(|job| job.answer(done())),
                Step::Open => queue.open(),
                Step::Close => queue.close(),
            }
            prop_assert!(queue.len() <= 2 * BOUND);
        }
        // At the end the queue is emptied, and every remaining caller has its answer.
        queue.open();
        loop {
            match queue.next(&mut changes, NO_PATIENCE, true) {
                Next::Work(job) => {
                    job.answer(done());
                    queue.end_write();
                }
                Next::Changed => queue.end_write(),
                Next::Idle | Next::Closed => break,
            }
        }
        prop_assert_eq!(queue.len(), 0);
        for mut answer in waiting.into_iter().flatten() {
            prop_assert!(matches!(answer.try_recv(), Ok(Err(_))));
            prop_assert!(matches!(answer.try_recv(), Err(TryRecvError::Closed)));
        }
    }
}

#[test]
fn many_threads_lose_no_job() {
    let queue = Arc::new(Queue::new(usize::MAX));
    queue.open();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let (mut changes, mut taken) = (0, 0);
                loop {
                    match queue.next(&mut changes, Duration::from_secs(60), true) {
                        Next::Work(job) => {
                            let write = job.kind() == Access::Write;
                            job.answer(done());
                            taken += 1;
                            if write {
                                queue.end_write();
                            }
                        }
                        Next::Changed | Next::Idle => {}
                        Next::Closed => return taken,
                    }
                }
            })
        })
        .collect();
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                for n in 0..500 {
                    let kind = if n % 5 == 0 { Access::Write } else { Access::Read };
                    let (job, answer) = job(kind);
                    queue.push(job).unwrap();
                    assert!(answer.blocking_recv().unwrap().is_err());
                }
            })
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    queue.close();
    let taken: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    assert_eq!(taken, 2000);
}

#[test]
fn a_full_queue_drops_abandoned_jobs() {
    let queue = Queue::new(1);
    queue.open();
    let (first, answer) = job(Access::Read);
    queue.push(first).unwrap();
    let error = queue.push(job(Access::Read).0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    drop(answer);
    queue.push(job(Access::Read).0).unwrap();
}

#[test]
fn too_many_writes_keep_no_read_out() {
    let queue = Queue::new(1024);
    queue.open();
    let writes: Vec<_> = (0..=WRITES).map(|_| job(Access::Write)).collect();
    let (jobs, _answers): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
    let refused: Vec<_> = jobs.into_iter().map(|job| queue.push(job).is_err()).collect();
    assert_eq!(refused.iter().position(|is_refused| *is_refused), Some(WRITES));
    let (read, _answer) = job(Access::Read);
    queue.push(read).unwrap();
}

#[test]
fn an_unavailable_token_refuses_immediately() {
    let queue = Queue::new(BOUND);
    let error = queue.push(job(Access::Read).0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TokenOut);
}

#[test]
fn reads_do_not_wait_for_a_pending_write() {
    let queue = Queue::new(BOUND);
    queue.open();
    let mut changes = 1;
    for kind in [Access::Write, Access::Write, Access::Read] {
        queue.push(job(kind).0).unwrap();
    }
    let kinds: Vec<_> = (0..3)
        .map(|_| match queue.next(&mut changes, NO_PATIENCE, true) {
            Next::Work(job) => Some(job.kind()),
            Next::Idle | Next::Changed | Next::Closed => None,
        })
        .collect();
    assert_eq!(kinds, [Some(Access::Write), Some(Access::Read), None]);
}

/// A job of a caller in this lane.
fn job_in(lane: u64, kind: Access) -> (Job, Reply) {
    let scope = CancelGuard::in_lane(lane);
    let made = scope.scope(async { job(kind) });
    let (job, answer) = block_on(made);
    // The guard must outlive the job, or the job counts as abandoned.
    std::mem::forget(scope);
    (job, answer)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

fn taken_lanes(queue: &Queue, changes: &mut u64) -> Vec<u64> {
    let mut lanes = Vec::new();
    while let Next::Work(job) = queue.next(changes, NO_PATIENCE, true) {
        lanes.push(job.lane());
    }
    lanes
}

#[test]
fn a_burst_delays_its_own_lane_first() {
    let queue = Queue::new(usize::MAX);
    queue.open();
    let mut answers = Vec::new();
    for lane in [1, 1, 1, 1, 2, 3, 2] {
        let (job, answer) = job_in(lane, Access::Read);
        queue.push(job).unwrap();
        answers.push(answer);
    }
    assert_eq!(taken_lanes(&queue, &mut 1), [1, 2, 3, 1, 2, 1, 1]);
    assert_eq!(queue.len(), 0);
}

#[test]
fn a_full_queue_evicts_from_the_longest_lane() {
    let queue = Queue::new(BOUND);
    queue.open();
    let mut burst = Vec::new();
    for _ in 0..BOUND {
        let (job, answer) = job_in(1, Access::Read);
        queue.push(job).unwrap();
        burst.push(answer);
    }
    let (refused, _answer) = job_in(1, Access::Read);
    let error = queue.push(refused).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let (other, _other_answer) = job_in(2, Access::Read);
    let newest = queue.push(other).unwrap().unwrap();
    newest.answer(Err(HsmError::queue_full()));
    let displaced = burst.pop().unwrap().try_recv().unwrap().unwrap_err();
    assert_eq!(displaced.kind(), ErrorKind::Busy);
    assert_eq!(taken_lanes(&queue, &mut 1), [1, 2, 1, 1]);
}

#[test]
fn the_answers_of_a_group_arrive_together() {
    let work = async { [job(Access::Read), job(Access::Read), job(Access::Read)] };
    let [(first, mut answer), (second, _), (third, mut last)] =
        block_on(Caller::default().together().scope(work));
    let mut is_answered = || !matches!(answer.try_recv(), Err(TryRecvError::Empty));
    first.answer(done());
    assert!(!is_answered());
    // An operation that is removed from a queue delays no other.
    drop(second);
    assert!(!is_answered());
    third.answer(done());
    assert!(is_answered());
    assert!(last.try_recv().is_ok());
}
