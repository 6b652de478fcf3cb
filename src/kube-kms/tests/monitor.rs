//! `/healthz` and `/metrics`.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use tonic::Code;
use tower::ServiceExt as _;

use super::Running;
use super::sealward::Behavior;

impl Running {
    async fn get(&self, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = self.monitor.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

#[tokio::test]
async fn health_is_that_of_the_last_probe() {
    let plugin = Running::new().await;
    plugin.key().await;
    assert_eq!(plugin.get("/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(plugin.sealward.received().len(), 1);
    plugin.sealward.set(Behavior::Refuses(403, "SERVICE_FROZEN"));
    plugin.seconds_pass(30);
    let (status, reason) = plugin.get("/healthz").await;
    assert_eq!(status, 503);
    assert!(reason.contains("403 SERVICE_FROZEN"), "{reason}");
    assert!(!reason.trim_end().contains(char::is_control), "{reason}");
}

#[tokio::test]
async fn health_does_not_replace_status() {
    let plugin = Running::new().await;
    plugin.get("/healthz").await;
    assert_eq!(plugin.encrypt(b"seed").await.unwrap_err().code(), Code::Unavailable);
    plugin.key().await;
    for _ in 0..3 {
        plugin.seconds_pass(30);
        assert_eq!(plugin.get("/healthz").await.0, 200);
        plugin.encrypt(b"seed").await.unwrap();
    }
    plugin.seconds_pass(1);
    let refused = plugin.encrypt(b"seed").await.unwrap_err();
    assert!(refused.message().contains("more than 90 s old"), "{refused}");
}

#[tokio::test]
async fn after_a_failed_status_health_does_not_let_encrypt_continue() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.seconds_pass(30);
    plugin.sealward.set(Behavior::Refuses(403, "SERVICE_FROZEN"));
    plugin.status().await.unwrap_err();
    plugin.sealward.set(Behavior::Encrypts);
    plugin.seconds_pass(30);
    assert_eq!(plugin.get("/healthz").await.0, 200);
    assert_eq!(plugin.encrypt(b"seed").await.unwrap_err().code(), Code::PermissionDenied);
    plugin.key().await;
    plugin.encrypt(b"seed").await.unwrap();
}

#[tokio::test]
async fn encrypt_does_not_use_a_key_that_only_health_saw() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.sealward.rotate_to("key_2");
    plugin.seconds_pass(30);
    plugin.get("/healthz").await;
    assert_eq!(plugin.encrypt(b"seed").await.unwrap().key_id, "key_1");
}

#[tokio::test]
async fn metrics_count_calls_and_show_the_probe() {
    let plugin = Running::new().await;
    let (_, before) = plugin.get("/metrics").await;
    assert!(before.contains("sealward_kube_kms_probe_age_seconds -1\n"), "{before}");
    assert!(before.contains("sealward_kube_kms_healthy 0\n"), "{before}");
    plugin.key().await;
    plugin.encrypt(b"seed").await.unwrap();
    plugin.encrypt(&[0; 1_000]).await.unwrap_err();
    plugin.seconds_pass(7);
    let (status, after) = plugin.get("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "sealward_kube_kms_calls_total{method=\"Status\",code=\"Ok\"} 1\n",
        "sealward_kube_kms_calls_total{method=\"Encrypt\",code=\"Ok\"} 1\n",
        "sealward_kube_kms_calls_total{method=\"Encrypt\",code=\"InvalidArgument\"} 1\n",
        "sealward_kube_kms_call_seconds_count{method=\"Encrypt\"} 2\n",
        "sealward_kube_kms_probe_age_seconds 7\n",
        "sealward_kube_kms_healthy 1\n",
    ] {
        assert!(after.contains(line), "{line}{after}");
    }
}
