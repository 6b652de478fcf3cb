//! The system clock jumps while the service runs.
//!
//! libfaketime changes the clock of this process only. `dashboard::access` tests the expiry of dashboard
//! sessions with a manual clock.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use formats::clock::Clock as Now;
use serde_json::json;
use sqlx::PgConnection;

use super::fixture::{Fixture, create};
use super::load::Action;
use testkit::{Client, PATIENCE, Site, within};

/// The burst of a limited service.
const BURST: usize = 60;

/// The clock of a process, which reads its offset from a file.
struct Clock(PathBuf);

impl Clock {
    /// Sets the offset from the system clock.
    fn set(&self, offset: &str) {
        // Renaming is atomic, so the process never reads an incomplete file.
        let new = self.0.with_extension("new");
        fs::write(&new, offset).expect("write the time");
        fs::rename(new, &self.0).expect("set the clock");
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

/// The number of admitted requests of a limited caller.
async fn admitted(limited: &Client<'_>, requests: usize) -> usize {
    let mut admitted = 0;
    for _ in 0..requests {
        admitted += usize::from(status_of(limited).await == 200);
    }
    admitted
}

async fn status_of(client: &Client<'_>) -> u16 {
    let payload = json!({ "data": "x", "algorithm": "SHA-256" });
    client.operate("hash", payload).await.status.as_u16()
}

/// The number of records at least 50 minutes from the time of Postgres.
async fn recorded(connection: &mut PgConnection, from_now: &str) -> i64 {
    let sql = match from_now {
        "ahead" => "ts > now() + interval '50 minutes'",
        _ => "ts < now() - interval '50 minutes'",
    };
    let sql = format!("SELECT count(*) FROM crypto_operations_audit WHERE {sql}");
    let count = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
    count.fetch_one(connection).await.expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_jumps_of_hours_do_not_disrupt_the_service() {
    let (fixture, clock) = fixture_with_clock().await;
    let mut connection = fixture.site().connect().await;
    let soon = Now::system().now().plus(Duration::from_secs(30 * 60));
    let mine = fixture.client.service.clone();
    let expiring = json!({ "type": "live", "serviceId": mine, "expiresAt": soon.to_string() });
    let expiring = fixture.client_with(expiring).await;
    let limit = json!({ "requestsPerSecond": 1, "burst": BURST });
    let service = json!({ "tier": "enterprise", "rateLimit": limit });
    let service = create(fixture.process(), "/admin/services", service).await["id"].clone();
    let limited = json!({ "type": "live", "serviceId": service });
    let limited = fixture.client_with(limited).await;

    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 200).await;
    let began = Instant::now();
    let mut admitted_requests = admitted(&limited, BURST).await;

    clock.set("+3600");
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 401).await;
    // A clock jump does not refill a bucket: it gains one token per elapsed second.
    admitted_requests += admitted(&limited, BURST).await;
    let seconds = usize::try_from(began.elapsed().as_secs()).expect("a number");
    assert!(admitted_requests <= BURST + seconds + 1, "{admitted_requests} in {seconds} s");
    assert!(recorded(&mut connection, "ahead").await > 0);

    clock.set("-3600");
    load.is_served(&Action::ALL).await;
    within(PATIENCE, async || status_of(&expiring).await == 200).await;
    assert!(recorded(&mut connection, "behind").await > 0);
    fixture.wait_until_ready().await;
    let log = fixture.process().log();
    assert!(!log.contains("panicked"), "{log}");
    fixture.assert_recorded_once(load.end().await).await;
}
