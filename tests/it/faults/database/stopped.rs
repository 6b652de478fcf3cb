//! A Postgres that stands still, with all of its connections.

use crate::faults::crowd::Wish;
use crate::faults::house::{HURRIED, House};
use crate::process::Site;
use crate::support::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_stands_still_has_requests_refused_until_it_goes_on() {
    let cluster = Cluster::start().await;
    let site = Site::on(cluster.through_proxy());
    let house = House::at(site, &HURRIED).await;
    let crowd = house.crowd();
    crowd.is_served(&Wish::ALL).await;
    cluster.freeze();
    crowd.is_refused(&Wish::ALL).await;
    cluster.thaw();
    crowd.is_served(&Wish::ALL).await;
    house.is_ready().await;
    house.accounts_for(crowd.end().await).await;
}
