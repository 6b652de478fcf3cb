//! The thread that knows whether its token works: it runs the canary while the token serves and
//! brings the token back when it is out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::alarm::Woken;
use crate::device::Device;
use crate::login::ConnectError;
use crate::seat::Seat;
use crate::session::Session;
use crate::{HsmError, OpenError, TokenState};
use crate::{canary, trial};

/// However often it is asked for, the canary sings no more often than this.
const BREATH: Duration = Duration::from_millis(200);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the workers may take to close their sessions before a restart of the module.
const CLEARING: Duration = Duration::from_millis(200);
/// How many lost logins in a row say nothing of the token.
const RENEWALS: usize = 8;

pub(crate) fn run(device: &Arc<Device>, seat: &Seat, mut session: Option<Session>) {
    let mut pause = Duration::ZERO;
    while !seat.is_written_off() {
        let (woken, next) = match device.state() {
            TokenState::Serving => (listen(device, seat, &mut session), Duration::ZERO),
            TokenState::Out { .. } => (
                bring_back(device, seat, &mut session, pause),
                next_pause(pause),
            ),
            TokenState::PinRefused { .. } | TokenState::Closed => {
                session = None;
                (device.alarm.pause(LONGEST_PAUSE), pause)
            }
        };
        pause = next;
        if woken == Woken::Closed {
            break;
        }
    }
    seat.during(device.bounds.deadline, false, || drop(session));
}

/// Waits for the interval or for somebody's doubt, then lets the canary sing. Its failure opens
/// the breaker only after a second one, on a new session.
fn listen(device: &Arc<Device>, seat: &Seat, session: &mut Option<Session>) -> Woken {
    if device.alarm.wait(device.bounds.canary_interval) == Woken::Closed {
        return Woken::Closed;
    }
    let outcome = seat.during(device.bounds.deadline, false, || {
        sing_undisturbed(device, session).or_else(|first| {
            tracing::warn!(token = device.label(), error = ?first, "the canary failed, once");
            *session = None;
            sing_undisturbed(device, session)
        })
    });
    if seat.is_written_off() {
        return Woken::Up;
    }
    let is_out = matches!(outcome, Err(Silence::Fault(_)));
    act_on(outcome, device, session);
    if is_out {
        return Woken::Up;
    }
    device.alarm.pause(BREATH)
}

/// Tries once to bring the token back.
fn bring_back(
    device: &Arc<Device>,
    seat: &Seat,
    session: &mut Option<Session>,
    pause: Duration,
) -> Woken {
    if device.alarm.pause(pause) == Woken::Closed {
        return Woken::Closed;
    }
    // A token that is reached for the first time may have keys to make.
    let allowance = if device.was_reached() {
        device.bounds.deadline * 3
    } else {
        device
            .bounds
            .generate_deadline
            .max(device.bounds.deadline * 3)
    };
    let outcome = seat.during(allowance, false, || {
        *session = None;
        device.login.let_go();
        let restarted = device.login.module().restart(CLEARING);
        tracing::info!(
            token = device.label(),
            ?restarted,
            "trying to bring the token back"
        );
        if !device.was_reached() {
            let began = Instant::now();
            *session = Some(device.reach()?);
            return Ok(began.elapsed());
        }
        let live = session.insert(
            device
                .connect()
                .map_err(|error| Silence::of(device, error))?,
        );
        // Somebody may have tidied the token and taken the canary's key for rubbish.
        canary::settle(live)?;
        trial::hold(live)?;
        sing(device, session)
    });
    if seat.is_written_off() {
        return Woken::Up;
    }
    act_on(outcome, device, session);
    Woken::Up
}

/// What follows from the canary's song.
fn act_on(outcome: Result<Duration, Silence>, device: &Arc<Device>, session: &mut Option<Session>) {
    match outcome {
        Ok(took) => device.serve(took),
        Err(Silence::Pin(refusal)) => device.give_up(&refusal),
        Err(Silence::Fault(fault)) => {
            *session = None;
            device.trip(&fault);
        }
    }
}

fn next_pause(pause: Duration) -> Duration {
    (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE)
}

/// Why the canary does not sing.
#[derive(Debug)]
enum Silence {
    Pin(OpenError),
    Fault(String),
}

/// Lets the canary sing on a login that holds: tokens answer a search whose login goes away under
/// it with any code, and a login that somebody ended is no fault of the token.
fn sing_undisturbed(
    device: &Arc<Device>,
    session: &mut Option<Session>,
) -> Result<Duration, Silence> {
    for _ in 0..RENEWALS {
        let outcome = sing(device, session);
        let lost_login = |session: &Session| session.has_kept_login().is_ok_and(|kept| !kept);
        if outcome.is_ok() || !session.as_ref().is_some_and(lost_login) {
            return outcome;
        }
        *session = None;
    }
    sing(device, session)
}

fn sing(device: &Arc<Device>, session: &mut Option<Session>) -> Result<Duration, Silence> {
    let began = Instant::now();
    drop(session.take_if(|session| session.is_stale()));
    device
        .login
        .token_info()
        .map_err(|error| Silence::of(device, error))?;
    let live = match session {
        Some(live) => live,
        None => session.insert(
            device
                .connect()
                .map_err(|error| Silence::of(device, error))?,
        ),
    };
    device
        .login
        .check_anchor(&device.tally)
        .map_err(|error| Silence::of(device, error))?;
    canary::exercise(live)?;
    Ok(began.elapsed())
}

impl Silence {
    fn of(device: &Device, error: ConnectError) -> Self {
        match error {
            ConnectError::Pin(trouble) => Self::Pin(trouble.on(device.label())),
            ConnectError::Place(error) => Self::Fault(error.to_string()),
            ConnectError::Call(error) => error.into(),
        }
    }
}

impl From<HsmError> for Silence {
    fn from(error: HsmError) -> Self {
        Self::Fault(format!("{error:?}"))
    }
}

impl From<OpenError> for Silence {
    fn from(error: OpenError) -> Self {
        if error.is_pin_refusal() {
            Self::Pin(error)
        } else {
            Self::Fault(error.to_string())
        }
    }
}
