//! An HTTPS collector receives each entry at least once and in order, whatever it answers.

use std::time::Duration;

use engine::ledger::Log;
use engine::ledger::forward::ForwardState;
use engine::settings::{Forward, SecretSource, Span};
use serde_json::Value;

use super::fixture::{Forwarded, OwnForwarder, indexes};
use super::https_collector::{Behaviour, HttpsCollector};
use crate::ledger::fixture::{covered, hash, root_of, sealed_world};
use testkit::{Authority, PATIENCE, pool, within};

/// The longest delay between attempts.
const LONGEST: Duration = Duration::from_secs(60);

fn all(count: u64) -> Vec<u64> {
    (0..count).collect()
}

#[tokio::test]
async fn entries_of_both_logs_arrive_and_lead_to_the_roots_of_their_checkpoints() {
    let world = sealed_world().await;
    hash(&world, 5).await;
    let operations = covered(&world, Log::Operations, 5).await;
    let collector = HttpsCollector::start().await;
    let pool = pool(world.as_application());
    let _forwarder = OwnForwarder::start(pool, world.clock.clone(), &collector.settings());
    let of = |lines: &[String], kind: &str| -> Vec<String> {
        let is_kind = |line: &&String| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["type"] == kind
        };
        lines.iter().filter(is_kind).cloned().collect()
    };
    let lines = collector.received(6).await;
    let sent = of(&lines, "operation");
    assert_eq!(indexes(&sent), all(5));
    assert_eq!(root_of(Log::Operations, &sent), operations.root);

    let management = covered(&world, Log::Management, 1).await;
    let size = usize::try_from(management.size).unwrap();
    let lines = collector.received(5 + size).await;
    let sent = of(&lines, "management");
    assert_eq!(root_of(Log::Management, &sent[..size]), management.root);
    let seen = collector.seen();
    assert_eq!(seen.path, "/ingest?index=main");
    assert_eq!(seen.headers["content-type"], "application/x-ndjson");
    assert!(seen.headers.get("authorization").is_none());
}

#[tokio::test]
async fn a_slow_collector_delays_no_sealing() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::AcceptSlowly);
    let _forwarder = forwarded.forwarder(&collector.settings());
    forwarded.record(2, 2).await;
    collector.requests(1).await;
    // The first request waits while these records are sealed.
    forwarded.record(3, 5).await;
    assert_eq!(collector.seen().requests, 1);
    assert_eq!(forwarded.position("collector").await, (0, 0));
    for _ in 0..2 {
        collector.answer_one();
    }
    assert_eq!(indexes(&collector.received(5).await), all(5));
    forwarded.reaches((5, 5)).await;
}

#[tokio::test]
async fn a_refused_batch_is_sent_again_until_it_is_accepted() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    forwarded.record(3, 3).await;
    let forwarder = forwarded.forwarder(&collector.settings());
    collector.received(3).await;
    for (tried, status) in (1..).zip([500, 503, 401, 429, 302, 404]) {
        collector.behave(Behaviour::Refuse(status));
        if tried == 1 {
            forwarded.record(2, 5).await;
        } else {
            forwarded.clock.advance(LONGEST);
        }
        collector.requests(1 + tried).await;
        let expected = format!("the collector refused a batch with status {status}");
        forwarder.state(|it| *it == ForwardState::Failed(expected.clone())).await;
        assert_eq!(forwarded.position("collector").await, (3, 3));
    }
    collector.behave(Behaviour::Accept);
    forwarded.clock.advance(LONGEST);
    assert_eq!(indexes(&collector.received(5).await), all(5));
    forwarder.state(|it| *it == ForwardState::Forwarding).await;
}

#[tokio::test]
async fn a_collector_that_fails_is_not_tried_before_the_delay_is_over() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::Refuse(501));
    forwarded.record(1, 1).await;
    let forwarder = forwarded.forwarder(&collector.settings());
    for (failed, delay) in [(1, 1_000), (2, 2_000), (3, 4_000)] {
        let status = 500 + u16::try_from(failed).unwrap();
        forwarder
            .state(|it| matches!(it, ForwardState::Failed(it) if it.ends_with(&status.to_string())))
            .await;
        collector.behave(Behaviour::Refuse(status + 1));
        forwarded.clock.advance(Duration::from_millis(delay - 1));
        // The sealer and the forwarder run several times meanwhile.
        forwarded.record(1, failed as u64 + 1).await;
        assert_eq!(collector.seen().requests, failed);
        forwarded.clock.advance(Duration::from_millis(1));
    }
    collector.requests(4).await;
}

#[tokio::test]
async fn nothing_is_lost_while_a_collector_is_away_for_an_hour() {
    let forwarded = Forwarded::new().await;
    let mut collector = HttpsCollector::start().await;
    // The first response can be late, too, on a loaded machine.
    let settings = Forward { timeout: Span::seconds(5), ..collector.settings() };
    let forwarder = forwarded.forwarder(&settings);
    forwarded.record(3, 3).await;
    forwarded.reaches((3, 3)).await;

    collector.behave(Behaviour::Silent);
    forwarded.record(2, 5).await;
    let reason = forwarder.failed().await;
    assert_eq!(reason, "the collector did not answer within audit.forward.timeout");

    collector.close().await;
    for minute in 0..60 {
        forwarded.record(10, 15 + minute * 10).await;
        forwarded.clock.advance(LONGEST);
    }
    forwarder
        .state(|it| matches!(it, ForwardState::Failed(it) if it.contains("not reachable")))
        .await;
    assert_eq!(forwarded.position("collector").await, (3, 3));

    collector.behave(Behaviour::Accept);
    collector.listen().await;
    // An attempt that began earlier can fail after an advance, and then the next one is due after another.
    within(PATIENCE, async || {
        forwarded.clock.advance(LONGEST);
        collector.lines().len() >= 605
    })
    .await;
    assert_eq!(indexes(&collector.lines()), all(605));
    forwarded.reaches((605, 605)).await;
}

#[tokio::test]
async fn a_batch_has_at_most_a_thousand_entries_and_a_mebibyte() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    forwarded.record(2_500, 2_500).await;
    forwarded.kept.record_long(300, "repeat('x', 10000)").await;
    forwarded.kept.covered(2_800).await;
    let _forwarder = forwarded.forwarder(&collector.settings());
    assert_eq!(indexes(&collector.received(2_800).await), all(2_800));
    for body in collector.seen().accepted {
        assert!(body.lines().count() <= 1_000 && body.len() <= 1024 * 1024);
    }
}

#[tokio::test]
async fn a_collector_that_takes_less_receives_shorter_batches() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::AcceptUpTo(1_000));
    forwarded.record(30, 30).await;
    let _forwarder = forwarded.forwarder(&collector.settings());
    within(PATIENCE, async || {
        forwarded.clock.advance(LONGEST);
        collector.lines().len() == 30
    })
    .await;
    assert_eq!(indexes(&collector.lines()), all(30));
}

#[tokio::test]
async fn batches_become_longer_when_the_collector_takes_more() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::AcceptUpTo(1_000));
    forwarded.record(30, 30).await;
    let _forwarder = forwarded.forwarder(&collector.settings());
    within(PATIENCE, async || {
        forwarded.clock.advance(LONGEST);
        collector.lines().len() == 30
    })
    .await;
    collector.behave(Behaviour::Accept);
    let mut total = 30;
    within(PATIENCE, async || {
        forwarded.clock.advance(LONGEST);
        forwarded.record(20, total + 20).await;
        total += 20;
        let lines = collector.received(usize::try_from(total).unwrap()).await;
        assert_eq!(indexes(&lines), all(total));
        let accepted = collector.seen().accepted;
        accepted.iter().any(|body| body.lines().count() == 20)
    })
    .await;
}

#[tokio::test]
async fn a_record_that_is_too_long_for_the_collector_does_not_stop_the_others() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    collector.behave(Behaviour::AcceptUpTo(2_000));
    forwarded.record(1, 1).await;
    forwarded.kept.record_long(1, "repeat('x', 5000)").await;
    forwarded.kept.covered(2).await;
    forwarded.record(3, 5).await;
    let forwarder = forwarded.forwarder(&collector.settings());
    within(PATIENCE, async || {
        forwarded.clock.advance(LONGEST);
        collector.lines().len() == 5
    })
    .await;
    let lines = collector.lines();
    assert_eq!(indexes(&lines), all(5));
    let parsed = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    let omitted: Vec<Value> = parsed.filter(|line: &Value| line["leaf_hash"].is_string()).collect();
    let [omitted] = &omitted[..] else {
        panic!("{omitted:?}");
    };
    let hash: String = sqlx::query_scalar(
        "SELECT encode(leaf_hash, 'base64') FROM audit_log_index WHERE log = 1 AND log_index = 1",
    )
    .fetch_one(&forwarded.kept.owner)
    .await
    .unwrap();
    let expected = serde_json::json!({ "log_index": 1, "leaf_hash": hash, "type": "operation" });
    assert_eq!(*omitted, expected);
    assert_eq!(forwarder.status.omitted(), 1);
    forwarded.reaches((5, 5)).await;
}

#[tokio::test]
async fn the_collector_sees_the_secret_and_the_client_certificate() {
    let forwarded = Forwarded::new().await;
    let clients = Authority::new();
    let collector = HttpsCollector::start_with(Some(&clients)).await;
    forwarded.record(1, 1).await;
    let anonymous = forwarded.forwarder(&collector.settings());
    assert!(anonymous.failed().await.contains("not reachable"));
    anonymous.stop().await;

    let folder = collector.folder.path().join("client");
    std::fs::create_dir(&folder).unwrap();
    let [certificate, key] = clients.client().write(&folder).map(Some);
    let secret = folder.join("secret");
    std::fs::write(&secret, "Bearer forward-secret-41d0\n").unwrap();
    let settings = Forward {
        certificate,
        key,
        header: "x-api-key".to_owned(),
        secret: Some(SecretSource::File(secret)),
        ..collector.settings()
    };
    let _forwarder = forwarded.forwarder(&settings);
    collector.received(1).await;
    let sent = &collector.seen().headers["x-api-key"];
    assert_eq!(sent, "Bearer forward-secret-41d0");
}

#[tokio::test]
async fn a_changed_secret_applies_to_the_next_connection() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    let secret = collector.folder.path().join("secret");
    std::fs::write(&secret, "first").unwrap();
    let settings =
        Forward { secret: Some(SecretSource::File(secret.clone())), ..collector.settings() };
    let sent = || collector.seen().headers["authorization"].clone();
    let forwarder = forwarded.forwarder(&settings);
    forwarded.record(1, 1).await;
    collector.received(1).await;
    assert_eq!(sent(), "first");

    std::fs::write(&secret, "second").unwrap();
    collector.behave(Behaviour::Refuse(401));
    forwarded.record(1, 2).await;
    assert!(forwarder.failed().await.contains("401"));
    collector.behave(Behaviour::Accept);
    forwarded.clock.advance(LONGEST);
    collector.received(2).await;
    assert_eq!(sent(), "second");
}

#[tokio::test]
async fn a_server_with_another_certificate_receives_nothing() {
    let forwarded = Forwarded::new().await;
    let collector = HttpsCollector::start().await;
    forwarded.record(1, 1).await;
    let other = collector.folder.path().join("other.pem");
    std::fs::write(&other, Authority::new().certificate()).unwrap();
    let settings = Forward { ca: Some(other), ..collector.settings() };
    let forwarder = forwarded.forwarder(&settings);
    assert!(forwarder.failed().await.contains("UnknownIssuer"));
    assert_eq!(collector.seen().requests, 0);
}

#[tokio::test]
async fn a_new_url_continues_and_a_new_target_starts_with_the_first_record() {
    let forwarded = Forwarded::new().await;
    let (old, new) = (HttpsCollector::start().await, HttpsCollector::start().await);
    forwarded.record(2, 2).await;
    let forwarder = forwarded.forwarder(&old.settings());
    forwarded.reaches((2, 2)).await;
    forwarder.stop().await;

    forwarded.record(1, 3).await;
    let forwarder = forwarded.forwarder(&new.settings());
    assert_eq!(indexes(&new.received(1).await), [2]);
    forwarded.reaches((3, 3)).await;
    forwarder.stop().await;

    let settings = Forward { target: "another".to_owned(), ..new.settings() };
    let _forwarder = forwarded.forwarder(&settings);
    assert_eq!(indexes(&new.received(4).await), [2, 0, 1, 2]);
}
