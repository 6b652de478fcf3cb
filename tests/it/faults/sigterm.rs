//! The process receives SIGTERM while a hundred requests are in flight.

use tokio::task::JoinSet;

use super::fixture::Fixture;
use super::load::Action;
use testkit::{PATIENCE, within};

const REQUESTS: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_flight_are_answered_after_sigterm() {
    let mut fixture = Fixture::open().await;
    let mut owner = fixture.site().connect().await;
    // Requests wait for their records until this lock is released.
    sqlx::raw_sql("BEGIN; LOCK TABLE crypto_operations_audit IN EXCLUSIVE MODE")
        .execute(&mut owner)
        .await
        .expect("a lock");
    let mut pending = JoinSet::new();
    let mut ask = |number: usize| {
        let client = fixture.client.clone();
        pending.spawn(async move {
            let answer = client.ask(Action::Hash, &format!("request {number}")).await;
            answer.expect("an answer").ok();
        });
    };
    // The first record is being written, and the others wait in the queue.
    ask(1);
    let mut other = fixture.site().connect().await;
    within(PATIENCE, async || {
        sqlx::query_scalar::<_, bool>(
            "SELECT EXISTS (SELECT FROM pg_stat_activity
                             WHERE datname = current_database() AND wait_event_type = 'Lock')",
        )
        .fetch_one(&mut other)
        .await
        .expect("the activity")
    })
    .await;
    for number in 2..=REQUESTS {
        ask(number);
    }
    within(PATIENCE, async || {
        let health = fixture.process().admin().get("/api/v1/health").await.json();
        health["checks"]["audit"]["queued"] == REQUESTS - 1
    })
    .await;

    let process = fixture.take_process();
    process.signal(rustix::process::Signal::TERM);
    within(PATIENCE, async || process.log().contains("shutting down")).await;
    sqlx::raw_sql("COMMIT").execute(&mut owner).await.expect("release the lock");
    while let Some(answered) = pending.join_next().await {
        answered.expect("an answer");
    }
    let ended = tokio::task::spawn_blocking(move || process.terminate());
    assert_eq!(ended.await.expect("its end"), Some(0));
}
