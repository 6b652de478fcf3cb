//! A Postgres host disappears, and a standby becomes the primary.

use std::time::Duration;

use crate::faults::fixture::{Fixture, SHORT_LIMITS, url};
use crate::faults::load::Action;
use testkit::Cluster;
use testkit::Site;

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_of_several_hosts_is_used_and_found_again() {
    let primary = Cluster::start().await;
    let standby = primary.standby().await;
    let port = |cluster: &Cluster| cluster.through_proxy().options().get_port();
    // The standby is first in the list and is skipped.
    let hosts = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres",
        port(&standby),
        port(&primary)
    );
    let site = Site::on(standby.through_proxy());
    let settings = site.default_settings();
    assert!(settings.contains(&url(site.database())), "{settings}");
    site.write("sealward.toml", &settings.replace(&url(site.database()), &hosts));
    // With few connections, all are in use when the host disappears.
    let few = [&SHORT_LIMITS[..], &[("SEALWARD_DATABASE_CONNECTIONS", "2")]].concat();
    let fixture = Fixture::at(site, &few).await;
    let load = fixture.load();
    primary.proxy.slow_down(Duration::from_millis(40));
    load.is_served(&Action::ALL).await;

    // The host is off: connections stay open without any data.
    primary.proxy.stall();
    load.is_refused(&Action::ALL).await;
    standby.run("SELECT pg_promote()").await;
    load.is_served(&Action::ALL).await;
    fixture.wait_until_ready().await;
    fixture.assert_recorded_once(load.end().await).await;
}
