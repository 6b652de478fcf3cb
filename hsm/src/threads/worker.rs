//! The worker threads of a token: each has a session and runs operations from the queue.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::Device;
use super::job::{Access, Job, PROBED_KEYS};
use super::queue::Next;
use super::registry::Thread;
use crate::session::Session;
use crate::{ErrorKind, HsmError};

/// How long after an operation the canary runs at the latest.
const CANARY_AFTER_USE: Duration = Duration::from_secs(1);

/// How often a worker without a session asks the token for one.
const SESSION_RETRY: Duration = Duration::from_secs(1);

pub(super) fn run(device: &Arc<Device>, thread: &Thread) {
    let limits = &device.connection.limits;
    let mut session = None;
    // No queue starts with this number, so the first step of a worker is to open its session.
    let mut changes = u64::MAX;
    let mut is_able = true;
    while !thread.is_abandoned() {
        #[cfg(test)]
        thread.panic_if_told();
        let patience = if is_able { limits.canary_interval } else { SESSION_RETRY };
        // Where no worker has a session, operations fail at once instead of late.
        let takes_work = is_able || device.threads.able_workers() == 0;
        match device.queue.next(&mut changes, patience, takes_work) {
            Next::Work(job) => work(device, thread, &mut session, job),
            Next::Changed => thread.call(limits.deadline, false, || drop_stale(&mut session)),
            Next::Idle => thread.call(limits.deadline, false, || keep_alive(device, &mut session)),
            Next::Closed => break,
        }
        is_able = session.is_some()
            || !device.is_serving()
            || thread.call(limits.deadline, false, || renew(device, thread, &mut session));
    }
    thread.call(limits.deadline, false, || drop(session));
}

fn work(device: &Device, thread: &Thread, session: &mut Option<Session>, job: Job) {
    let writing = (job.kind() != Access::Read).then_some(Writing { device, thread });
    let answer = process(device, thread, session, job);
    drop(writing);
    if let Some((job, outcome)) = answer {
        job.answer(outcome);
    }
}

/// A write to the token. When it is dropped, also by a panic, the next write can run.
struct Writing<'w> {
    device: &'w Device,
    thread: &'w Thread,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // The supervisor has ended the write of an abandoned thread.
        if !self.thread.is_abandoned() {
            self.device.queue.end_write();
        }
    }
}

/// Runs a job; none if its caller has gone.
fn process(
    device: &Device,
    thread: &Thread,
    session: &mut Option<Session>,
    mut job: Job,
) -> Option<(Job, Result<(), HsmError>)> {
    let started = Instant::now();
    let counters = &device.connection.counters;
    if job.is_abandoned() {
        counters.abandoned.increment();
        return None;
    }
    let outcome = if job.is_late() {
        counters.late.increment();
        Err(HsmError::new(ErrorKind::Late, "the deadline passed in the queue"))
    } else {
        counters.operations.increment();
        device.connection.canary.raise_within(CANARY_AFTER_USE);
        let limits = &device.connection.limits;
        let (write, allowance) = match job.kind() {
            Access::Read => (false, limits.deadline),
            Access::Write => (true, limits.generate_deadline),
            Access::Probe => (true, limits.generate_deadline * PROBED_KEYS),
        };
        let span = job.begin(device.label());
        let outcome =
            span.in_scope(|| thread.call(allowance, write, || attempt(device, session, &mut job)));
        device.connection.canary.raise_within(CANARY_AFTER_USE);
        device.observe(started - job.queued(), started.elapsed());
        outcome
    };
    let outcome = outcome.map_err(|error| {
        if error.kind() == ErrorKind::Unusable {
            counters.unusable.increment();
            tracing::error!(
                token = device.label(),
                ?error,
                "the token refuses an operation whatever its input"
            );
        } else {
            tracing::debug!(token = device.label(), ?error, "an operation failed");
        }
        // A wrong input, such as a damaged wrapped key, must not differ from a right one in metrics
        // or in the health of the service, which shows how long the last canary took.
        if error.kind() != ErrorKind::BadInput {
            counters.failures.increment();
            if error.suggests_outage() {
                device.connection.canary.raise();
            }
        }
        error.on(device.label())
    });
    Some((job, outcome))
}

/// Runs the operation, and again on a new session if the old one was invalid, because then the first
/// attempt had no effect.
fn attempt(device: &Device, session: &mut Option<Session>, job: &mut Job) -> Result<(), HsmError> {
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
            // The state of the session is unknown, so it is dropped.
            Err(_) => return Err(HsmError::refused("a call into the module panicked")),
            Ok(Err(error)) if error.ends_session() || lost_login(&live, &error) => {
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

/// Some tokens return an ambiguous code when the login is lost. The login is only checked where
/// the call has not seen any input: a bad input must not cost more calls than a good one.
fn lost_login(session: &Session, error: &HsmError) -> bool {
    error.is_ambiguous() && error.came_before_input() && session.check_login().is_err()
}

fn connect(device: &Device) -> Result<Session, HsmError> {
    if !device.is_serving() {
        return Err(HsmError::new(ErrorKind::TokenOut, "the token is unavailable"));
    }
    Session::open(&device.connection).map_err(|error| {
        let error = error.at_work();
        // A token that is full is not broken.
        if error.kind() != ErrorKind::Busy {
            device.connection.canary.raise();
        }
        error
    })
}

/// Closes the session after the token went out or came back.
fn drop_stale(session: &mut Option<Session>) {
    drop(session.take_if(|session| session.is_stale()));
}

/// Opens a session. Returns whether the token gave one: some allow fewer sessions than they report.
fn renew(device: &Device, thread: &Thread, session: &mut Option<Session>) -> bool {
    let token = device.label();
    match connect(device) {
        Ok(live) => {
            *session = Some(live);
            if thread.note_session(false) {
                tracing::info!(token, "a worker has a session again");
            }
            true
        }
        Err(error) => {
            if thread.note_session(true) {
                tracing::warn!(
                    token,
                    ?error,
                    "a worker has no session: it asks again every second"
                );
            }
            false
        }
    }
}

/// Uses the session, because some tokens close idle ones.
fn keep_alive(device: &Device, session: &mut Option<Session>) {
    let mut byte = [0];
    drop_stale(session);
    if let Some(live) = session
        && let Err(error) = live.raw().fill_random(&mut byte)
        // A token without a random number generator is not broken.
        && (error.ends_session() || error.suggests_outage())
    {
        tracing::debug!(token = device.label(), ?error, "an idle session has ended");
        *session = None;
        device.connection.canary.raise();
    }
}
