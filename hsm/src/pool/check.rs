//! Whether a token works: the canary on a session, and the way back after an outage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::open;
use crate::health::{canary, oaep_trial};
use crate::session::{ConnectError, Session, TokenConnection};
use crate::{HsmError, OpenError};

/// How long the workers may take to close their sessions before a restart of the module.
const CLEARING: Duration = Duration::from_millis(200);
/// How many lost logins in a row do not count as failures of the token.
const RENEWALS: usize = 8;

/// Why the canary failed.
#[derive(Debug)]
pub(crate) enum CanaryFailure {
    Pin(OpenError),
    Fault(String),
}

/// Runs the canary on a persistent login, and again on a new session after a failure. Tokens
/// fail with any code when the login is lost during a search, and another process may end it, so
/// that a lost login does not count as a failure. Returns the time that the canary took.
pub(crate) fn check(
    connection: &Arc<TokenConnection>,
    session: &mut Option<Session>,
) -> Result<Duration, CanaryFailure> {
    check_with_login(connection, session).or_else(|first| {
        tracing::warn!(token = connection.label(), error = ?first, "the canary failed once");
        *session = None;
        check_with_login(connection, session)
    })
}

fn check_with_login(
    connection: &Arc<TokenConnection>,
    session: &mut Option<Session>,
) -> Result<Duration, CanaryFailure> {
    for _ in 0..RENEWALS {
        let outcome = run_canary(connection, session);
        let lost_login = |session: &Session| session.has_kept_login().is_ok_and(|kept| !kept);
        if outcome.is_ok() || !session.as_ref().is_some_and(lost_login) {
            return outcome;
        }
        *session = None;
    }
    run_canary(connection, session)
}

fn run_canary(
    connection: &Arc<TokenConnection>,
    session: &mut Option<Session>,
) -> Result<Duration, CanaryFailure> {
    let began = Instant::now();
    drop(session.take_if(|session| session.is_stale()));
    let failure = |error| CanaryFailure::of(connection, error);
    connection.login.token_info().map_err(failure)?;
    let live = match session {
        Some(live) => live,
        None => session.insert(Session::open(connection).map_err(failure)?),
    };
    let anchor = connection.login.check_anchor(&connection.counters);
    anchor.map_err(failure)?;
    live.run_canary()?;
    Ok(began.elapsed())
}

/// Tries once to bring a token back: restarts the module, logs in and runs the canary.
pub(crate) fn bring_back(
    connection: &Arc<TokenConnection>,
    session: &mut Option<Session>,
) -> Result<Duration, CanaryFailure> {
    *session = None;
    connection.login.release();
    let restarted = connection.login.module().restart(CLEARING);
    let token = connection.label();
    tracing::info!(token, ?restarted, "trying to connect to the token again");
    if connection.identity().is_none() {
        let began = Instant::now();
        *session = Some(open(connection)?);
        return Ok(began.elapsed());
    }
    let live = Session::open(connection).map_err(|error| CanaryFailure::of(connection, error))?;
    let live = session.insert(live);
    // The canary key may have been deleted with other tools.
    canary::ensure_key(live)?;
    oaep_trial::run(live)?;
    run_canary(connection, session)
}

impl CanaryFailure {
    fn of(connection: &TokenConnection, error: ConnectError) -> Self {
        match error {
            ConnectError::Pin(refusal) => Self::Pin(refusal.on(connection.label())),
            ConnectError::Place(error) => Self::Fault(error.to_string()),
            ConnectError::Call(error) => error.into(),
        }
    }
}

impl From<HsmError> for CanaryFailure {
    fn from(error: HsmError) -> Self {
        Self::Fault(format!("{error:?}"))
    }
}

impl From<OpenError> for CanaryFailure {
    fn from(error: OpenError) -> Self {
        if error.is_pin_refusal() { Self::Pin(error) } else { Self::Fault(error.to_string()) }
    }
}
