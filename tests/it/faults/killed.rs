//! The process is killed under load.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fixture::Fixture;
use super::load::{Action, Load};

const KILLS: usize = 30;

/// The seed of the random delays. A fixed seed repeats a run.
#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
fn seed() -> u64 {
    let given = std::env::var("SEALWARD_TEST_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    seed.unwrap_or_else(rand::random)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_answered_before_a_power_cut_is_recorded_once() {
    let seed = seed();
    println!("SEALWARD_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut fixture = Fixture::open().await;
    let mut responses = Vec::new();
    for _ in 0..KILLS {
        let load = Load::tolerating_broken_connections(&fixture.client);
        load.is_served(&[Action::Protect]).await;
        let delay = Duration::from_micros(random.random_range(0..50_000));
        tokio::time::sleep(delay).await;
        fixture.take_process().kill();
        responses.extend(load.end().await);
        fixture.restart().await;
    }
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    responses.extend(load.end().await);
    fixture.assert_recorded_once(responses).await;
}
