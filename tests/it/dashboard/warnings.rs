//! The warnings of the overview.

use std::time::Duration;

use sealward::clock::{Clock, Timestamp};
use sealward::settings::Stage;
use serde_json::json;

use super::Browser;
use crate::support::{PATIENCE, World, within};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
#[tokio::test]
async fn an_overdue_rotation_is_a_warning_until_the_successor_is_active() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = world.service("signer").await;
    let order = json!({ "serviceId": service, "algorithm": "Ed25519", "generate": true,
        "rotationDays": 30 });
    world.admin().post("/admin/keys", order).await.created();
    let warns = async |world: &World| {
        let overview = Browser::signed_in(world).await.get("/dashboard").await;
        let overview = overview.ok().body;
        let warns = overview.contains("rotation overdue");
        assert_eq!(warns, overview.contains("1 key should have been replaced"));
        warns
    };
    assert!(!warns(&world).await);

    // Each start runs the job. The successor is published for a day before it signs.
    world.clock.advance(40 * DAY);
    let world = world.restarted().await;
    within(PATIENCE, async || warns(&world).await).await;
    world.clock.advance(DAY);
    let world = world.restarted().await;
    let keys = format!("/admin/keys?serviceId={service}&status=active");
    within(PATIENCE, async || {
        let active = world.admin().get(&keys).await.ok().json();
        active["items"]
            .as_array()
            .is_some_and(|keys| keys.len() == 2)
    })
    .await;
    within(PATIENCE, async || !warns(&world).await).await;
}
