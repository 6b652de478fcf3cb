//! Versions of keys in the dashboard.

use super::Browser;
use testkit::World;

/// Generates a key for data in the form; its page.
async fn generated(browser: &mut Browser<'_>, service: &str, name: &str) -> String {
    let fields = [
        ("from", "generated"),
        ("serviceId", service),
        ("name", name),
        ("use", "data"),
        ("algorithm", "AES-256"),
        ("activate", "yes"),
    ];
    browser.submit("/dashboard/keys", &fields).await
}

#[tokio::test]
async fn a_rotation_makes_the_next_version_of_the_name() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let mut browser = Browser::signed_in(&world).await;
    let first = generated(&mut browser, &service, "cards").await;
    let other = generated(&mut browser, &service, "orders").await;
    let second = browser.submit(&format!("{first}/rotate"), &[]).await;

    let page = browser.get(&second).await.ok().body;
    assert!(page.contains("<dt>Version</dt><dd>2</dd>"), "{page}");
    assert!(page.contains(&format!("href=\"{first}\">1</a>")), "{page}");
    assert!(!page.contains(&format!("href=\"{other}\"")), "{page}");
    let page = browser.get(&first).await.ok().body;
    assert!(page.contains(&format!("href=\"{second}\">2</a>")), "{page}");
    let list = browser.get("/dashboard/keys?nameContains=cards").await.ok().body;
    for version in ["version 1", "version 2"] {
        assert!(list.contains(version), "{list}");
    }
}

#[tokio::test]
async fn an_imported_key_has_the_version_of_the_form() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let mut browser = Browser::signed_in(&world).await;
    let fields = [
        ("from", "plain"),
        ("serviceId", service.as_str()),
        ("name", "cards"),
        ("version", "4"),
        ("secretKey", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
        ("activate", "yes"),
    ];
    let key = browser.submit("/dashboard/keys", &fields).await;
    let page = browser.get(&key).await.ok().body;
    assert!(page.contains("<dt>Version</dt><dd>4</dd>"), "{page}");
    let refused = browser.send("/dashboard/keys", &fields).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("already had the version 4"), "{}", refused.body);
}
