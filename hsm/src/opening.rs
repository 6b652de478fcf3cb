//! Reaching every configured token when the process starts, and letting go of them when it ends.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout_at;

use crate::device::Device;
use crate::module::Module;
use crate::{Config, OpenError, TokenConfig};

/// Opens every token. One of several may be out; its prober brings it in later.
pub(crate) async fn open(config: &Config) -> Result<Vec<Arc<Device>>, OpenError> {
    let patience = config.generate_deadline.max(config.deadline);
    let until = Instant::now() + patience;
    let mut devices = Vec::new();
    for token in &config.tokens {
        let path = token.module.clone();
        let module = off_runtime(token, until, move || Module::load(&path)).await?;
        devices.push(Arc::new(Device::new(module, token.clone(), config)));
    }
    let reaching: Vec<_> = devices
        .iter()
        .zip(&config.tokens)
        .map(|(device, token)| {
            let device = Arc::clone(device);
            off_runtime(token, until, move || reach(&device))
        })
        .collect();
    let mut failures = Vec::new();
    for reached in reaching {
        failures.extend(reached.await.err());
    }
    if let Some(refusal) = first_that_stops(&mut failures, devices.len()) {
        close(&devices, config.deadline).await;
        return Err(refusal);
    }
    for failure in &failures {
        tracing::error!(%failure, "starting without this token");
    }
    Ok(devices)
}

/// Waits until no thread is left, for a process that ends while its threads are in a library may
/// crash in the library's exit handlers.
pub(crate) async fn close(devices: &[Arc<Device>], patience: Duration) {
    devices.iter().for_each(|device| device.close());
    let until = (Instant::now() + patience).into();
    for device in devices {
        let mut present = device.crew.present();
        let all_left = present.wait_for(|present| *present == 0);
        if timeout_at(until, all_left).await.is_err() {
            tracing::warn!(token = device.label(), "not every thread ended in time");
        }
    }
}

/// Calls into a module on a thread of its own, for it may not come back.
async fn off_runtime<T: Send + 'static>(
    token: &TokenConfig,
    until: Instant,
    call: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let (tell, told) = oneshot::channel();
    let thread = thread::Builder::new().name("hsm-open".to_owned());
    drop(thread.spawn(move || drop(tell.send(call()))));
    match timeout_at(until.into(), told).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Err(OpenError::Hangs {
            token: token.select.wanted().to_owned(),
        }),
    }
}

/// Reaches a token for the first time, and seats its keeper whether or not it answers.
fn reach(device: &Arc<Device>) -> Result<(), OpenError> {
    let began = Instant::now();
    match device.reach() {
        Ok(session) => {
            device.serve(began.elapsed());
            device.seat_keeper(Some(session));
            Ok(())
        }
        Err(error) => {
            if error.is_pin_refusal() {
                device.give_up(&error);
            } else {
                device.trip(&error.to_string());
                device.login.let_go();
                device.seat_keeper(None);
            }
            Err(error)
        }
    }
}

/// A failure that must stop the start. With several tokens, one that cannot be reached at this
/// moment does not; what a person has to put right does.
fn first_that_stops(failures: &mut Vec<OpenError>, tokens: usize) -> Option<OpenError> {
    if tokens == 0 {
        return Some(OpenError::NoTokens);
    }
    let none_serves = failures.len() == tokens;
    let stops = failures.iter().position(|failure| {
        none_serves
            || failure.is_pin_refusal()
            || !matches!(
                failure,
                OpenError::NoSuchToken { .. } | OpenError::Hangs { .. } | OpenError::Broken { .. }
            )
    })?;
    // A refused PIN is told before anything else, for it is what must not be tried again.
    let first = failures
        .iter()
        .position(OpenError::is_pin_refusal)
        .unwrap_or(stops);
    Some(failures.swap_remove(first))
}
