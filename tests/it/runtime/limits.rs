//! Rate limits and their headers.

use axum::http::Method;
use serde_json::{Value, json};

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use testkit::{
    Answer, DATA_KEYS, OPERATIONS, PROTECT, PROTECT_BATCH, REWRAP, UNPROTECT, UNPROTECT_BATCH,
    World,
};

const HEALTH: &str = "/api/v1/health";

fn bucket(answer: &Answer) -> (u32, u32, i64) {
    let number = |name: &str| answer.header(name).parse::<i64>().unwrap();
    (
        u32::try_from(number("x-ratelimit-limit")).unwrap(),
        u32::try_from(number("x-ratelimit-remaining")).unwrap(),
        number("x-ratelimit-reset"),
    )
}

/// A world with a manual clock, and a service with this limit.
async fn limited(requests_per_second: u32, burst: u32) -> (World, Clock, Value) {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let service = json!({
        "name": "limited",
        "tier": "enterprise",
        "rateLimit": { "requestsPerSecond": requests_per_second, "burst": burst },
    });
    let service = world.admin().post("/admin/services", service).await.created().json();
    (world, clock, service)
}

async fn key(world: &World, service: &Value) -> String {
    let key = json!({ "name": "key", "type": "live", "serviceId": service["id"] });
    world.admin().post("/admin/api-keys", key).await.created().text("secret")
}

#[tokio::test]
async fn all_keys_of_a_service_share_one_rate_limit() {
    let (world, clock, service) = limited(2, 3).await;
    let (one, other) = (key(&world, &service).await, key(&world, &service).await);
    let (one, other) = (world.client(&one), world.client(&other));
    let start = 1_900_000_000;
    let answer = one.post(PROTECT, json!({})).await;
    assert_eq!(bucket(&answer), (3, 2, start + 1));
    answer.refused(400, "INVALID_REQUEST");
    assert_eq!(bucket(&other.post(PROTECT, json!({})).await), (3, 1, start + 1));
    // An invalid body also consumes a token.
    let broken = one.send_text(Method::POST, PROTECT, "{").await;
    assert_eq!(bucket(&broken), (3, 0, start + 2));
    let over = other.post(PROTECT, json!({})).await.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(bucket(&over), (3, 0, start + 2));
    assert_eq!(over.header("retry-after"), "1");
    // Malformed JSON is reported before the limit.
    let broken = one.send_text(Method::POST, PROTECT, "{").await;
    broken.refused(400, "INVALID_REQUEST");
    // Health checks consume no token and have the headers.
    assert_eq!(bucket(&one.get(HEALTH).await), (3, 0, start + 2));
    clock.advance(std::time::Duration::from_millis(500));
    other.post(PROTECT, json!({})).await.refused(400, "INVALID_REQUEST");
    other.post(PROTECT, json!({})).await.refused(429, "RATE_LIMIT_EXCEEDED");
}

#[tokio::test]
async fn each_refusal_of_a_body_takes_a_token() {
    let (world, _, service) = limited(1, 20).await;
    let key = key(&world, &service).await;
    let client = world.client(&key);
    let mut remaining = 20;
    for path in [PROTECT, UNPROTECT, REWRAP, OPERATIONS, DATA_KEYS, PROTECT_BATCH, UNPROTECT_BATCH]
    {
        for body in ["{", r#"{"items":[]}"#] {
            let refused = client.send_text(Method::POST, path, body).await;
            remaining -= 1;
            assert_eq!(bucket(&refused).1, remaining, "{path} {body}");
            refused.refused(400, "INVALID_REQUEST");
        }
    }
    for (media, status) in [("text/plain", 415), ("application/json", 413)] {
        let large = "1".repeat(2 << 20);
        let refused = client.send_as(media, Method::POST, PROTECT, &large).await;
        remaining -= 1;
        assert_eq!(refused.status.as_u16(), status);
        assert_eq!(bucket(&refused).1, remaining, "{status}");
    }
}

#[tokio::test]
async fn each_tier_has_its_rate_limit() {
    let world = World::new().await;
    for (tier, burst) in [("standard", 200), ("professional", 1_000)] {
        let service = json!({ "name": tier, "tier": tier });
        let service = world.admin().post("/admin/services", service).await.created().json();
        let key = key(&world, &service).await;
        let answer = world.client(&key).post(PROTECT, json!({})).await;
        assert_eq!(bucket(&answer).0, burst);
    }
    assert_eq!(bucket(&world.admin().get("/admin/services").await).0, 1_000);
}

#[tokio::test]
async fn failed_authentication_is_limited_by_address() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let alice = world.application("alice").await;
    for _ in 0..1_000 {
        world.anonymous().get(HEALTH).await.refused(401, "AUTHENTICATION_FAILED");
    }
    let refused = world.anonymous().get(HEALTH).await.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(refused.header("retry-after"), "1");
    alice.post(PROTECT, json!({})).await.refused(400, "INVALID_REQUEST");
}
