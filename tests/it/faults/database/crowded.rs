//! A Postgres that takes no more connections.

use crate::faults::crowd::Wish;
use crate::faults::house::{HURRIED, House};
use crate::process::Site;
use crate::support::{Cluster, Database};

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_without_connections_has_requests_refused_until_there_are_some() {
    let cluster = Cluster::start().await;
    // Limits are not for superusers.
    cluster.run("CREATE ROLE sealward LOGIN CREATEROLE").await;
    cluster.run("CREATE DATABASE sealward OWNER sealward").await;
    let options = cluster
        .past_proxy()
        .username("sealward")
        .database("sealward");
    let site = Site::on(Database::of_cluster(options));
    let house = House::at(site, &HURRIED).await;
    let crowd = house.crowd();
    crowd.is_served(&Wish::ALL).await;
    // Whoever has a connection keeps it.
    cluster
        .run("ALTER DATABASE sealward CONNECTION LIMIT 0")
        .await;
    crowd.is_served(&Wish::ALL).await;
    cluster
        .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'sealward'")
        .await;
    crowd.is_refused(&Wish::ALL).await;
    cluster
        .run("ALTER DATABASE sealward CONNECTION LIMIT -1")
        .await;
    crowd.is_served(&Wish::ALL).await;
    house.accounts_for(crowd.end().await).await;
}
