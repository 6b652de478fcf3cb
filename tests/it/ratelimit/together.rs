//! One bucket for all instances, with the same headers as for one instance.

use std::num::NonZeroU32;

use engine::ids::ServiceId;
use engine::ratelimit::{Counting, Limiter, MOST_TOKENS, Rule, Scope, SharedBuckets};
use engine::settings::RateLimit;
use formats::clock::Clock;
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use testkit::{PROTECT, Valkey, World};

pub(super) fn rule(per_second: u32, burst: u32) -> Rule {
    Rule::new(NonZeroU32::new(per_second).unwrap(), NonZeroU32::new(burst).unwrap())
}

pub(super) fn some_service() -> Scope {
    Scope::Service(ServiceId::from_uuid(uuid::Uuid::from_u128(rand::random())))
}

/// The number of admitted requests among `requests` concurrent ones.
pub(super) async fn admitted(
    limiter: &Limiter,
    scope: Scope,
    rule: Rule,
    requests: usize,
) -> usize {
    let pending = (0..requests).map(|_| limiter.take(scope, rule));
    let taken = join_all(pending).await;
    taken.iter().filter(|taken| taken.is_ok()).count()
}

#[tokio::test]
async fn instances_share_one_bucket() {
    let valkey = Valkey::start().await;
    let one = valkey.limiter(Clock::system()).await;
    let other = valkey.limiter(Clock::system()).await;
    assert_eq!(one.counting(), Counting::Together);
    let (scope, rule) = (some_service(), rule(5, 40));
    let started = Instant::now();
    let (by_one, by_other) =
        tokio::join!(admitted(&one, scope, rule, 60), admitted(&other, scope, rule, 60),);
    let refilled = usize::try_from(started.elapsed().as_millis()).unwrap() * 5 / 1_000;
    let admitted = by_one + by_other;
    assert!((40..=40 + refilled + 1).contains(&admitted), "{admitted}, {refilled} were refilled");
    // The bucket of another service is full.
    assert!(one.take(some_service(), rule).await.is_ok());
}

#[tokio::test]
async fn a_shared_bucket_has_the_same_headers_as_a_local_one() {
    let valkey = Valkey::start().await;
    let shared = valkey.limiter(Clock::system()).await;
    let own = Limiter::new(Clock::system());
    // The refill during this test is less than one token.
    for rule in [rule(1, 1), rule(1, 200), rule(1, 4_000_000)] {
        let scope = some_service();
        for _ in 0..3 {
            let (of_shared, of_own) = (shared.take(scope, rule).await, own.take(scope, rule).await);
            let (of_shared, of_own) = match (of_shared, of_own) {
                (Ok(of_shared), Ok(of_own)) => (of_shared, of_own),
                (Err(of_shared), Err(of_own)) => (of_shared.bucket, of_own.bucket),
                // One of the buckets has refilled its only token.
                _ => continue,
            };
            assert_eq!(of_shared.limit, of_own.limit);
            assert!(
                of_shared.remaining.abs_diff(of_own.remaining) <= 1,
                "{of_shared:?} {of_own:?}"
            );
            assert!(of_shared.reset.abs_diff(of_own.reset) <= 2, "{of_shared:?} {of_own:?}");
        }
        assert_eq!(shared.look(scope, rule).await.limit, rule.burst.get());
    }
}

#[tokio::test]
async fn an_empty_bucket_returns_the_exact_waiting_time() {
    let valkey = Valkey::start().await;
    let limiter = valkey.limiter(Clock::system()).await;
    let (scope, rule) = (some_service(), rule(2, 1));
    limiter.take(scope, rule).await.unwrap();
    let exceeded = limiter.take(scope, rule).await.unwrap_err();
    let wait = exceeded.retry_after;
    assert!(!wait.is_zero() && wait.as_millis() <= 500, "{wait:?}");
    tokio::time::sleep(wait).await;
    assert!(limiter.take(scope, rule).await.is_ok());
}

#[tokio::test]
async fn a_shared_bucket_keeps_the_debt_of_a_batch_and_nothing_more() {
    let valkey = Valkey::start().await;
    let one = valkey.limiter(Clock::system()).await;
    let other = valkey.limiter(Clock::system()).await;
    let most = NonZeroU32::new(MOST_TOKENS).unwrap();
    let scope = some_service();
    let started = Instant::now();
    let bucket = one.take_several(scope, rule(1, 200), most).await.unwrap();
    assert_eq!(bucket.remaining, 0);
    let wait = async |limiter: &Limiter, rule| {
        let exceeded = limiter.take(scope, rule).await.unwrap_err();
        exceeded.retry_after.as_millis()
    };
    // The debt is 800 tokens. A smaller bucket has the same debt.
    for limiter in [&one, &other] {
        for rule in [rule(1, 200), rule(1, 10)] {
            let wait = wait(limiter, rule).await;
            let least = 801_000_u128.saturating_sub(started.elapsed().as_millis() + 1);
            assert!((least..=801_001).contains(&wait), "{wait} {rule:?}");
        }
    }
    // A faster bucket owes the largest batch.
    assert!(wait(&other, rule(100, 200)).await <= 8_010);

    // A batch that the bucket held leaves no debt.
    let scope = some_service();
    let full = rule(1, MOST_TOKENS);
    one.take_several(scope, full, most).await.unwrap();
    let exceeded = other.take(scope, rule(1, 10)).await.unwrap_err();
    assert!(exceeded.retry_after.as_millis() <= 1_000, "{exceeded:?}");
}

#[tokio::test]
async fn a_batch_exchanges_its_first_token_for_one_token_an_item() {
    let valkey = Valkey::start().await;
    let shared = valkey.limiter(Clock::system()).await;
    let own = Limiter::new(Clock::system());
    let rule = rule(1, 1_000);
    let tokens = |count| NonZeroU32::new(count).unwrap();
    for limiter in [&shared, &own] {
        let scope = some_service();
        limiter.take_several(scope, rule, tokens(600)).await.unwrap();
        for _ in 0..100 {
            limiter.take(scope, rule).await.unwrap();
            let refused = limiter.exchange(scope, rule, tokens(500)).await;
            let remaining = refused.unwrap_err().bucket.remaining;
            assert!(remaining >= 400, "{remaining}");
        }
        limiter.take(scope, rule).await.unwrap();
        let exchanged = limiter.exchange(scope, rule, tokens(400)).await.unwrap();
        // The bucket refills during the test.
        assert!(exchanged.remaining < 99, "{exchanged:?}");
    }
}

#[tokio::test]
async fn two_instances_send_the_headers_of_the_same_bucket() {
    let valkey = Valkey::start().await;
    let world = World::new().await.counting_in(&valkey).await;
    let other = world.another().await;
    // One token per second, so that the remaining tokens show the number of requests.
    let tier = json!({ "requestsPerSecond": 1, "burst": 1_000 });
    let service = json!({ "name": "slow", "tier": "enterprise", "rateLimit": tier });
    let service = world.admin().post("/admin/services", service).await.created();
    let key = json!({ "name": "slow", "type": "live", "serviceId": service.text("id") });
    let key = world.admin().post("/admin/api-keys", key).await.created().text("secret");
    let started = Instant::now();
    for round in 1..=20_u32 {
        let instance = if round % 2 == 0 { &world } else { &other };
        let answer = instance.client(&key).post(PROTECT, json!({})).await;
        assert_eq!(answer.header("x-ratelimit-limit"), "1000");
        let left: u32 = answer.header("x-ratelimit-remaining").parse().unwrap();
        let refilled = u32::try_from(started.elapsed().as_secs()).unwrap() + 1;
        let expected = 1_000 - round..=1_000 - round + refilled;
        assert!(expected.contains(&left), "{left} after {round} requests");
    }
}

#[tokio::test]
async fn valkey_connections_use_verified_tls() {
    let valkey = Valkey::over_tls().await;
    assert_eq!(valkey.limiter(Clock::system()).await.counting(), Counting::Together);
    // Without its CA, the server counts as unavailable.
    let settings = RateLimit { ca: None, ..valkey.settings() };
    let shared = SharedBuckets::of(&settings, Some(&testkit::valkey::PASSWORD.into()));
    let limiter = Limiter::shared(Clock::system(), shared.unwrap().unwrap());
    limiter.find_shared().await;
    assert!(matches!(limiter.counting(), Counting::Apart(_)));
}
