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

/// Opens every token. One of several may be out; its monitor brings it back later.
pub(crate) async fn open(config: &Config) -> Result<Vec<Arc<Device>>, OpenError> {
    let until = Instant::now() + config.generate_deadline.max(config.deadline);
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
    for opened in opening {
        failures.extend(opened.await.err());
    }
    if let Some(refusal) = decisive(&mut failures, devices.len()) {
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

/// The failure that must end the start. Where another token serves, a token that cannot be reached
/// does not end it, but an error that an operator must correct does.
fn decisive(failures: &mut Vec<OpenError>, tokens: usize) -> Option<OpenError> {
    if tokens == 0 {
        return Some(OpenError::NoTokens);
    }
    let none_serves = failures.len() == tokens;
    let is_decisive = |failure: &OpenError| {
        let may_pass = matches!(
            failure,
            OpenError::NoSuchToken { .. } | OpenError::Hangs { .. } | OpenError::Broken { .. }
        );
        none_serves || !may_pass
    };
    let decisive = failures.iter().position(is_decisive)?;
    // A refused PIN comes first, because it must not be tried again.
    let refused = failures.iter().position(OpenError::is_pin_refusal);
    Some(failures.swap_remove(refused.unwrap_or(decisive)))
}
