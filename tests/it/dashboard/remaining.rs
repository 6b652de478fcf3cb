//! What remains on a key, an algorithm or a policy, until the old key is deleted.

use std::time::Duration;

use engine::audit::traffic::{sum_up, summed_up_to};
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use super::Browser;
use testkit::{Client, Destination, PATIENCE, REWRAP_BATCH, UNPROTECT, World, within};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const PLACE: &str = "/dashboard/keys/remaining";

/// A world at the beginning of a minute.
async fn world() -> World {
    let time: Timestamp = "2026-05-12T10:42:00Z".parse().expect("a time");
    World::at(Clock::held_at(time), Stage::Development).await
}

/// Ends the minute, and counts its requests.
async fn count_requests(world: &World) {
    world.clock.advance(MINUTE);
    let until = world.clock.now();
    within(PATIENCE, async || {
        // Nothing happens while the job of the world counts.
        sum_up(&world.pool, until).await.expect("sum up");
        summed_up_to(&world.pool).await.expect("ask") == Some(until)
    })
    .await;
}

/// The page with this query.
async fn page(browser: &mut Browser<'_>, query: &str) -> String {
    browser.get(&format!("{PLACE}?{query}")).await.ok().body
}

/// The text of a section of the page.
fn section(page: &str, id: &str) -> String {
    let (_, rest) = page.split_once(&format!("<h2 id=\"{id}\">")).expect(id);
    let (text, _) = rest.split_once("</section>").expect("its end");
    let texts = text.split('<').map(|tag| tag.split_once('>').map_or(tag, |(_, text)| text));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("|")
}

/// A destination with an RSA-2048 key, and an application that uses its policy.
async fn old_destination(world: &World) -> (Destination, Client<'_>) {
    let old = world.destination("orders", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&old.policy).await;
    (old, alice)
}

async fn envelope(alice: &Client<'_>, payload: u32) -> Value {
    alice.protect(json!(payload)).await.ok().json()["jwe"].clone()
}

#[tokio::test]
async fn the_use_of_an_old_key_reaches_zero_and_the_key_is_deleted() {
    let world = world().await;
    let (old, alice) = old_destination(&world).await;
    let stored = [envelope(&alice, 1).await, envelope(&alice, 2).await];
    alice.unprotect(&stored[0]).await.ok();
    count_requests(&world).await;
    let of_old = format!("keyId={}", old.key);
    let mut browser = Browser::signed_in(&world).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(seen.contains("Opened per day: 1 opened and 0 rewrapped in 30 days"), "{seen}");
    assert!(section(&seen, "keys").contains("|1|0|2026-05-12|Generate a key"), "{seen}");
    assert!(section(&seen, "callers").contains("|alice|Audit records|1|0|2026-05-12"), "{seen}");
    assert!(section(&seen, "policies").contains("|with these keys|1|0|2026-05-12"), "{seen}");

    let new = world.key(&old.service, "enc", "P-256").await;
    world.change_policy(&old, json!({ "alg": "ECDH-ES+A256KW" })).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(section(&seen, "keys").contains("Rewrap the stored envelopes"), "{seen}");
    assert!(section(&seen, "policies").contains("|not with these keys|1|0"), "{seen}");
    let items = stored.map(|jwe| json!({ "jwe": jwe }));
    let moved = alice.post(REWRAP_BATCH, json!({ "items": items })).await.ok().json();
    for item in moved["items"].as_array().expect("items") {
        alice.unprotect(&item["jwe"]).await.ok();
    }
    count_requests(&world).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(seen.contains("1 opened and 2 rewrapped in 30 days"), "{seen}");
    let of_new = page(&mut browser, &format!("keyId={new}")).await;
    assert!(of_new.contains("2 opened and 0 rewrapped in 30 days"), "{of_new}");

    world.clock.advance(DAY * 2);
    count_requests(&world).await;
    let mut browser = Browser::signed_in(&world).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(section(&seen, "keys").contains("Wait until callers"), "{seen}");

    world.clock.advance(DAY * 28);
    count_requests(&world).await;
    let mut browser = Browser::signed_in(&world).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(seen.contains("0 opened and 0 rewrapped in 30 days"), "{seen}");
    assert!(section(&seen, "callers").contains("None."), "{seen}");
    let delete = format!("/dashboard/keys/{}/delete", old.key);
    assert!(seen.contains(&format!("href=\"{delete}\"")), "{seen}");
    browser.submit(&delete, &[]).await;
    let seen = page(&mut browser, &of_old).await;
    assert!(section(&seen, "keys").contains("pending destruction"), "{seen}");
    assert!(section(&seen, "keys").contains("None: the key is deleted."), "{seen}");
}

#[tokio::test]
async fn algorithms_and_policies_select_what_is_shown() {
    let world = world().await;
    let (old, alice) = old_destination(&world).await;
    let other = json!({ "name": "other", "destinationServiceId": old.service,
        "allowedServiceIds": ["*"] });
    let other = world.admin().post("/admin/policies", other).await.created().text("policyNumber");
    let signing = world.key(&old.service, "sig", "P-256").await;
    let stored = envelope(&alice, 1).await;
    alice.unprotect(&stored).await.ok();
    let bob = world.application("bob").await;
    let under_other = json!({ "jwe": stored, "policyNumber": other });
    bob.post(UNPROTECT, under_other).await.ok();
    count_requests(&world).await;
    let mut browser = Browser::signed_in(&world).await;

    let all = page(&mut browser, "").await;
    let algorithms = section(&all, "algorithms");
    for row in ["|RSA-2048|112 bits, vulnerable|1, 1 active|2|0|", "|P-256|128 bits, vulnerable|"] {
        assert!(algorithms.contains(row), "{algorithms}");
    }
    let weak = page(&mut browser, "strengthBelow=128").await;
    assert!(weak.contains(&old.key) && !weak.contains(&signing), "{weak}");
    assert!(section(&weak, "policies").contains(&format!("|{other}|")), "{weak}");
    let ec = page(&mut browser, "algorithm=P-256").await;
    let ec = section(&ec, "keys");
    assert!(ec.contains(&signing) && !ec.contains(&old.key), "{ec}");
    assert!(ec.contains("another algorithm and name"), "{ec}");
    let under = page(&mut browser, &format!("policyNumber={other}")).await;
    assert!(under.contains("1 opened and 0 rewrapped in 30 days"), "{under}");
    assert!(!section(&under, "policies").contains(&old.policy), "{under}");

    world.key(&old.service, "enc", "P-256").await;
    let moved = json!({ "alg": "ECDH-ES+A256KW" });
    world.change_policy(&old, moved.clone()).await;
    world.admin().put(&format!("/admin/policies/{other}"), moved.clone()).await.ok();
    let unused = world.policy(&old.service).await;
    world.admin().put(&format!("/admin/policies/{unused}"), moved).await.ok();
    let under = page(&mut browser, &format!("policyNumber={unused}&algorithm=RSA-2048")).await;
    assert!(under.contains("0 opened and 0 rewrapped in 30 days"), "{under}");
    let keys = section(&under, "keys");
    assert!(keys.contains("Rewrap the stored"), "another policy still needs the key: {keys}");
    for nothing in ["policyNumber=NONE", "strengthBelow=weak", "algorithm=RSA-1024", "size=1"] {
        let seen = page(&mut browser, nothing).await;
        assert!(seen.contains("No key matches"), "{nothing}: {seen}");
    }
}

#[tokio::test]
async fn actions_and_audit_records_are_offered_by_role() {
    let world = world().await;
    let (old, alice) = old_destination(&world).await;
    alice.unprotect(&envelope(&alice, 1).await).await.ok();
    count_requests(&world).await;
    for (role, generates, reads) in [
        ("owner", true, true),
        ("custodian", true, false),
        ("policy-admin", false, false),
        ("auditor", false, true),
    ] {
        let key = world.administrator(&[role]).await.key.expect("a key");
        let mut browser = Browser::new(&world);
        browser.sign_in(&key).await;
        let seen = browser.get(&format!("{PLACE}?keyId={}", old.key)).await.ok().body;
        assert_eq!(seen.contains(">Generate key</a>"), generates, "{role}");
        assert_eq!(seen.contains(">Audit records</a>"), reads, "{role}");
    }
}
