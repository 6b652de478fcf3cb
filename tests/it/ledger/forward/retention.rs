//! A day is retired when the collector has its records.

use engine::ledger::forward::remove_target;
use sqlx::Row as _;

use super::fixture::Forwarded;
use super::https_collector::{Behaviour, HttpsCollector};
use testkit::Site;

const RETIRE: &str =
    "SELECT detach_audit_day(((now() - interval '2 days') AT TIME ZONE 'UTC')::date)::text";

impl Forwarded {
    /// Retires the old day, or returns the code and the message of the refusal.
    async fn retire(&self) -> Result<Option<String>, (String, String)> {
        let retired = sqlx::query(RETIRE).fetch_one(&self.kept.owner).await;
        retired.map(|row| row.get(0)).map_err(|error| {
            let error = error.into_database_error().unwrap();
            (error.code().unwrap().into_owned(), error.message().to_owned())
        })
    }
}

#[tokio::test]
async fn a_day_is_retired_when_it_is_forwarded() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::Refuse(500));
    let forwarder = forwarded.forwarder(&collector.settings());
    forwarded.kept.record_old(2).await;
    forwarded.kept.covered(2).await;
    forwarder.failed().await;
    let (code, message) = forwarded.retire().await.unwrap_err();
    assert_eq!(code, "SW003");
    assert!(message.ends_with("has records that are not forwarded to collector"), "{message}");

    collector.behave(Behaviour::Accept);
    forwarded.clock.advance(std::time::Duration::from_secs(60));
    forwarded.reaches((2, 2)).await;
    assert!(forwarded.retire().await.unwrap().is_some());
}

#[tokio::test]
async fn a_day_does_not_wait_for_a_target_that_was_removed() {
    let forwarded = Forwarded::new().await;
    let mut collector = HttpsCollector::start().await;
    collector.close().await;
    let forwarder = forwarded.forwarder(&collector.settings());
    forwarded.kept.record_old(2).await;
    forwarded.kept.covered(2).await;
    forwarder.failed().await;
    forwarder.stop().await;
    assert_eq!(forwarded.retire().await.unwrap_err().0, "SW003");
    let pool = &forwarded.kept.pool;
    assert!(!remove_target(pool, "another").await.unwrap());
    assert!(remove_target(pool, "collector").await.unwrap());
    assert!(forwarded.retire().await.unwrap().is_some());
}

#[tokio::test]
async fn the_target_of_the_settings_is_not_removed() {
    let site = Site::new().await;
    let remove = ["audit", "remove-target", "collector"];
    let url = "https://siem.internal/ingest";
    site.run_with(&remove, "SEALWARD_AUDIT_FORWARD_URL", url)
        .failure(1, &["\"collector\" is in use", "audit.forward.url"]);
    site.run(&remove).failure(1, &["no records were sent to \"collector\""]);
}
