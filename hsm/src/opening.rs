//! Opening every configured token at the start, and closing them at the end.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::session::Module;
use crate::threads::{self, Device};
use crate::{Config, OpenError, TokenConfig, pool};

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
        let (own, trace) = (token.clone(), config.trace.clone());
        let module = in_thread(token, until, move || Module::load(&own, trace)).await?;
        let device = Device::new(module, token.clone(), config);
        devices.push(Arc::new(device));
    }
    let opening: Vec<_> = devices
        .iter()
        .zip(&config.tokens)
        .map(|(device, token)| {
            let device = Arc::clone(device);
            in_thread(token, until, move || start(&device))
        })
        .collect();
    let mut failures = Vec::new();
    for (device, opened) in devices.iter().zip(opening) {
        if let Err(failure) = opened.await {
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

/// Calls a module on a separate thread, because the call may hang.
async fn in_thread<T: Send + 'static>(
    token: &TokenConfig,
    until: Instant,
    call: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let (send, result) = oneshot::channel();
    let thread = thread::Builder::new().name("hsm-open".to_owned());
    drop(thread.spawn(move || drop(send.send(call()))));
    match timeout_at(until.into(), result).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Err(OpenError::Hangs { token: token.select.wanted().to_owned() }),
    }
}

/// Opens a token and starts its threads. Without a session the monitor alone starts, unless the
/// PIN was refused.
fn start(device: &Arc<Device>) -> Result<(), OpenError> {
    let began = Instant::now();
    match pool::open(&device.connection) {
        Ok(session) => {
            threads::serve(device, began.elapsed());
            threads::start_monitor(device, Some(session));
            Ok(())
        }
        Err(error) => {
            if error.is_pin_refusal() {
                device.refuse_pin(&error);
            } else {
                device.trip(&error.to_string());
                device.connection.login.release();
                threads::start_monitor(device, None);
            }
            Err(error)
        }
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
