//! Health checks.

use std::time::Duration;

use serde_json::json;

use testkit::{PATIENCE, Proxy, World, within};

const HEALTH: &str = "/api/v1/health";

#[tokio::test]
async fn health_reports_ok_to_any_key() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    // A slow database, for example on a loaded machine, is not healthy.
    within(PATIENCE, async || alice.get(HEALTH).await.status == 200).await;
    for person in [alice, world.admin()] {
        let health = person.get(HEALTH).await.ok();
        assert!(!health.header("x-ratelimit-limit").is_empty());
        let health = health.json();
        assert_eq!(health["status"], "ok");
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        assert!(health["timestamp"].as_str().unwrap().ends_with('Z'));
        let checks = &health["checks"];
        assert_eq!(checks["database"]["status"], "ok");
        assert!(checks["database"]["latencyMs"].is_number());
        assert_eq!(checks["hsm"]["status"], "ok");
        assert_eq!(
            checks["hsm"]["tokens"],
            json!([{ "label": "tests", "status": "ok", "workers": 4, "configuredWorkers": 4 }])
        );
        assert_eq!(checks["audit"], json!({ "status": "ok", "queued": 0 }));
        assert_eq!(checks["rateLimiter"], json!({ "status": "ok" }));
    }
    world.anonymous().get(HEALTH).await.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn health_shows_an_outage_and_its_end() {
    let world = World::new().await;
    let (through, proxy) = Proxy::for_server(world.database()).await;
    let other = world.another_by(through).await;
    let alice = world.application("alice").await;
    let alice = other.client(alice.key.as_ref().unwrap());
    // A second after its creation, the key is cached and stays valid during the outage.
    let created = tokio::time::Instant::now();
    within(PATIENCE, async || {
        alice.get(HEALTH).await.status == 200 && created.elapsed() > Duration::from_secs(1)
    })
    .await;

    proxy.stall();
    let unavailable = json!({ "status": "unavailable", "latencyMs": null });
    within(PATIENCE, async || {
        let answer = alice.get(HEALTH).await;
        let health = answer.json();
        answer.status == 503
            && health["status"] == "unavailable"
            && health["checks"]["database"] == unavailable
    })
    .await;
    proxy.resume();
    within(PATIENCE, async || alice.get(HEALTH).await.status == 200).await;
}
