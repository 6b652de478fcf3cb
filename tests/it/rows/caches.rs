//! Entries of `revisions` and the caches of an instance.

use serde_json::json;

use crate::dashboard::Browser;
use testkit::{PATIENCE, Proxy, World, within};

/// The look-up of an API key.
const LOOK_UP: &str = "AS api_keys_entries WHERE digest";

/// A session is a sealed row. If its entries emptied the caches, each sign-in would cost all applications a
/// look-up.
#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_to_the_dashboard_leaves_the_caches() {
    let first = World::new().await;
    let (options, proxy) = Proxy::for_server(first.database()).await;
    let world = first.another_by(options).await;
    let key = first.application("alice").await.key.expect("a key");
    let health = async || world.client(&key).get("/api/v1/health").await.ok();
    let look_ups = async || {
        health().await;
        let before = proxy.executed(LOOK_UP);
        for _ in 0..20 {
            health().await;
        }
        proxy.executed(LOOK_UP) - before
    };
    within(PATIENCE, async || look_ups().await == 0).await;
    let before = proxy.executed(LOOK_UP);
    for _ in 0..10 {
        // By the other instance, so that this one hears only what Postgres says.
        let mut browser = Browser::signed_in(&first).await;
        browser.send("/dashboard/sign-out", &[]).await;
        health().await;
    }
    // Notifications arrive in the order of the commits, so a change after the sign-ins ends the wait.
    let service = first.service("later").await;
    let path = format!("/admin/services/{service}");
    let renamed = json!({ "name": "renamed" });
    let only_of_changes = proxy.executed(LOOK_UP) - before;
    first.admin().put(&path, renamed).await.ok();
    within(PATIENCE, async || {
        health().await;
        proxy.executed(LOOK_UP) - before > only_of_changes
    })
    .await;
    assert!(only_of_changes < 5, "{only_of_changes} look-ups");
}
