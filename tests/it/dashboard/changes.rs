//! Changes that need approval, in the dashboard.

use axum::http::StatusCode;
use engine::change_kind::ChangeKind;
use serde_json::json;

use super::Browser;
use testkit::World;

async fn signed_in<'w>(world: &World, strict: &'w World, person: &str) -> Browser<'w> {
    let body = json!({ "name": person, "type": "admin", "person": person });
    let created = world.admin().post("/admin/api-keys", body).await.created();
    let mut browser = Browser::new(strict);
    let answer = browser.sign_in(&created.text("secret")).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    // The forms carry the token of a page.
    browser.get("/dashboard").await.ok();
    browser
}

#[tokio::test]
async fn a_form_proposes_its_change_and_another_person_approves_it() {
    let world = World::new().await;
    let strict = world.requiring(&ChangeKind::ALL, 1).await;
    let mut ada = signed_in(&world, &strict, "ada").await;
    let mut bob = signed_in(&world, &strict, "bob").await;
    let service = world.service("billing").await;
    let number = world.policy(&service).await;
    let place = format!("/admin/policies/{number}");
    let strict_policy = json!({ "requireBinding": true });
    let policy = world.admin().put(&place, strict_policy).await.ok().text("id");

    let edit = format!("/dashboard/policies/{policy}/edit");
    let fields = [
        ("policyNumber", number.as_str()),
        ("name", "billing"),
        ("destinationServiceId", &service),
        ("keyOwnership", "service_managed"),
        ("alg", "RSA-OAEP-256"),
        ("enc", "A256GCM"),
        ("status", "active"),
        ("failureMode", "error"),
        ("allowedServiceIds.scope", "all"),
        ("allowedOperations", "protect"),
        ("allowedOperations", "unprotect"),
        ("allowedOperations", "rewrap"),
    ];
    let change = ada.submit(&edit, &fields).await;
    assert!(change.starts_with("/dashboard/changes/chg_"), "{change}");
    let page = ada.get(&format!("{change}?done=proposed")).await.ok().body;
    assert!(page.contains("The change awaits approval"), "{page}");
    assert!(page.contains("<del>") && page.contains("<ins>"), "{page}");
    assert!(page.contains("/withdraw\"") && !page.contains("/reject\""), "{page}");
    let own = ada.send(&format!("{change}/approve"), &[]).await;
    assert_eq!(own.status, StatusCode::FORBIDDEN);

    let overview = bob.get("/dashboard").await.ok().body;
    assert!(overview.contains("1<span class=\"unseen\"> pending</span>"), "{overview}");
    let page = bob.get(&change).await.ok().body;
    assert!(page.contains("/reject\"") && page.contains("<bdi>ada</bdi>"), "{page}");
    let approved = bob.submit(&format!("{change}/approve"), &[("comment", "as agreed")]).await;
    assert_eq!(approved, change);
    let page = bob.get(&change).await.ok().body;
    assert!(page.contains("<bdi>as agreed</bdi>"), "{page}");
    assert!(!page.contains("/reject\""), "{page}");
    let policy = world.admin().get(&place).await.ok().json();
    assert_eq!(policy["requireBinding"], json!(false));
}

#[tokio::test]
async fn a_proposed_api_key_is_shown_once() {
    let world = World::new().await;
    let strict = world.requiring(&ChangeKind::ALL, 1).await;
    let mut ada = signed_in(&world, &strict, "ada").await;
    let mut bob = signed_in(&world, &strict, "bob").await;
    let service = world.service("billing").await;
    let fields = [("name", "next"), ("type", "live"), ("serviceId", service.as_str())];
    let page = ada.send("/dashboard/api-keys", &fields).await;
    assert_eq!(page.status, StatusCode::ACCEPTED, "{}", page.body);
    assert!(page.body.contains("sk_live_") && page.body.contains("API key proposed"));
    let (_, rest) = page.body.split_once("/dashboard/changes/chg_").expect("a link");
    let id = rest.split('"').next().expect("an id");
    let change = format!("/dashboard/changes/chg_{id}");
    assert!(!ada.get(&change).await.ok().body.contains("sk_live_next"));
    let rejected = bob.submit(&format!("{change}/reject"), &[("comment", "no")]).await;
    assert_eq!(rejected, change);
    let withdrawn = ada.send(&format!("{change}/withdraw"), &[]).await;
    assert_eq!(withdrawn.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn the_dashboard_warns_about_too_few_people() {
    let world = World::new().await;
    let strict = world.requiring(&[ChangeKind::KeyImport], 1).await;
    let mut ada = signed_in(&world, &strict, "ada").await;
    for page in ["/dashboard", "/dashboard/changes"] {
        let warned = ada.get(page).await.ok().body;
        assert!(warned.contains("<code>key.import</code> need 2 people"), "{warned}");
    }
    let mut bob = signed_in(&world, &strict, "bob").await;
    let page = bob.get("/dashboard/changes").await.ok().body;
    assert!(!page.contains("need 2 people"), "{page}");
}
