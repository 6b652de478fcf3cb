//! The state of the service.

use axum::http::Method;
use serde_json::json;

use super::{Site, Vault, refused};

#[tokio::test]
async fn health_has_every_member_that_clients_read() {
    let site = Site::new().await;
    let anonymous = Vault(site.world.anonymous());
    let health = anonymous.read("sys/health").await.ok().json();
    assert_eq!((&health["initialized"], &health["sealed"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&health["standby"], &health["performance_standby"]),
        (&json!(false), &json!(false))
    );
    assert!(health["server_time_utc"].as_i64().unwrap() > 1_700_000_000);
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    let head = anonymous.0.send_text(Method::HEAD, "/v1/sys/health", "").await.ok();
    assert_eq!(head.body, "");
}

#[tokio::test]
async fn a_query_names_the_statuses_of_states() {
    let site = Site::new().await;
    let anonymous = Vault(site.world.anonymous());
    let status =
        async |query: &str| anonymous.read(&format!("sys/health?{query}")).await.status.as_u16();
    assert_eq!(status("activecode=299").await, 299);
    assert_eq!(status("standbyok=true&sealedcode=299&uninitcode=299&standbycode=299").await, 200);
    let busy = anonymous.read("sys/health?activecode=429").await;
    assert_eq!((busy.status.as_u16(), busy.header("retry-after")), (429, "1"));
    // The answer of this status has no body.
    let bare = anonymous.read("sys/health?activecode=204").await;
    assert_eq!((bare.status.as_u16(), bare.body.as_str()), (204, ""));
    for wrong in ["9", "302", "500", "503"] {
        assert_eq!(status(&format!("activecode={wrong}")).await, 400, "{wrong}");
    }
    // A status of another state, which no client causes.
    assert_eq!(status("sealedcode=500&standbycode=503").await, 200);
}

#[tokio::test]
async fn seal_status_and_leader_need_no_token() {
    let site = Site::new().await;
    let anonymous = Vault(site.world.anonymous());
    let status = anonymous.read("sys/seal-status").await.ok().json();
    assert_eq!((&status["type"], &status["sealed"]), (&json!("pkcs11"), &json!(false)));
    assert_eq!(anonymous.read("sys/leader").await.ok().json(), json!({ "ha_enabled": false }));
    refused(&anonymous.write("sys/seal", json!({})).await, 403, &["permission denied"]);
}
