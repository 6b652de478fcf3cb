//! Opening every configured token at the start, and closing them at the end.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::session::Module;
use crate::threads::{self, Device};
use crate::{Config, OpenError, TokenConfig, Trace};

/// Which tokens must work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// One of them.
    One,
    /// None: those that cannot be reached are opened as soon as they answer.
    None,
}

/// Opens every token. Those that may be out are brought back by their monitors later.
pub(crate) async fn open(
    config: &Config,
    requirement: Requirement,
) -> Result<Vec<Arc<Device>>, OpenError> {
    let patience = match requirement {
        Requirement::One => config.generate_deadline.max(config.deadline),
        Requirement::None => config.deadline,
    };
    let until = Instant::now() + patience;
    let mut devices = Vec::new();
    for token in &config.tokens {
        let module = load(token, until, config.trace.clone()).await?;
        let device = Device::new(module, token.clone(), config);
        devices.push(Arc::new(device));
    }
    let opening: Vec<_> = devices.iter().map(threads::open).collect();
    let mut failures = Vec::new();
    for ((device, token), opened) in devices.iter().zip(&config.tokens).zip(opening) {
        if let Err(failure) = in_time(token, until, opened).await {
            if let OpenError::Hangs { .. } = failure {
                device.trip(&failure.to_string());
            }
            failures.push(failure);
        }
    }
    if let Some(refusal) = decisive(&mut failures, devices.len(), requirement) {
        close(&devices, config.deadline).await;
        return Err(refusal);
    }
    for failure in &failures {
        tracing::error!(%failure, "starting without this token");
    }
    Ok(devices)
}

/// Waits until no thread is left: a process that ends while its threads are inside a library may
/// crash in the library's exit handlers.
pub(crate) async fn close(devices: &[Arc<Device>], patience: Duration) {
    devices.iter().for_each(|device| device.close());
    let until = (Instant::now() + patience).into();
    for device in devices {
        let mut present = device.threads.present();
        let ended = present.wait_for(|present| *present == 0);
        if timeout_at(until, ended).await.is_err() {
            tracing::warn!(token = device.label(), "some threads did not end in time");
        }
    }
}

/// Loads a module on a separate thread, because the call may hang.
async fn load(
    token: &TokenConfig,
    until: Instant,
    trace: Option<Arc<Trace>>,
) -> Result<Arc<Module>, OpenError> {
    let (loaded, result) = oneshot::channel();
    let own = token.clone();
    let thread = thread::Builder::new().name("hsm-load".to_owned());
    drop(thread.spawn(move || drop(loaded.send(Module::load(&own, trace)))));
    in_time(token, until, result).await
}

/// The result of calls into a module, which hang if it does not come in time.
async fn in_time<T>(
    token: &TokenConfig,
    until: Instant,
    result: oneshot::Receiver<Result<T, OpenError>>,
) -> Result<T, OpenError> {
    match timeout_at(until.into(), result).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Err(OpenError::Hangs { token: token.select.wanted().to_owned() }),
    }
}

/// The failure that must end the start. A token that cannot be reached does not end it where another token
/// serves or none is required, but an error that an operator must correct does.
fn decisive(
    failures: &mut Vec<OpenError>,
    tokens: usize,
    requirement: Requirement,
) -> Option<OpenError> {
    if tokens == 0 {
        return Some(OpenError::NoTokens);
    }
    let some_serves = failures.len() < tokens;
    let may_be_out = some_serves || requirement == Requirement::None;
    let is_decisive = |failure: &OpenError| match failure {
        // A module that shows other tokens works, so that the name of this one is wrong.
        OpenError::NoSuchToken { found, unreadable, .. } => {
            !some_serves && (!may_be_out || (!found.is_empty() && unreadable.is_empty()))
        }
        OpenError::Hangs { .. } | OpenError::Broken { .. } | OpenError::NotStarted { .. } => {
            !may_be_out
        }
        OpenError::NoTokens
        | OpenError::ModuleMissing { .. }
        | OpenError::NotAModule { .. }
        | OpenError::SeveralTokens { .. }
        | OpenError::PinRefused { .. }
        | OpenError::PinRefusedBefore { .. }
        | OpenError::PinCountLow { .. }
        | OpenError::PinLastTry { .. }
        | OpenError::PinLocked { .. }
        | OpenError::PinNotSet { .. }
        | OpenError::ReadOnly { .. }
        | OpenError::TooFewSessions { .. } => true,
    };
    let decisive = failures.iter().position(is_decisive)?;
    // A refused PIN comes first, because it must not be tried again.
    let refused = failures.iter().position(OpenError::is_pin_refusal);
    Some(failures.swap_remove(refused.unwrap_or(decisive)))
}
