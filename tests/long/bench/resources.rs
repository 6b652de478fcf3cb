//! Memory of a new process, and the effect of a full token on start time and throughput.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cases::{KIB, SESSIONS};
use crate::cpu;
use crate::instance::{Callers, Instance};
use crate::measure::Measured;
use crate::rounds::{Baselines, median_of_three};
use testkit::Site;

/// The number of extra keys in a full token.
pub(crate) const KEYS: usize = 1_000;

const MIB: f64 = 1_048_576.0;

/// Sizes in MiB, times in seconds.
pub(crate) struct Resources {
    pub(crate) at_rest: f64,
    /// Memory after each of several loads with 64 connections.
    pub(crate) loaded: Vec<f64>,
    /// Time until ready, with a full token.
    pub(crate) started_in: f64,
    pub(crate) unprotect: Measured,
    pub(crate) token: Measured,
}

pub(crate) async fn measured(
    site: &Site,
    callers: &Callers,
    baselines: &mut Baselines,
    span: Duration,
) -> Resources {
    let (at_rest, loaded) = memory(site, callers, baselines, span).await;
    baselines.token.command(&format!("fill 0 {KEYS}"));
    let mut starts = Vec::new();
    for _ in 0..2 {
        starts.push(Instance::restart(site, callers, &[]).await.started_in);
    }
    let instance = Instance::restart(site, callers, &[]).await;
    starts.push(instance.started_in);
    starts.sort_unstable();
    let request = instance.request("unprotect RSA-2048", KIB);
    let processes = baselines.with(instance.process.id());
    let unprotect = median_of_three(processes, &request, 16, span);
    let token = baselines.token_alone(SESSIONS, span);
    Resources { at_rest, loaded, started_in: starts[1].as_secs_f64(), unprotect, token }
}

async fn memory(
    site: &Site,
    callers: &Callers,
    baselines: &Baselines,
    span: Duration,
) -> (f64, Vec<f64>) {
    let instance = Instance::restart(site, callers, &[]).await;
    let id = instance.process.id();
    // The start-up jobs finish within this time.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let at_rest = cpu::resident(id) as f64 / MIB;
    let request = instance.request("protect RSA-2048", KIB);
    let loaded = (0..5).map(|_| {
        baselines.with(id).load(&request, 64, span);
        cpu::resident(id) as f64 / MIB
    });
    (at_rest, loaded.collect())
}

impl Resources {
    pub(crate) fn most(&self) -> f64 {
        self.loaded.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn json(&self) -> Value {
        let tenth = |number: f64| (number * 10.0).round() / 10.0;
        json!({
            "memoryMiB": {
                "atRest": tenth(self.at_rest),
                "afterEachLoadAt64": self.loaded.iter().copied().map(tenth).collect::<Vec<_>>(),
            },
            "withFullToken": {
                "keys": KEYS,
                "readyAfterSeconds": (self.started_in * 1e3).round() / 1e3,
                "unprotectRatePerSecond": self.unprotect.rate.round(),
                "unprotectCpuUs": self.unprotect.cpu().round(),
                "tokenRatePerSecond": self.token.rate.round(),
                "tokenCpuUs": self.token.service.round(),
            },
        })
    }
}
