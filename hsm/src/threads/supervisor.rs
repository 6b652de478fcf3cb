//! Replaces the threads of the tokens that panic or hang. The supervisor's own thread never calls into a library.

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
use super::start::{start_monitor, start_workers};
use crate::{Config, Fatal, TokenState};

/// The least time between two replacements of threads of a token, so that threads which panic at once, or cannot start,
/// do not fill the log.
const PAUSE: Duration = Duration::from_secs(1);

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
    let mut devices: Vec<_> = devices.into_iter().map(Supervised::new).collect();
    let rounds = move || {
        while stopped.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
            if report.borrow().is_none() {
                let round = || inspect(&mut devices, budget, &report);
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

/// A token, and when threads of it were replaced.
struct Supervised {
    device: Arc<Device>,
    replaced: Option<Instant>,
}

impl Supervised {
    const fn new(device: Arc<Device>) -> Self {
        Self { device, replaced: None }
    }

    fn replace_missing(&mut self) {
        let is_soon = self.replaced.is_some_and(|at| at.elapsed() < PAUSE);
        if !is_soon && replace_missing(&self.device) {
            self.replaced = Some(Instant::now());
        }
    }
}

fn inspect(devices: &mut [Supervised], budget: usize, report: &watch::Sender<Option<Fatal>>) {
    for supervised in &mut *devices {
        abandon_hung(&supervised.device);
        supervised.replace_missing();
    }
    for Supervised { device, .. } in devices {
        let hung = device.threads.hung();
        if hung > budget {
            let token = device.label().to_owned();
            tracing::error!(token, hung, budget, "too many threads hang in the module");
            report.send_replace(Some(Fatal::HangBudgetSpent { token, hung }));
            return;
        }
    }
}

/// Abandons the threads that hang inside the library.
fn abandon_hung(device: &Device) {
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
            Role::Monitor => device.trip("the canary did not return"),
        }
    }
}

/// Starts others for threads that hang, panicked or could not be started. A token that is out gets no workers. Returns
/// whether any was missing.
fn replace_missing(device: &Arc<Device>) -> bool {
    let workers_missed = device.is_serving() && start_workers(device);
    // A monitor ends when the token is closed. In this order, it is not taken for a panic.
    let monitor_misses = device.threads.monitors() == 0 && device.state() != TokenState::Closed;
    if monitor_misses {
        if device.is_serving() {
            device.trip("the monitor panicked");
        }
        start_monitor(device, |device, thread| monitor::run(device, thread, None));
    }
    workers_missed || monitor_misses
}
