//! Starts the monitors of the tokens, and replaces the threads that panic or hang. The supervisor's own thread
//! never calls into a library.

use std::convert::Infallible;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::device::Device;
use super::monitor;
use super::registry::Role;
use super::start::{start, start_workers};
use crate::session::Session;
use crate::{Config, Fatal, TokenState};

/// The supervisor's thread ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) fatal: watch::Receiver<Option<Fatal>>,
    _stop: mpsc::Sender<Infallible>,
}

/// Starts the supervisor.
pub(crate) fn supervise(devices: Vec<Arc<Device>>, config: &Config) -> Supervisor {
    let (report, fatal) = watch::channel(None);
    let (stop, stopped) = mpsc::channel();
    let budget = config.hang_budget.max(3 * (config.workers.max(1) + 1));
    let tick = config.deadline / 10;
    let tick = tick.clamp(Duration::from_millis(10), Duration::from_millis(250));
    let rounds = move || {
        while stopped.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
            if report.borrow().is_none() {
                let round = || inspect(&devices, budget, &report);
                if panic::catch_unwind(AssertUnwindSafe(round)).is_err() {
                    tracing::error!("the supervisor of the tokens panicked, and goes on");
                }
            }
        }
    };
    let named = thread::Builder::new().name("hsm-supervisor".to_owned());
    if let Err(error) = named.spawn(rounds) {
        tracing::error!(%error, "cannot start the supervisor: hung calls are not detected");
    }
    let _stop = stop;
    Supervisor { fatal, _stop }
}

fn inspect(devices: &[Arc<Device>], budget: usize, report: &watch::Sender<Option<Fatal>>) {
    for device in devices {
        replace_hung(device);
        replace_missing(device);
    }
    for device in devices {
        let hung = device.threads.hung();
        if hung > budget {
            let token = device.label().to_owned();
            tracing::error!(token, hung, budget, "too many threads hang in the module");
            report.send_replace(Some(Fatal::HangBudgetSpent { token, hung }));
            return;
        }
    }
}

/// Abandons the threads that hang inside the library, and starts another monitor for one that hangs.
fn replace_hung(device: &Arc<Device>) {
    // While the token generates a key, all other calls may have to wait.
    let (writing, last_write) = device.queue.writes();
    let busy_until = if writing { Some(Instant::now()) } else { last_write };
    for hung in device.threads.abandon_hung(busy_until) {
        let token = device.label();
        tracing::error!(token, ?hung, "a thread hangs in the module");
        match hung.role {
            Role::Worker => {
                if hung.write {
                    device.queue.end_write();
                }
                device.connection.canary.raise();
            }
            Role::Monitor => {
                device.trip("the canary did not return");
                start_monitor(device, None);
            }
        }
    }
}

/// Starts others for workers that hang, and for threads that panicked or could not be started. A token that is out
/// gets no workers.
fn replace_missing(device: &Arc<Device>) {
    if device.is_serving() {
        start_workers(device);
    }
    // A monitor ends when the token is closed. In this order, it is not taken for a panic.
    if device.threads.monitors() == 0 && device.state() != TokenState::Closed {
        start_monitor(device, None);
    }
}

/// Starts the monitor. It takes over the session that opened the token, if any.
pub(crate) fn start_monitor(device: &Arc<Device>, session: Option<Session>) {
    let thread = device.threads.add(Role::Monitor);
    start(device, &thread, move |device, thread| monitor::run(device, thread, session));
}
