//! Of several instances, one forwards.

use engine::ledger::forward::ForwardState;

use super::fixture::{Forwarded, indexes};
use super::https_collector::HttpsCollector;

#[tokio::test]
async fn one_instance_forwards_and_another_takes_over() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    forwarded.record(1, 1).await;
    let one = forwarded.forwarder(&collector.settings());
    one.state(|it| *it == ForwardState::Forwarding).await;
    let two = forwarded.forwarder(&collector.settings());
    two.state(|it| *it == ForwardState::Standby).await;
    forwarded.record(4, 5).await;
    forwarded.reaches((5, 5)).await;
    assert_eq!(two.status.state(), ForwardState::Standby);
    assert_eq!(indexes(&collector.lines()), [0, 1, 2, 3, 4]);

    one.stop().await;
    two.state(|it| *it == ForwardState::Forwarding).await;
    forwarded.record(2, 7).await;
    forwarded.reaches((7, 7)).await;
    assert_eq!(indexes(&collector.lines()), [0, 1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn a_forwarder_that_lost_its_connection_takes_the_lock_again() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    forwarded.record(1, 1).await;
    let forwarder = forwarded.forwarder(&collector.settings());
    forwarded.reaches((1, 1)).await;
    forwarded
        .kept
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE application_name = 'sealward forwarder' AND datname = current_database()",
        )
        .await;
    forwarded.record(1, 2).await;
    forwarded.reaches((2, 2)).await;
    forwarder.state(|it| *it == ForwardState::Forwarding).await;
    assert_eq!(indexes(&collector.lines()), [0, 1]);
}
