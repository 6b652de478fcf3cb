//! The price of the Transit API: the same encryption by both APIs, in turns.

use std::time::Duration;

use crate::cases::KIB;
use crate::instance::Instance;
use crate::rounds::Baselines;
use testkit::Site;

/// The same operation by both APIs.
pub(crate) const ENCRYPTIONS: [&str; 2] = ["encrypt AES-256", "transit encrypt AES-256"];

/// The ratio of one pair is up to 10 % off.
const PAIRS: usize = 27;

/// The CPU time by Transit, as a multiple of that by `/operations`.
pub(crate) struct Ratios {
    pub(crate) at_16: f64,
    pub(crate) at_64: f64,
}

pub(crate) async fn measured(baselines: &Baselines, span: Duration) -> Ratios {
    let site = Site::new().await;
    let instance = Instance::start(&site).await;
    let ratio = |connections| ratio(baselines, &instance, connections, span);
    Ratios { at_16: ratio(16), at_64: ratio(64) }
}

/// Prints the ratios.
pub(crate) async fn print(span: Duration) {
    let site = Site::new().await;
    let baselines = Baselines::build(&site).await;
    let Ratios { at_16, at_64 } = measured(&baselines, span).await;
    println!("transit encrypt / encrypt, CPU: {at_16:.3} at 16 connections, {at_64:.3} at 64");
}

/// The median of the ratios of pairs. The first pair warms up.
fn ratio(baselines: &Baselines, instance: &Instance, connections: usize, span: Duration) -> f64 {
    let processes = baselines.with(instance.process.id());
    let requests = ENCRYPTIONS.map(|operation| instance.request(operation, KIB));
    let mut ratios = Vec::new();
    for pair in 0..=PAIRS {
        let [native, transit] =
            [0, 1].map(|which| processes.load(&requests[which], connections, span).cpu());
        if pair > 0 {
            ratios.push(transit / native);
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
