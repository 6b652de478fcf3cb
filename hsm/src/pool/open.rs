//! The first session on a token.

use std::sync::Arc;

use cryptoki_sys::{CKF_LOGIN_REQUIRED, CKF_WRITE_PROTECTED};

use crate::OpenError;
use crate::health::{canary, oaep_trial};
use crate::pkcs11::TokenInfo;
use crate::session::{ConnectError, Session, TokenConnection, TokenIdentity};

/// Opens the first session on a token. Errors of the token or its configuration show here.
pub(crate) fn open(connection: &Arc<TokenConnection>) -> Result<Session, OpenError> {
    let located = connection.login.locate();
    let (_, info) = located.map_err(|error| error.at_open(connection.label()))?;
    let token = info.label.clone();
    if info.has(CKF_WRITE_PROTECTED) {
        return Err(OpenError::ReadOnly { token });
    }
    let workers = affordable_workers(&info, connection.limits.workers)?;
    let at_open = |error: ConnectError| error.at_open(&token);
    let session = Session::open(connection).map_err(at_open)?;
    let anchor = connection.login.check_anchor(&connection.counters);
    anchor.map_err(at_open)?;
    canary::ensure_key(&session)
        .and_then(|()| oaep_trial::ensure_key(&session))
        .and_then(|()| oaep_trial::run(&session))
        .map_err(|source| at_open(source.into()))?;
    connection.identify(TokenIdentity {
        needs_login: info.has(CKF_LOGIN_REQUIRED),
        label: info.label,
        serial: info.serial,
        workers,
    });
    Ok(session)
}

/// The number of workers that the token has sessions for, in addition to the anchor and the monitor.
fn affordable_workers(info: &TokenInfo, wanted: usize) -> Result<usize, OpenError> {
    let allowed = info.max_sessions.unwrap_or(u64::MAX);
    let taken = info.sessions;
    let free = allowed.saturating_sub(taken.unwrap_or(0));
    let beside = 2;
    let workers = usize::try_from(free.saturating_sub(beside)).unwrap_or(usize::MAX);
    match workers.min(wanted) {
        0 => Err(OpenError::TooFewSessions {
            token: info.label.clone(),
            allowed,
            free,
            needed: beside + 1,
        }),
        workers => Ok(workers),
    }
}
