//! While the shared buckets are unavailable, each instance enforces its share.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use engine::catalog::Catalog;
use engine::floor::Floor;
use engine::ratelimit::{Counting, Limiter, MOST_TOKENS, SharedBuckets};
use formats::clock::{Clock, Entropy, Timestamp};
use serde_json::json;
use tower::ServiceExt as _;

use super::together::{admitted, rule, some_service};
use testkit::{
    Answer, Database, Exposition, PATIENCE, PROTECT, Valkey, World, pulse, valkey::PASSWORD, within,
};

const HEALTH: &str = "/api/v1/health";
const DECISIONS: &str = "sealward_ratelimit_decisions_total";
const OUTAGES: &str = "sealward_ratelimit_outages_total";

/// A limiter with its background job, as one of two instances.
async fn one_of_two(valkey: &Valkey, clock: Clock) -> (Arc<Limiter>, Database) {
    let database = Database::new().await;
    for _ in 0..2 {
        tokio::spawn(Catalog::new().listen(
            database.pool(),
            Floor::default(),
            Entropy::system(),
            pulse(),
        ));
    }
    let limiter = Arc::new(valkey.limiter(clock).await);
    tokio::spawn(limiter.clone().keep(database.pool(), pulse()));
    (limiter, database)
}

/// The metrics of an instance.
async fn metrics(world: &World) -> Exposition {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let response = world.metrics(None).await.oneshot(request).await.unwrap();
    Exposition::parse(&Answer::of(response).await.ok().body)
}

fn apart(instances: u32) -> Counting {
    Counting::Apart(NonZeroU32::new(instances).unwrap())
}

#[tokio::test]
async fn each_instance_enforces_its_share_and_recovers() {
    let valkey = Valkey::start().await;
    // The manual clock does not advance, so buckets do not refill.
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let (limiter, _database) = one_of_two(&valkey, clock).await;
    valkey.proxy.close_connections();
    within(PATIENCE, async || {
        // Requests during the detection are answered with a limit.
        limiter.take(some_service(), rule(1, 1)).await.unwrap();
        limiter.counting() == apart(2)
    })
    .await;
    assert_eq!(admitted(&limiter, some_service(), rule(10, 41), 100).await, 20);
    assert_eq!(limiter.look(some_service(), rule(10, 41)).await.limit, 20);

    valkey.proxy.resume();
    within(PATIENCE, async || limiter.counting() == Counting::Together).await;
    assert_eq!(limiter.look(some_service(), rule(10, 41)).await.limit, 41);
}

#[tokio::test]
async fn an_unresponsive_server_delays_requests_only_once() {
    let valkey = Valkey::start().await;
    let (limiter, _database) = one_of_two(&valkey, Clock::system()).await;
    valkey.proxy.stall();
    limiter.take(some_service(), rule(1, 1)).await.unwrap();
    // This request or the background job has waited. Further requests do not wait.
    assert!(matches!(limiter.counting(), Counting::Apart(_)));
    let started = tokio::time::Instant::now();
    admitted(&limiter, some_service(), rule(1, 1), 1_000).await;
    let waited = valkey.settings().timeout.0;
    assert!(started.elapsed() < waited, "each request waited");
    valkey.proxy.resume();
    within(PATIENCE, async || limiter.counting() == Counting::Together).await;
}

#[tokio::test]
async fn losing_and_recovering_the_shared_bucket_allows_no_second_burst() {
    let valkey = Valkey::start().await;
    let (limiter, _database) = one_of_two(&valkey, Clock::system()).await;
    // The refill during this test is negligible compared with the burst.
    let (empty, half_full, rule) = (some_service(), some_service(), rule(1, 1_000));
    assert!(admitted(&limiter, empty, rule, 1_100).await >= 1_000);
    valkey.proxy.close_connections();
    within(PATIENCE, async || {
        limiter.look(half_full, rule).await;
        limiter.counting() == apart(2)
    })
    .await;
    let again = admitted(&limiter, empty, rule, 1_000).await;
    assert!(again < 100, "{again} were admitted separately after the shared bucket was empty");
    assert_eq!(admitted(&limiter, half_full, rule, 1_000).await, 500);

    valkey.proxy.resume();
    within(PATIENCE, async || limiter.counting() == Counting::Together).await;
    let again = admitted(&limiter, half_full, rule, 1_000).await;
    assert!(again < 100, "{again} were admitted from the shared bucket after the share was empty");
}

#[tokio::test]
async fn losing_and_recovering_the_shared_bucket_keeps_the_debt_of_a_batch() {
    let valkey = Valkey::start().await;
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let (limiter, _database) = one_of_two(&valkey, clock).await;
    let (before, meanwhile, rule) = (some_service(), some_service(), rule(1, 200));
    let most = NonZeroU32::new(MOST_TOKENS).unwrap();
    let wait = async |scope| {
        let exceeded = limiter.take(scope, rule).await.unwrap_err();
        exceeded.retry_after.as_secs()
    };
    limiter.take_several(before, rule, most).await.unwrap();
    valkey.proxy.close_connections();
    within(PATIENCE, async || {
        limiter.look(some_service(), rule).await;
        limiter.counting() == apart(2)
    })
    .await;
    // Half of the rate: a token takes 2 s.
    assert_eq!(wait(before).await, 802);
    let in_share = limiter.take_several(meanwhile, rule, most).await.unwrap();
    assert_eq!(in_share.limit, 100);

    valkey.proxy.resume();
    within(PATIENCE, async || limiter.counting() == Counting::Together).await;
    // The clock of the server continues.
    assert!((600..=801).contains(&wait(before).await));
    // 900 tokens at half of the rate are more than a batch can owe the whole bucket.
    assert_eq!(wait(meanwhile).await, 801);
}

#[tokio::test]
async fn a_wrong_password_equals_an_outage_and_is_not_disclosed() {
    let valkey = Valkey::start().await;
    let wrong = format!("{PASSWORD}-not");
    let shared = SharedBuckets::of(&valkey.settings(), Some(&wrong.as_str().into()));
    let limiter = Limiter::shared(Clock::system(), shared.unwrap().unwrap());
    limiter.find_shared().await;
    assert_eq!(limiter.counting(), apart(1));
    assert!(!format!("{limiter:?}").contains(PASSWORD));
}

#[tokio::test]
async fn health_headers_and_metrics_show_encryption_limits() {
    let valkey = Valkey::start().await;
    let world = World::new().await.counting_in(&valkey).await;
    let _other = world.another().await;
    let alice = world.application("alice").await;
    // Other problems of a loaded machine can only worsen the overall status.
    let status = async || {
        let health = alice.get(HEALTH).await.json();
        let limits = health["checks"]["rateLimiter"]["status"].as_str();
        let limits = limits.expect("a status").to_owned();
        assert!(limits == "ok" || health["status"] != "ok", "{health}");
        limits
    };
    within(PATIENCE, async || status().await == "ok").await;
    let counted =
        async |name: &str, labels: &[(&str, &str)]| metrics(&world).await.sum(name, labels);
    within(PATIENCE, async || {
        alice.post(PROTECT, json!({})).await;
        counted(DECISIONS, &[("counting", "together")]).await > 0.0
    })
    .await;
    let outages = counted(OUTAGES, &[]).await;

    valkey.proxy.close_connections();
    within(PATIENCE, async || status().await == "degraded").await;
    within(PATIENCE, async || {
        let answer = alice.post(PROTECT, json!({})).await;
        answer.header("x-ratelimit-limit") == "100"
    })
    .await;
    assert!(counted(OUTAGES, &[]).await > outages);
    assert!(counted(DECISIONS, &[("counting", "apart")]).await > 0.0);
    assert!((counted("sealward_ratelimit_instances", &[]).await - 2.0).abs() < 0.1);

    valkey.proxy.resume();
    within(PATIENCE, async || status().await == "ok").await;
    within(PATIENCE, async || {
        let answer = alice.post(PROTECT, json!({})).await;
        answer.header("x-ratelimit-limit") == "200"
    })
    .await;
}
