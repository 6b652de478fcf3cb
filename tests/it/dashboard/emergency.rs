//! The page from which an owner takes things away.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use testkit::{PATIENCE, World, within};

#[tokio::test]
async fn one_page_leads_an_owner_to_all_that_can_be_taken_away() {
    const PLACE: &str = "/dashboard/emergency";
    let world = World::new().await;
    let second = world.another().await;
    let (destination, application) = world.bound_application().await;
    let elsewhere = second.client(application.key.as_ref().unwrap());
    let ada = json!({ "name": "n", "type": "admin", "roles": ["custodian"], "person": "ada" });
    let ada = world.admin().post("/admin/api-keys", ada).await.created().text("secret");
    let mut browser = Browser::signed_in(&world).await;
    let page = browser.get(PLACE).await.ok().body;
    for step in ["Freeze a service", "Lock a person", "Disable a key", "Revoke an API key"] {
        assert!(page.contains(step), "{page}");
    }
    for (step, wrong) in
        [("freeze-service", "service"), ("lock-person", "person"), ("revoke-api-key", "apiKey")]
    {
        let refused = browser.send(&format!("{PLACE}/{step}"), &[(wrong, "nobody")]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(refused.body.contains(&format!("id=\"{wrong}-problem\"")), "{}", refused.body);
    }

    // Each step asks first, and holds on all instances.
    let caller = application.service.clone().unwrap();
    let taken = [
        ("freeze-service", "service", &caller, format!("/dashboard/services/{caller}/freeze")),
        (
            "disable-key",
            "key",
            &destination.key,
            format!("/dashboard/keys/{}/disable", destination.key),
        ),
    ];
    for (step, field, named, question) in taken {
        let there = browser.submit(&format!("{PLACE}/{step}"), &[(field, named)]).await;
        assert_eq!(there, question);
        let page = browser.get(&there).await.ok().body;
        assert!(page.contains("Cancel"), "{page}");
        elsewhere.get("/api/v1/caller").await.ok();
        browser.submit(&there, &[]).await;
    }
    within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 403).await;
    elsewhere.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    let key = format!("/admin/keys/{}", destination.key);
    assert_eq!(world.admin().get(&key).await.ok().text("status"), "disabled");

    let there = browser.submit(&format!("{PLACE}/lock-person"), &[("person", "ada")]).await;
    assert!(there.ends_with("/lock"), "{there}");
    browser.submit(&there, &[("reason", "a stolen laptop")]).await;
    let locked = second.client(&ada);
    within(PATIENCE, async || locked.get("/admin/services").await.status == 401).await;

    let id = application.key_path().replace("/admin/api-keys/", "");
    let there = browser.submit(&format!("{PLACE}/revoke-api-key"), &[("apiKey", &id)]).await;
    assert_eq!(there, format!("/dashboard/api-keys/{id}/revoke"));
    browser.submit(&there, &[]).await;
    within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 401).await;

    // The page is for owners.
    let custodian = world.administrator(&["custodian"]).await;
    let mut other = Browser::new(&world);
    other.sign_in(custodian.key.as_ref().unwrap()).await;
    assert!(!other.get(PLACE).await.ok().body.contains("Disable a key"));
    let key = [("key", destination.key.as_str())];
    let refused = other.send(&format!("{PLACE}/disable-key"), &key).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}
