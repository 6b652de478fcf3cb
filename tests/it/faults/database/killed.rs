//! A Postgres that dies and comes back.

use crate::faults::crowd::Wish;
use crate::faults::house::{HURRIED, House};
use crate::process::Site;
use crate::support::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_dies_takes_no_answered_request_along() {
    let mut cluster = Cluster::start().await;
    let site = Site::on(cluster.through_proxy());
    let house = House::at(site, &HURRIED).await;
    let crowd = house.crowd();
    for _ in 0..2 {
        crowd.is_served(&Wish::ALL).await;
        cluster.crash().await;
        crowd.is_refused(&Wish::ALL).await;
        cluster.start_again().await;
    }
    crowd.is_served(&Wish::ALL).await;
    house.is_ready().await;
    house.accounts_for(crowd.end().await).await;
}
