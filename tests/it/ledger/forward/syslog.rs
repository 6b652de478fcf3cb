//! A syslog collector over TLS. It acknowledges nothing, so the entries of the last minute are sent
//! again after a reconnect.

use std::time::Duration;

use engine::ledger::Log;
use engine::ledger::forward::ForwardState;
use engine::settings::Forward;

use super::fixture::{Forwarded, indexes};
use super::rsyslog::Rsyslog;
use crate::ledger::fixture::root_of;

/// After this time, an entry is not sent again.
const CONFIRMED: Duration = Duration::from_secs(61);

#[tokio::test]
async fn entries_arrive_whole_and_in_order() {
    let forwarded = Forwarded::new().await;
    let rsyslog = Rsyslog::start().await;
    forwarded.record(1_500, 1_500).await;
    // Longer than the default message size of rsyslog, and not ASCII.
    forwarded.kept.record_long(1, "repeat('ü', 20000)").await;
    let checkpoint = forwarded.kept.covered(1_501).await;
    let _forwarder = forwarded.forwarder(&rsyslog.settings());
    let lines = rsyslog.received(1_501).await;
    assert_eq!(indexes(&lines), (0..1_501).collect::<Vec<_>>());
    assert!(lines[1_500].len() > 40_000);
    assert_eq!(root_of(Log::Operations, &lines), checkpoint.root);
    let message = &rsyslog.messages()[0];
    let header: Vec<_> = message.split(' ').collect();
    let [priority, time, .., app, process, log] = &header[..6] else {
        panic!("{message}");
    };
    assert_eq!([*priority, *app, *process, *log], ["110", "sealward", "-", "operations"]);
    assert!(lines[0].contains(&format!(r#""timestamp":"{}""#, &time[..10])[..20]));
}

#[tokio::test]
async fn a_restart_of_the_collector_sends_the_last_minute_again() {
    let forwarded = Forwarded::new().await;
    let mut rsyslog = Rsyslog::start().await;
    let forwarder = forwarded.forwarder(&rsyslog.settings());
    forwarded.record(3, 3).await;
    forwarded.reaches((3, 0)).await;
    forwarded.clock.advance(CONFIRMED);
    forwarded.reaches((3, 3)).await;
    forwarded.record(2, 5).await;
    forwarded.reaches((5, 3)).await;
    rsyslog.received(5).await;

    rsyslog.stop().await;
    forwarded.record(1, 6).await;
    forwarder.failed().await;
    rsyslog.run().await;
    forwarded.clock.advance(Duration::from_secs(1));
    forwarded.reaches((6, 3)).await;
    let lines = rsyslog.received(8).await;
    assert_eq!(indexes(&lines), [0, 1, 2, 3, 4, 3, 4, 5]);
    forwarder.state(|it| *it == ForwardState::Forwarding).await;
    forwarded.clock.advance(CONFIRMED);
    forwarded.reaches((6, 6)).await;
}

#[tokio::test]
async fn another_instance_sends_the_last_minute_again() {
    let forwarded = Forwarded::new().await;
    let rsyslog = Rsyslog::start().await;
    let one = forwarded.forwarder(&rsyslog.settings());
    forwarded.record(2, 2).await;
    forwarded.reaches((2, 0)).await;
    rsyslog.received(2).await;
    one.stop().await;
    let _two = forwarded.forwarder(&rsyslog.settings());
    assert_eq!(indexes(&rsyslog.received(4).await), [0, 1, 0, 1]);
}

#[tokio::test]
async fn a_client_with_another_name_or_without_a_certificate_sends_nothing() {
    let forwarded = Forwarded::new().await;
    let rsyslog = Rsyslog::start().await;
    let anonymous = Forward { certificate: None, key: None, ..rsyslog.settings() };
    for settings in [rsyslog.settings_of_another(), anonymous] {
        let forwarder = forwarded.forwarder(&settings);
        forwarder.state(|it| *it == ForwardState::Forwarding).await;
        forwarder.stop().await;
    }
    assert_eq!(rsyslog.lines().len(), 0);
}
