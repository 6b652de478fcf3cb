//! A Postgres that takes its time.

use std::time::Duration;

use crate::faults::crowd::Wish;
use crate::faults::house::House;

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_postgres_makes_answers_slow_and_one_too_slow_has_them_refused() {
    let (house, proxy) = House::behind_a_proxy().await;
    let crowd = house.crowd();
    proxy.slow_down(Duration::from_millis(40));
    crowd.is_served(&Wish::ALL).await;
    // Longer than anything is waited for.
    proxy.slow_down(Duration::from_secs(20));
    crowd.is_refused(&Wish::ALL).await;
    proxy.slow_down(Duration::ZERO);
    crowd.is_served(&Wish::ALL).await;
    house.is_ready().await;
    house.accounts_for(crowd.end().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_is_slow_to_connect_to_is_connected_to() {
    let (house, proxy) = House::behind_a_proxy().await;
    let crowd = house.crowd();
    crowd.is_served(&Wish::ALL).await;
    // To connect and to ask whether it writes comes to more than half a second, which is what an idle
    // trail gives it to answer.
    proxy.slow_down(Duration::from_millis(130));
    proxy.hang_up();
    proxy.speak_again();
    crowd.is_served(&[Wish::Hash]).await;
    proxy.slow_down(Duration::ZERO);
    crowd.is_served(&Wish::ALL).await;
    house.accounts_for(crowd.end().await).await;
}
