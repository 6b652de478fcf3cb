//! The instances of the service, and who starts them again: as a supervisor does.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use super::check::Promise;
use super::client::{Place, Places};
use super::history::Incarnation;
use super::run_log::RunLog;
use crate::process::{PATIENCE, Process, Site};
use crate::support::within;

/// Between two looks at how the instances are.
const LOOK: Duration = Duration::from_millis(25);

/// Before one that did not start is started again.
const AGAIN: Duration = Duration::from_millis(250);

/// What is different from the settings of a site.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"),
    ("SEALWARD_HTTP_DRAIN_DELAY", "300ms"),
    ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "10s"),
    ("SEALWARD_HSM_CANARY_INTERVAL", "500ms"),
];

pub(crate) struct Instances<'s> {
    site: &'s Site,
    places: Places,
    run_log: RunLog,
    running: Vec<Option<Process>>,
    numbers: Vec<u32>,
    /// What those that have ended had to say.
    pub(crate) logs: Vec<String>,
}

impl<'s> Instances<'s> {
    /// Starts so many.
    pub(crate) async fn start(
        site: &'s Site,
        places: &Places,
        run_log: &RunLog,
        number: usize,
    ) -> Self {
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

    /// Starts one at a place, again and again until it runs; it may find nothing to stand on.
    pub(crate) async fn start_at(&mut self, place: usize) {
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
            sleep(AGAIN).await;
        }
    }

    async fn try_start(&mut self, place: usize) -> Option<Process> {
        let began = self.run_log.now();
        let mut process = Process::begin(self.site, VARIABLES);
        loop {
            if process.is_ready() {
                return Some(process);
            }
            if let Some(how) = process.ended() {
                let told = format!("instance {place} did not start ({how})");
                self.run_log.event(began, told);
                self.logs.push(process.log());
                return None;
            }
            sleep(LOOK).await;
        }
    }

    /// Kills one, as a power cut does.
    pub(crate) fn kill(&mut self, place: usize) {
        self.places.set(place, None);
        if let Some(process) = self.running[place].take() {
            self.logs.push(process.log());
            process.kill();
        }
    }

    /// Tells one to end, and waits until it has.
    pub(crate) async fn end(&mut self, place: usize) {
        self.places.set(place, None);
        let Some(mut process) = self.running[place].take() else {
            return;
        };
        process.signal(Signal::TERM);
        within(PATIENCE, async || process.ended().is_some()).await;
        let how = process.ended().expect("its end");
        if !how.success() {
            let told = format!("instance {place} was told to end and said {how}");
            self.run_log.broken(Promise::Lives.broken(told));
        }
        self.logs.push(process.log());
    }

    pub(crate) fn signal(&self, place: usize, signal: Signal) {
        if let Some(process) = self.process(place) {
            process.signal(signal);
        }
    }

    /// Lets time pass; who ends meanwhile was not told to, and is started again.
    pub(crate) async fn watch(&mut self, span: Duration) {
        let began = Instant::now();
        loop {
            for place in 0..self.running.len() {
                let process = self.running[place].as_mut();
                let Some(how) = process.and_then(Process::ended) else {
                    continue;
                };
                let told = format!("instance {place} ended by itself ({how})");
                self.run_log.broken(Promise::Lives.broken(told));
                self.kill(place);
                self.start_at(place).await;
            }
            let Some(left) = span.checked_sub(began.elapsed()) else {
                return;
            };
            sleep(LOOK.min(left)).await;
        }
    }

    pub(crate) fn process(&self, place: usize) -> Option<&Process> {
        self.running[place].as_ref()
    }

    pub(crate) fn number(&self) -> usize {
        self.running.len()
    }
}
