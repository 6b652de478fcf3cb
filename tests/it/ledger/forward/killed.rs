//! A process that is killed while the collector has a batch.

use super::fixture::indexes;
use super::https_collector::{Behaviour, HttpsCollector};
use testkit::{Process, Site};

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_was_not_answered_before_kill_is_sent_again() {
    let site = Site::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::AcceptSlowly);
    site.run(&["audit", "init"]).success();
    let settings = collector.settings();
    let [url, ca] = [settings.url.unwrap(), settings.ca.unwrap().display().to_string()];
    let variables =
        [("SEALWARD_AUDIT_FORWARD_URL", url.as_str()), ("SEALWARD_AUDIT_FORWARD_CA", ca.as_str())];
    let process = Process::start_with(&site, &variables).await;
    let first = collector.received(1).await;
    process.kill();

    collector.behave(Behaviour::Accept);
    let _process = Process::start_with(&site, &variables).await;
    let lines = collector.received(2 * first.len()).await;
    let again = &lines[first.len()..];
    assert_eq!(again[..first.len()], first[..]);
    assert_eq!(indexes(again), (0..again.len() as u64).collect::<Vec<_>>());
}
