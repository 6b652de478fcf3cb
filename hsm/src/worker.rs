//! A thread with a session that works off the queue.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;

use crate::device::Device;
use crate::job::{Job, Kind};
use crate::queue::Next;
use crate::seat::Seat;
use crate::session::Session;
use crate::{ErrorKind, HsmError};

pub(crate) fn run(device: &Arc<Device>, seat: &Seat) {
    let mut session = None;
    // Not what any queue begins with: the first thing a worker does is to get its session.
    let mut changes = u64::MAX;
    while !seat.is_written_off() {
        match device
            .queue
            .next(&mut changes, device.bounds.canary_interval)
        {
            Next::Work(job) => work(device, seat, &mut session, job),
            Next::Changed => seat.during(device.bounds.deadline, false, || {
                renew(device, &mut session);
            }),
            Next::Idle => seat.during(device.bounds.deadline, false, || {
                keep_alive(device, &mut session);
            }),
            Next::Closed => break,
        }
    }
    seat.during(device.bounds.deadline, false, || drop(session));
}

fn work(device: &Arc<Device>, seat: &Seat, session: &mut Option<Session>, mut job: Job) {
    let started = Instant::now();
    let waited = started - job.queued();
    let write = job.kind() == Kind::Write;
    let outcome = if job.is_abandoned() {
        device.tally.abandoned.one();
        None
    } else if job.is_late() {
        device.tally.late.one();
        Some(Err(HsmError::new(
            ErrorKind::Late,
            "its turn came too late",
        )))
    } else {
        device.tally.operations.one();
        let allowance = if write {
            device.bounds.generate_deadline
        } else {
            device.bounds.deadline
        };
        let step = job.begin(device.label());
        let outcome =
            step.in_scope(|| seat.during(allowance, write, || attempt(device, session, &mut job)));
        if let Some(observer) = &device.observer {
            observer.operation(device.label(), waited, started.elapsed());
        }
        Some(outcome)
    };
    // The overseer has ended the write of a thread that it gave up.
    if write && !seat.is_written_off() {
        device.queue.end_write();
    }
    let Some(outcome) = outcome else { return };
    if let Err(error) = &outcome {
        device.tally.failures.one();
        tracing::debug!(token = device.label(), ?error, "an operation failed");
        if error.doubts_the_token() {
            device.ask_canary();
        }
    }
    job.answer(outcome.map_err(|error| error.on(device.label())));
}

/// Runs the job; once more on a new session when the old one proves dead, which is known to have
/// done nothing then.
fn attempt(
    device: &Arc<Device>,
    session: &mut Option<Session>,
    job: &mut Job,
) -> Result<(), HsmError> {
    let mut renewed = false;
    loop {
        let live = match session.take_if(|session| !session.is_stale()) {
            Some(live) => live,
            None => {
                *session = None;
                connect(device)?
            }
        };
        let result = panic::catch_unwind(AssertUnwindSafe(|| job.attempt(&live)));
        match result {
            // The state of the session is not known: it goes.
            Err(_) => return Err(HsmError::refused("a call into the module panicked")),
            Ok(Err(error)) if error.condemns_the_session() || lost_its_login(&live, &error) => {
                drop(live);
                if renewed {
                    return Err(error);
                }
                renewed = true;
            }
            Ok(result) => {
                *session = Some(live);
                return result;
            }
        }
    }
}

/// Some tokens answer with a code that says nothing when the login is lost. They are only asked
/// where the call had not seen any input: what fails later must not cost more calls than what
/// succeeds.
fn lost_its_login(session: &Session, error: &HsmError) -> bool {
    error.is_ambiguous() && error.came_before_input() && session.check_login().is_err()
}

fn connect(device: &Arc<Device>) -> Result<Session, HsmError> {
    if !device.is_serving() {
        return Err(HsmError::new(ErrorKind::TokenOut, "the token is out"));
    }
    device.connect().map_err(|error| {
        device.ask_canary();
        error.at_work()
    })
}

/// The token went out or came back.
fn renew(device: &Arc<Device>, session: &mut Option<Session>) {
    drop(session.take_if(|session| session.is_stale()));
    if session.is_none() && device.is_serving() {
        match connect(device) {
            Ok(live) => *session = Some(live),
            Err(error) => {
                tracing::warn!(
                    token = device.label(),
                    ?error,
                    "a worker has no session yet"
                );
            }
        }
    }
}

/// Some tokens close sessions that nobody uses.
fn keep_alive(device: &Arc<Device>, session: &mut Option<Session>) {
    let mut byte = [0];
    if let Some(live) = session
        && let Err(error) = live.raw().generate_random_slice(&mut byte).map_err(HsmError::from)
        // A token without a generator is none the worse for it.
        && (error.condemns_the_session() || error.doubts_the_token())
    {
        tracing::debug!(token = device.label(), ?error, "an idle session has ended");
        *session = None;
        device.ask_canary();
    }
    renew(device, session);
}
