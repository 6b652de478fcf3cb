//! The monitor thread of a token: runs the canary while the token serves, and brings the token
//! back when it is out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::device::Device;
use super::registry::Thread;
use super::start::{start_monitor, start_workers};
use crate::pool::{self, CanaryFailure};
use crate::session::Session;
use crate::{OpenError, TokenState};

/// The least time between two canaries, however many are requested.
const CANARY_PAUSE: Duration = Duration::from_millis(200);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Opens the token in the thread of its monitor, because the call may hang. The monitor also brings back a token that
/// does not open, unless it refused the PIN.
pub(crate) fn open(device: &Arc<Device>) -> oneshot::Receiver<Result<(), OpenError>> {
    let (opened, result) = oneshot::channel();
    start_monitor(device, |device, thread| open_and_run(device, thread, opened));
    result
}

fn open_and_run(
    device: &Arc<Device>,
    thread: &Thread,
    opened: oneshot::Sender<Result<(), OpenError>>,
) {
    let began = Instant::now();
    let result = thread.call(opening_allowance(device), false, || pool::open(&device.connection));
    if !thread.is_abandoned() {
        match &result {
            Ok(_) => serve(device, began.elapsed()),
            Err(error) if error.is_pin_refusal() => device.refuse_pin(error),
            Err(error) => {
                device.trip(&error.to_string());
                device.connection.login.release();
            }
        }
    }
    let (session, result) = match result {
        Ok(session) => (Some(session), Ok(())),
        Err(error) => (None, Err(error)),
    };
    // The start may have stopped waiting.
    drop(opened.send(result));
    run(device, thread, session);
}

pub(super) fn run(device: &Arc<Device>, thread: &Thread, mut session: Option<Session>) {
    let requests = &device.connection.canary;
    let limits = &device.connection.limits;
    let mut pause = Duration::ZERO;
    while !thread.is_abandoned() {
        #[cfg(test)]
        thread.panic_if_told();
        let goes_on = match device.state() {
            TokenState::Serving => {
                pause = Duration::ZERO;
                requests.wait(limits.canary_interval) && {
                    let checked = thread.call(limits.deadline, false, || {
                        pool::check(&device.connection, &mut session)
                    });
                    conclude(device, thread, &mut session, checked);
                    !device.is_serving() || requests.pause(CANARY_PAUSE)
                }
            }
            TokenState::Out { .. } => {
                let waited = requests.pause(pause);
                pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                waited && {
                    let back = thread.call(opening_allowance(device), false, || {
                        pool::bring_back(&device.connection, &mut session)
                    });
                    conclude(device, thread, &mut session, back);
                    true
                }
            }
            TokenState::PinRefused { .. } | TokenState::Closed => {
                session = None;
                requests.pause(LONGEST_PAUSE)
            }
        };
        if !goes_on {
            break;
        }
    }
    thread.call(limits.deadline, false, || drop(session));
}

/// Takes the token into service after a successful canary.
fn serve(device: &Arc<Device>, canary: Duration) {
    if device.serve(canary) {
        start_workers(device);
    }
}

/// How long opening the token may take.
fn opening_allowance(device: &Device) -> Duration {
    let limits = &device.connection.limits;
    // A token that is reached for the first time may have to generate keys.
    let allowance = match device.connection.identity() {
        Some(_) => limits.deadline * 3,
        None => limits.generate_deadline.max(limits.deadline * 3),
    };
    // While the token hangs, each monitor waits twice as long as the one before it, so that
    // a long stall costs few threads.
    let doublings = u32::try_from(device.threads.hung_monitors()).unwrap_or(u32::MAX);
    allowance.saturating_mul(2_u32.saturating_pow(doublings))
}

/// Acts on the result of a canary, unless this thread was abandoned during it.
fn conclude(
    device: &Arc<Device>,
    thread: &Thread,
    session: &mut Option<Session>,
    outcome: Result<Duration, CanaryFailure>,
) {
    if thread.is_abandoned() {
        return;
    }
    match outcome {
        Ok(took) => serve(device, took),
        Err(CanaryFailure::Pin(refusal)) => device.refuse_pin(&refusal),
        Err(CanaryFailure::Fault(fault)) => {
            *session = None;
            device.trip(&fault);
        }
    }
}
