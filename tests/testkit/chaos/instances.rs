//! The instances of the service, and a supervisor that restarts them.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use super::check::Guarantee;
use super::client::{Place, Places};
use super::history::Incarnation;
use super::run_log::RunLog;
use crate::{PATIENCE, within};
use crate::{Process, Site};

/// The interval of the checks of the instances.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The pause before another attempt to start an instance.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The settings that differ from those of the site.
pub const VARIABLES: &[(&str, &str)] = &[
    ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
    ("SEALWARD_HTTP_DRAIN_DELAY", "300ms"),
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "10s"),
    ("SEALWARD_HSM_CANARY_INTERVAL", "500ms"),
];

pub struct Instances<'s> {
    site: &'s Site,
    places: Places,
    run_log: RunLog,
    running: Vec<Option<Process>>,
    numbers: Vec<u32>,
    /// The logs of the instances that exited.
    pub logs: Vec<String>,
}

impl<'s> Instances<'s> {
    /// Starts this number of instances.
    pub async fn start(site: &'s Site, places: &Places, run_log: &RunLog, number: usize) -> Self {
        let mut instances = Self {
            site,
            places: places.clone(),
            run_log: run_log.clone(),
            running: Vec::new(),
            numbers: Vec::new(),
            logs: Vec::new(),
        };
        for place in 0..number {
            instances.running.push(None);
            instances.numbers.push(0);
            instances.start_at(place).await;
        }
        instances
    }

    /// Starts an instance at a place, and repeats the attempt until it runs. Dependencies can be down.
    pub async fn start_at(&mut self, place: usize) {
        let began = Instant::now();
        loop {
            if let Some(process) = self.try_start(place).await {
                self.numbers[place] += 1;
                let address = process.address().parse().expect("an address");
                let number = self.numbers[place];
                let instance = Incarnation { place, number };
                self.places.set(place, Some(Place { address, instance }));
                self.running[place] = Some(process);
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "instance {place} does not start: {}",
                self.logs.last().map_or("", String::as_str)
            );
            sleep(RETRY_PAUSE).await;
        }
    }

    async fn try_start(&mut self, place: usize) -> Option<Process> {
        let began = self.run_log.now();
        let mut process = Process::begin(self.site, VARIABLES);
        loop {
            if process.is_ready() {
                return Some(process);
            }
            if let Some(how) = process.exit_status() {
                let details = format!("instance {place} did not start ({how})");
                self.run_log.event(began, details);
                self.logs.push(process.log());
                return None;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Kills an instance like a power failure.
    pub fn kill(&mut self, place: usize) {
        self.places.set(place, None);
        if let Some(process) = self.running[place].take() {
            self.logs.push(process.log());
            process.kill();
        }
    }

    /// Sends SIGTERM to an instance and waits until it exits.
    pub async fn end(&mut self, place: usize) {
        self.places.set(place, None);
        let Some(mut process) = self.running[place].take() else {
            return;
        };
        process.signal(Signal::TERM);
        within(PATIENCE, async || process.exit_status().is_some()).await;
        let how = process.exit_status().expect("its end");
        if !how.success() {
            let details = format!("instance {place} exited after SIGTERM with {how}");
            self.run_log.violated(Guarantee::Available.violated(details));
        }
        self.logs.push(process.log());
    }

    pub fn signal(&self, place: usize, signal: Signal) {
        if let Some(process) = self.process(place) {
            process.signal(signal);
        }
    }

    /// Waits. Restarts instances that exit unexpectedly.
    pub async fn watch(&mut self, span: Duration) {
        let began = Instant::now();
        loop {
            for place in 0..self.running.len() {
                let process = self.running[place].as_mut();
                let Some(how) = process.and_then(Process::exit_status) else {
                    continue;
                };
                let details = format!("instance {place} exited unexpectedly ({how})");
                self.run_log.violated(Guarantee::Available.violated(details));
                self.kill(place);
                self.start_at(place).await;
            }
            let Some(left) = span.checked_sub(began.elapsed()) else {
                return;
            };
            sleep(POLL_INTERVAL.min(left)).await;
        }
    }

    pub fn process(&self, place: usize) -> Option<&Process> {
        self.running[place].as_ref()
    }

    pub fn number(&self) -> usize {
        self.running.len()
    }
}
