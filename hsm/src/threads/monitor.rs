//! The monitor thread of a token: runs the canary while the token serves, and brings the token
//! back when it is out.

use std::sync::Arc;
use std::time::Duration;

use super::device::Device;
use super::registry::Thread;
use super::start::serve;
use crate::TokenState;
use crate::pool::{self, CanaryFailure};
use crate::session::Session;

/// The least time between two canaries, however many are requested.
const CANARY_PAUSE: Duration = Duration::from_millis(200);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

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
                    // A token that is reached for the first time may have to generate keys.
                    let allowance = match device.connection.identity() {
                        Some(_) => limits.deadline * 3,
                        None => limits.generate_deadline.max(limits.deadline * 3),
                    };
                    // While the token hangs, each monitor waits twice as long as the one before it, so that
                    // a long stall costs few threads.
                    let doublings =
                        u32::try_from(device.threads.hung_monitors()).unwrap_or(u32::MAX);
                    let allowance = allowance.saturating_mul(2_u32.saturating_pow(doublings));
                    let back = thread.call(allowance, false, || {
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
