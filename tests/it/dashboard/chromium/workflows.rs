//! Workflows of administrators in the browser.

use std::time::Duration;

use axum::http::StatusCode;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::json;

use super::Chromium;
use testkit::World;

#[tokio::test]
async fn an_administrator_creates_observes_and_removes_an_application() {
    let world = World::new().await;
    let chromium = Chromium::start(&world).await;
    chromium.open("/dashboard/services").await;
    assert_eq!(chromium.place().await, "/dashboard/sign-in?to=%2Fdashboard%2Fservices");
    chromium.sign_in("sk_admin_nonsense").await;
    assert!(chromium.text().await.contains("This key is not accepted"));
    chromium.sign_in(world.admin_key()).await;
    assert_eq!(chromium.place().await, "/dashboard/services");

    chromium.press("Create service").await;
    chromium.fill("Name", "billing").await;
    chromium.press("Create service").await;
    assert!(chromium.text().await.contains("Created."));

    chromium.press("Keys").await;
    chromium.press("Generate key").await;
    chromium.choose("Service", "billing").await;
    chromium.choose("Algorithm", "RSA-2048").await;
    chromium.press("Generate key").await;
    assert!(chromium.text().await.contains("Created."));

    chromium.press("Policies").await;
    chromium.press("Create policy").await;
    chromium.fill("Name", "at rest").await;
    chromium.choose("Destination service", "billing").await;
    chromium.tick("Only the selected").await;
    chromium.tick("billing").await;
    chromium.press("Create policy").await;
    assert!(chromium.text().await.contains("POL-000001"));

    chromium.press("API Keys").await;
    chromium.press("Create API Key").await;
    chromium.fill("Name", "billing in production").await;
    chromium.choose("Service", "billing").await;
    chromium.choose("Bound policy", "POL-000001 – at rest").await;
    chromium.press("Create API Key").await;
    let secret = chromium.run("return document.querySelector('#secret').value", &[]).await;
    let secret = secret.as_str().expect("the key").to_owned();
    chromium.press("I have copied it").await;
    let shown_again = chromium.run("return document.documentElement.outerHTML", &[]).await;
    assert!(!shown_again.as_str().expect("a page").contains(&secret));

    let application = world.client(&secret);
    let protected = application.protect(json!({ "card": "4111" })).await.ok();
    let envelope = json!({ "jwe": protected.json()["jwe"] });
    let opened = application.post("/api/v1/unprotect", envelope).await.ok();
    assert_eq!(opened.json()["payload"], json!({ "card": "4111" }));

    chromium.press("Audit").await;
    let audit_log = chromium.text().await;
    assert!(audit_log.contains("encrypt") && audit_log.contains("decrypt"));
    chromium.press_first("main tbody a").await;
    let record = chromium.text().await;
    assert!(record.contains("/api/v1/unprotect") && record.contains("billing"));

    chromium.press("API Keys").await;
    chromium.press("billing in production").await;
    chromium.press("Revoke").await;
    assert!(chromium.text().await.contains("The key cannot be restored."));
    chromium.press("Revoke API key").await;
    assert!(chromium.text().await.contains("The API key is revoked and can no longer be used."));
    let refused = application.protect(json!(1)).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);

    chromium.press("Management events").await;
    assert!(chromium.text().await.contains("revoke"));
    chromium.press("Sign out").await;
    chromium.open("/dashboard/keys").await;
    assert!(chromium.place().await.starts_with("/dashboard/sign-in"));
}

#[tokio::test]
async fn sessions_expire_and_foreign_forms_are_refused_over_tls() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let chromium = Chromium::start_over_tls(&world).await;
    chromium.open("/dashboard").await;
    chromium.sign_in(world.admin_key()).await;
    let cookie = chromium.cookie().await;
    let marks = ["name", "path", "secure", "httpOnly", "sameSite", "expiry"];
    assert_eq!(
        marks.map(|mark| cookie[mark].clone()),
        [
            "__Host-sealward".into(),
            "/".into(),
            true.into(),
            true.into(),
            "Strict".into(),
            json!(null)
        ],
    );

    chromium.open("/dashboard/services/new").await;
    chromium.fill("Name", "forged").await;
    let forge = "document.querySelectorAll('[name=form-token]').forEach(it => it.value = 'x')";
    chromium.run(forge, &[]).await;
    chromium.press("Create service").await;
    assert!(chromium.text().await.contains("This form was not accepted"));

    let form = format!(
        "data:text/html,<form method=post action='{}/dashboard/services'>\
         <input name=name value=forged><input name=tier value=standard><button>Win</button>",
        chromium.address
    );
    chromium.open_elsewhere(&form).await;
    chromium.press("Win").await;
    assert_eq!(chromium.place().await, "/dashboard/sign-in");
    let services = world.admin().get("/admin/services").await.json();
    assert_eq!(services["items"], json!([]), "neither request creates a service");

    let link = format!("data:text/html,<a href='{}/dashboard/events'>Read</a>", chromium.address);
    chromium.open_elsewhere(&link).await;
    chromium.press("Read").await;
    chromium.wait_for_text("All changes by administrators").await;

    chromium.open("/dashboard/services/new").await;
    chromium.fill("Name", "too late").await;
    clock.advance(Duration::from_secs(15 * 60));
    chromium.press("Create service").await;
    assert_eq!(chromium.place().await, "/dashboard/sign-in");
    chromium.sign_in(world.admin_key()).await;
    assert_eq!(chromium.place().await, "/dashboard");

    let keys = world.admin().get("/admin/api-keys").await.json();
    let own = keys["items"][0]["id"].as_str().expect("its own key");
    // The last owner key cannot be revoked.
    world.administrator(&["owner"]).await;
    chromium.open(&format!("/dashboard/api-keys/{own}/revoke")).await;
    let confirmation = chromium.text().await;
    assert!(confirmation.contains("It is the key you are signed in with"));
    chromium.press("Revoke API key").await;
    assert!(chromium.place().await.starts_with("/dashboard/sign-in"));
}
