//! Postgres is slow.

use std::time::Duration;

use crate::faults::fixture::Fixture;
use crate::faults::load::Action;

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_postgres_delays_responses_and_a_slower_one_causes_refusals() {
    let (fixture, proxy) = Fixture::behind_a_proxy().await;
    let load = fixture.load();
    proxy.slow_down(Duration::from_millis(40));
    load.is_served(&Action::ALL).await;
    // The delay exceeds all time limits.
    proxy.slow_down(Duration::from_secs(20));
    load.is_refused(&Action::ALL).await;
    proxy.slow_down(Duration::ZERO);
    load.is_served(&Action::ALL).await;
    fixture.wait_until_ready().await;
    fixture.assert_recorded_once(load.end().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_connections_to_postgres_succeed() {
    let (fixture, proxy) = Fixture::behind_a_proxy().await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    // Connecting and checking for a primary takes more than half a second, which is the time limit of
    // an idle audit log.
    proxy.slow_down(Duration::from_millis(130));
    proxy.close_connections();
    proxy.resume();
    load.is_served(&[Action::Hash]).await;
    proxy.slow_down(Duration::ZERO);
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_a_lost_connection_are_written_over_a_slow_one() {
    let short = [("SEALWARD_AUDIT_DEADLINE", "500ms")];
    let (fixture, proxy) = Fixture::behind_a_proxy_with(&short).await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    // A commit takes longer than the deadline of a record, so its outcome is unknown.
    proxy.slow_down(Duration::from_millis(300));
    load.is_refused(&[Action::Hash]).await;
    // The round trips of a new connection take longer than the deadline.
    proxy.slow_down(Duration::from_millis(50));
    load.is_served(&[Action::Hash]).await;
    proxy.slow_down(Duration::ZERO);
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}
