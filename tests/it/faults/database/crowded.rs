//! Postgres accepts no more connections.

use crate::faults::fixture::{Fixture, SHORT_LIMITS};
use crate::faults::load::Action;
use testkit::Site;
use testkit::{Cluster, Database};

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_refused_while_postgres_has_no_free_connections() {
    let cluster = Cluster::start().await;
    // The limit does not apply to superusers.
    cluster.run("CREATE ROLE sealward LOGIN CREATEROLE").await;
    cluster.run("GRANT sealward_application, sealward_retention TO sealward").await;
    cluster.run("CREATE DATABASE sealward OWNER sealward").await;
    let options = cluster.past_proxy().username("sealward").database("sealward");
    let site = Site::on(Database::of_cluster(options));
    site.run(&["migrate"]).success();
    let fixture = Fixture::at(site, &SHORT_LIMITS).await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    // Existing connections stay open.
    cluster.run("ALTER DATABASE sealward CONNECTION LIMIT 0").await;
    load.is_served(&Action::ALL).await;
    cluster
        .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'sealward'")
        .await;
    load.is_refused(&Action::ALL).await;
    cluster.run("ALTER DATABASE sealward CONNECTION LIMIT -1").await;
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}
