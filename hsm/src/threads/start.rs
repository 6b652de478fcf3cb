//! Starts the threads of a token.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use super::device::Device;
use super::registry::{Role, Thread};
use super::worker;
use crate::TokenState;

/// Starts the monitor, which begins with this work.
pub(super) fn start_monitor(
    device: &Arc<Device>,
    run: impl FnOnce(&Arc<Device>, &Thread) + Send + 'static,
) {
    let thread = device.threads.add(Role::Monitor);
    start(device, &thread, run);
}

/// Starts the missing workers. Returns whether any was missing.
pub(super) fn start_workers(device: &Arc<Device>) -> bool {
    let identity = device.connection.identity();
    let wanted = identity.map_or(0, |identity| identity.workers);
    // The attempts are counted, because a thread may not start.
    for place in 0..wanted {
        let Some(thread) = device.threads.add_missing_worker(wanted) else { return place > 0 };
        start(device, &thread, worker::run);
    }
    wanted > 0
}

/// Starts a thread, which is known to the token until it ends.
fn start(
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
            tracing::error!(token = own.label(), name, "a thread of the token panicked");
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
