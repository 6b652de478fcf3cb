//! Forwarding in the metrics and on the dashboard.

use axum::body::Body;
use axum::http::Request;
use engine::ledger::Log;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::https_collector::{Behaviour, HttpsCollector};
use crate::dashboard::Browser;
use crate::ledger::fixture::{covered, hash, sealed_world};
use testkit::{Exposition, PATIENCE, World, within};

async fn metrics(world: &World) -> Exposition {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let answer = world.metrics(None).await.oneshot(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    Exposition::parse(std::str::from_utf8(&body).unwrap())
}

#[tokio::test]
async fn a_failing_collector_is_in_the_metrics_and_on_the_dashboard() {
    let mut world = sealed_world().await;
    hash(&world, 2).await;
    covered(&world, Log::Operations, 2).await;
    let state =
        |page: &Exposition, name| page.sum("sealward_audit_forward_state", &[("state", name)]);
    let lag = |page: &Exposition, name: &str| {
        page.sum(&format!("sealward_audit_forward_lag_{name}"), &[("log", "operations")])
    };
    assert_eq!(state(&metrics(&world).await, "off"), 1.0);

    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::Refuse(500));
    world.forward(&collector.settings());
    within(PATIENCE, async || {
        let page = metrics(&world).await;
        state(&page, "failed") == 1.0 && lag(&page, "records") == 2.0
    })
    .await;
    assert!(lag(&metrics(&world).await, "age_seconds") > 0.0);
    let mut browser = Browser::signed_in(&world).await;
    let overview = browser.get("/dashboard").await.ok().body;
    assert!(overview.contains("the collector refused a batch with status 500"));
    let audit = browser.get("/dashboard/audit").await.ok().body;
    assert!(audit.contains("The collector lacks 2 records of the operations log"));

    collector.behave(Behaviour::Accept);
    within(PATIENCE, async || {
        let page = metrics(&world).await;
        state(&page, "forwarding") == 1.0 && lag(&page, "records") == 0.0
    })
    .await;
    assert_eq!(lag(&metrics(&world).await, "age_seconds"), 0.0);
    let overview = browser.get("/dashboard").await.ok().body;
    assert!(!overview.contains("not forwarded"));
    let audit = browser.get("/dashboard/audit").await.ok().body;
    assert!(audit.contains("The collector has all sealed records of the operations log"));
}
