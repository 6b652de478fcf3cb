//! The thread that never calls into the library itself, and so notices when others do not come
//! back from there.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

use crate::Fatal;
use crate::alarm::{Alarm, Woken};
use crate::device::Device;

/// Ends its thread when it is dropped.
#[derive(Debug)]
pub(crate) struct Overseer {
    alarm: Arc<Alarm>,
}

impl Overseer {
    pub(crate) fn start(
        devices: Vec<Arc<Device>>,
        deadline: Duration,
        budget: usize,
        fatal: watch::Sender<Option<Fatal>>,
    ) -> Self {
        let alarm = Arc::new(Alarm::default());
        let sleep = Arc::clone(&alarm);
        let tick = (deadline / 10).clamp(Duration::from_millis(10), Duration::from_millis(250));
        let rounds = move || {
            while sleep.pause(tick) == Woken::Up {
                look(&devices, budget, &fatal);
            }
        };
        if let Err(error) = thread::Builder::new()
            .name("hsm-overseer".to_owned())
            .spawn(rounds)
        {
            tracing::error!(%error, "cannot start the overseer: hung calls go unnoticed");
        }
        Self { alarm }
    }
}

impl Drop for Overseer {
    fn drop(&mut self) {
        self.alarm.close();
    }
}

fn look(devices: &[Arc<Device>], budget: usize, fatal: &watch::Sender<Option<Fatal>>) {
    if fatal.borrow().is_some() {
        return;
    }
    for device in devices {
        device.replace_hung();
        let hung = devices
            .iter()
            .map(|device| device.crew.hung())
            .sum::<usize>();
        if hung > budget {
            let token = device.label().to_owned();
            tracing::error!(
                token,
                hung,
                budget,
                "too many threads hang: the process should end"
            );
            fatal.send_replace(Some(Fatal::HangBudgetSpent { token, hung }));
            return;
        }
    }
}
