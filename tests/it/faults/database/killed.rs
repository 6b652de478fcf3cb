//! Postgres crashes and restarts.

use crate::faults::fixture::{Fixture, SHORT_LIMITS};
use crate::faults::load::Action;
use testkit::Cluster;
use testkit::Site;

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_crash_loses_no_answered_request() {
    let mut cluster = Cluster::start().await;
    let site = Site::on(cluster.through_proxy());
    let fixture = Fixture::at(site, &SHORT_LIMITS).await;
    let load = fixture.load();
    for _ in 0..2 {
        load.is_served(&Action::ALL).await;
        cluster.crash().await;
        load.is_refused(&Action::ALL).await;
        cluster.start_again().await;
    }
    load.is_served(&Action::ALL).await;
    fixture.wait_until_ready().await;
    fixture.assert_recorded_once(load.end().await).await;
}
