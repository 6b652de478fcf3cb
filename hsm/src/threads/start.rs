//! Starts the threads of a token.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::device::Device;
use super::registry::{Role, Thread};
use super::worker;
use crate::TokenState;

/// Takes the token into service after a successful canary.
pub(crate) fn serve(device: &Arc<Device>, canary: Duration) {
    if device.serve(canary) {
        start_workers(device);
    }
}

/// Starts the missing workers.
pub(super) fn start_workers(device: &Arc<Device>) {
    let identity = device.connection.identity();
    let wanted = identity.map_or(0, |identity| identity.workers);
    // The attempts are counted, because a thread may not start.
    for _ in 0..wanted {
        let Some(thread) = device.threads.add_missing_worker(wanted) else { return };
        start(device, &thread, worker::run);
    }
}

/// Starts a thread, which is known to the token until it ends.
pub(super) fn start(
    device: &Arc<Device>,
    thread: &Arc<Thread>,
    run: impl FnOnce(&Arc<Device>, &Thread) + Send + 'static,
) {
    let name = match thread.role() {
        Role::Worker => "hsm-worker",
        Role::Monitor => "hsm-monitor",
    };
    let (own, own_thread) = (Arc::clone(device), Arc::clone(thread));
    let started = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let ended = panic::catch_unwind(AssertUnwindSafe(|| run(&own, &own_thread)));
        remove(&own, &own_thread);
        if ended.is_err() {
            tracing::error!(
                token = own.label(),
                name,
                "a thread panicked, and the supervisor starts another"
            );
        }
    });
    if let Err(error) = started {
        tracing::error!(token = device.label(), %error, "cannot start a thread");
        remove(device, thread);
    }
}

/// Removes a thread that ends. The last thread of a closed token releases the module.
fn remove(device: &Device, thread: &Arc<Thread>) {
    device.threads.remove(thread, || {
        if device.state() == TokenState::Closed {
            device.connection.leave_module();
        }
    });
}
