//! Postgres hangs with all its connections.

use crate::faults::fixture::{Fixture, SHORT_LIMITS};
use crate::faults::load::Action;
use testkit::Cluster;
use testkit::Site;

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_refused_while_postgres_hangs() {
    let cluster = Cluster::start().await;
    let site = Site::on(cluster.through_proxy());
    let fixture = Fixture::at(site, &SHORT_LIMITS).await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    cluster.freeze();
    load.is_refused(&Action::ALL).await;
    cluster.thaw();
    load.is_served(&Action::ALL).await;
    fixture.wait_until_ready().await;
    fixture.assert_recorded_once(load.end().await).await;
}
