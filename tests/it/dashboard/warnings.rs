//! The warnings of the overview.

use std::time::Duration;

use engine::settings::{Crypto, Stage};
use formats::clock::{Clock, Timestamp};
use serde_json::json;

use super::Browser;
use testkit::{PATIENCE, World, within};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The warnings as text.
async fn warnings(world: &World) -> String {
    let overview = Browser::signed_in(world).await.get("/dashboard").await;
    let overview = overview.ok().body;
    let (_, list) = overview.split_once("id=\"attention\"").expect("the warnings");
    let (list, _) = list.split_once("</section>").expect("their end");
    let texts = list.split('<').map(|tag| tag.split_once('>').map_or("", |(_, text)| text));
    texts.collect()
}

#[tokio::test]
async fn a_key_is_a_warning_from_30_days_before_it_expires() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let end = world.clock.now().plus(31 * DAY);
    let service = world.service("destination").await;
    let key = json!({ "serviceId": service, "name": "receipts", "algorithm": "P-256",
        "generate": true, "expiresAt": end });
    world.admin().post("/admin/keys", key).await.created();
    let found = warnings(&world).await;
    assert!(!found.contains("expire"), "{found}");
    for (passed, badge, when) in [
        (2, "expires", "expires in 29 days"),
        (22, "expires", "expires in 7 days"),
        (6, "expires", "expires in 24 hours"),
        (1, "expired", "expired just now"),
        (2, "expired", "expired 2 days ago"),
    ] {
        world.clock.advance(passed * DAY);
        let found = warnings(&world).await;
        let expected = format!("{badge}Key receipts {when}.");
        assert!(found.contains(&expected), "{found}");
    }
}

#[tokio::test]
async fn active_policies_that_are_open_to_every_service_are_a_warning() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let policy = world.policy(&destination.service).await;
    let found = warnings(&world).await;
    let both = "open to all2 active policies can be used by every service.";
    assert!(found.contains(both), "{found}");
    let path = format!("/admin/policies/{policy}");
    let closed = json!({ "allowedServiceIds": [destination.service] });
    world.admin().patch(&path, closed).await.ok();
    let found = warnings(&world).await;
    let one = "open to all1 active policy can be used by every service.";
    assert!(found.contains(one), "{found}");
    world.change_policy(&destination, json!({ "status": "inactive" })).await;
    let found = warnings(&world).await;
    assert!(!found.contains("open to all"), "{found}");
}

#[tokio::test]
async fn an_overdue_rotation_is_a_warning_until_the_successor_is_active() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = world.service("signer").await;
    let order = json!({ "serviceId": service, "algorithm": "Ed25519", "generate": true,
        "rotationDays": 30 });
    world.admin().post("/admin/keys", order).await.created();
    let warns = async |browser: &mut Browser<'_>| {
        let overview = browser.get("/dashboard").await;
        let overview = overview.ok().body;
        let warns = overview.contains("rotation overdue");
        assert_eq!(warns, overview.contains("1 key should have been replaced"));
        warns
    };
    assert!(!warns(&mut Browser::signed_in(&world).await).await);

    // Each start runs the job. The successor is published for a day before it signs.
    world.clock.advance(40 * DAY);
    let world = world.restarted().await;
    let keys = format!("/admin/keys?serviceId={service}");
    let has_two = async |world: &World, keys: &str| {
        let listed = world.admin().get(keys).await.ok().json();
        listed["items"].as_array().is_some_and(|keys| keys.len() == 2)
    };
    // Sign-ins are limited.
    let mut browser = Browser::signed_in(&world).await;
    within(PATIENCE, async || warns(&mut browser).await).await;
    within(PATIENCE, async || has_two(&world, &keys).await).await;
    world.clock.advance(DAY);
    let world = world.restarted().await;
    let active = format!("{keys}&status=active");
    within(PATIENCE, async || has_two(&world, &active).await).await;
    let mut browser = Browser::signed_in(&world).await;
    within(PATIENCE, async || !warns(&mut browser).await).await;
}

#[tokio::test]
async fn the_page_of_the_floor_lists_what_it_stops_and_what_stricter_ones_would_stop() {
    let world = World::new().await;
    let destination = world.destination("shop", "RSA-2048", "RSA-OAEP-256").await;
    let crypto = |minimum_strength| Crypto { minimum_strength, ..Crypto::default() };
    let strict = world.another_with_floor(crypto(128)).await;
    let mut browser = Browser::signed_in(&strict).await;
    let page = browser.get("/dashboard/keys/floor").await.ok().body;
    for expected in [
        "minimum_strength = 128",
        "What it stops",
        &format!("/dashboard/keys/{}", destination.key),
        &format!("/dashboard/policies/{}", destination.policy_id),
        "What crypto.minimum_strength = 192 would stop",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    assert!(!page.contains("minimum_strength = 112 would"), "{page}");
    let key = browser.get(&format!("/dashboard/keys/{}", destination.key)).await.ok().body;
    assert!(key.contains("This key only opens and verifies"), "{key}");
    within(PATIENCE, async || {
        browser.get("/dashboard").await.ok().body.contains("1 instance has another")
    })
    .await;
}
