//! The clock of the machine is moved while the service runs.
//!
//! Debian's libfaketime moves it for this one process. What the hour does to sessions of the dashboard
//! is shown where time is held still, in `dashboard::access`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sealward::clock::Clock as Now;
use serde_json::json;
use sqlx::PgConnection;

use super::fixture::{Fixture, made};
use super::load::{Action, Client};
use crate::process::{PATIENCE, Site};
use crate::support::within;

/// What a limited service may ask at once.
const BURST: usize = 60;

/// The clock of a process that is responses by a file how far it is off.
struct Clock(PathBuf);

impl Clock {
    /// Moves it so far from the machine's.
    fn set(&self, offset: &str) {
        // Renamed into place, so that nobody reads half of it.
        let aside = self.0.with_extension("new");
        fs::write(&aside, offset).expect("write the time");
        fs::rename(aside, &self.0).expect("set the clock");
    }
}

fn faketime() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").expect("the libraries").flatten();
    let mut modules = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let found = modules.find(|module| module.exists());
    found.expect("libfaketime; ./dev test installs it")
}

async fn fixture_with_clock() -> (Fixture, Clock) {
    let site = Site::new().await;
    let clock = Clock(site.file("clock"));
    clock.set("+0");
    let text = |path: &Path| path.display().to_string();
    let (module, file) = (text(&faketime()), text(&clock.0));
    let variables = [
        ("LD_PRELOAD", &*module),
        ("FAKETIME_TIMESTAMP_FILE", &*file),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("NO_FAKE_STAT", "1"),
    ];
    (Fixture::at(site, &variables).await, clock)
}

/// How many of these requests a limited caller gets through.
async fn admitted(limited: &Client, requests: usize) -> usize {
    let mut admitted = 0;
    for _ in 0..requests {
        admitted += usize::from(status_of(limited).await == 200);
    }
    admitted
}

async fn status_of(client: &Client) -> u16 {
    let id = rand::random::<u128>().to_string();
    let answer = client.ask(Action::Hash, &id).await;
    answer.expect("an answer").status.as_u16()
}

/// How many records lie at least so far from now, which is Postgres's.
async fn recorded(trail: &mut PgConnection, from_now: &str) -> i64 {
    let sql = match from_now {
        "ahead" => "ts > now() + interval '50 minutes'",
        _ => "ts < now() - interval '50 minutes'",
    };
    let sql = format!("SELECT count(*) FROM crypto_operations_audit WHERE {sql}");
    let count = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
    count.fetch_one(trail).await.expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_jumps_of_hours_do_not_disrupt_the_service() {
    let (fixture, clock) = fixture_with_clock().await;
    let mut trail = fixture.site().connect().await;
    let soon = Now::system().now().plus(Duration::from_secs(30 * 60));
    let mine = fixture.client.service.clone();
    let expiring = json!({ "type": "live", "serviceId": mine, "expiresAt": soon.to_string() });
    let expiring = fixture.client_with(expiring).await;
    let limit = json!({ "requestsPerSecond": 1, "burst": BURST });
    let service = json!({ "tier": "enterprise", "rateLimit": limit });
    let service = made(fixture.process(), "/admin/services", service).await["id"].clone();
    let limited = json!({ "type": "live", "serviceId": service });
    let limited = fixture.client_with(limited).await;

    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 200).await;
    let began = Instant::now();
    let mut through = admitted(&limited, BURST).await;

    clock.set("+3600");
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 401).await;
    // An hour by the calendar is no hour for which a bucket was filled: a token comes each second.
    through += admitted(&limited, BURST).await;
    let seconds = usize::try_from(began.elapsed().as_secs()).expect("a number");
    assert!(through <= BURST + seconds + 1, "{through} in {seconds} s");
    assert!(recorded(&mut trail, "ahead").await > 0);

    clock.set("-3600");
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 200).await;
    assert!(recorded(&mut trail, "behind").await > 0);
    fixture.is_ready().await;
    let log = fixture.process().log();
    assert!(!log.contains("panicked"), "{log}");
    fixture.assert_recorded_once(load.end().await).await;
}
