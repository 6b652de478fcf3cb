//! Every page, with nothing to show, and with names that mean harm.

use axum::http::StatusCode;
use serde_json::json;

use super::Browser;
use crate::support::World;

const PAGES: [&str; 18] = [
    "/dashboard",
    "/dashboard?range=day",
    "/dashboard?range=week",
    "/dashboard/services",
    "/dashboard/services/new",
    "/dashboard/policies",
    "/dashboard/policies/new",
    "/dashboard/keys",
    "/dashboard/keys/new",
    "/dashboard/keys/import",
    "/dashboard/keys/import?from=wrapped",
    "/dashboard/keys/import?from=plain",
    "/dashboard/keys/import?from=token",
    "/dashboard/api-keys",
    "/dashboard/api-keys/new",
    "/dashboard/audit",
    "/dashboard/audit?status=x&from=y&keyId=z",
    "/dashboard/events",
];

const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}\u{1F4A9}";

#[tokio::test]
async fn every_page_is_drawn_and_guarded_when_there_is_nothing() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world).await;
    for path in PAGES {
        let page = browser.get(path).await.ok();
        assert_eq!(
            page.header("content-type"),
            "text/html; charset=utf-8",
            "{path}"
        );
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        assert!(
            page.header("content-security-policy")
                .starts_with("default-src 'none'; ")
        );
        assert!(page.body.starts_with("<!DOCTYPE html>"), "{path}");
        assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        for absent in ["<script", " style=", "onclick"] {
            assert!(!page.body.contains(absent), "{path}: {absent}");
        }
    }
    let missing = browser.get("/dashboard/nowhere").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert!(missing.body.contains("There is no such page"));
    let missing = browser
        .get("/dashboard/keys/key_00000000000000000000000000")
        .await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn names_that_mean_harm_are_shown_as_text() {
    let world = World::new().await;
    let admin = world.admin();
    let name = format!("{HOSTILE}{}", "n".repeat(60));
    let service = admin
        .post(
            "/admin/services",
            json!({ "name": name, "description": HOSTILE }),
        )
        .await
        .created()
        .text("id");
    let key = json!({ "serviceId": service, "generate": true, "algorithm": "P-256", "name": name });
    let key = admin.post("/admin/keys", key).await.created().text("id");
    let policy = json!({ "name": name, "destinationServiceId": service, "description": HOSTILE });
    let policy = admin
        .post("/admin/policies", policy)
        .await
        .created()
        .text("id");
    let api_key =
        json!({ "name": name, "type": "test", "serviceId": service, "policyNumber": "POL-000001" });
    let api_key = admin.post("/admin/api-keys", api_key).await.created();
    let application = world.person(&api_key.text("secret"));
    application
        .with("x-request-id", "<b>r</b>")
        .post("/api/v1/protect", json!({}))
        .await;

    let mut browser = Browser::signed_in(&world).await;
    let mut places: Vec<String> = PAGES.map(str::to_owned).into();
    for (room, id) in [
        ("services", &service),
        ("keys", &key),
        ("policies", &policy),
        ("api-keys", &api_key.text("id")),
    ] {
        places.push(format!("/dashboard/{room}/{id}"));
        places.push(format!("/dashboard/{room}/{id}/edit"));
        let last = if room == "api-keys" {
            "revoke"
        } else {
            "delete"
        };
        places.push(format!("/dashboard/{room}/{id}/{last}"));
    }
    for place in &places {
        let page = browser.get(place).await.ok();
        for harm in ["<script", "<b>r"] {
            assert!(!page.body.contains(harm), "{place}");
        }
    }
    let list = browser.get("/dashboard/services").await.ok().body;
    assert!(
        list.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{list}"
    );
}
