//! A process with a low descriptor limit.

use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use tokio::net::TcpStream;

use crate::faults::fixture::Fixture;
use crate::faults::load::Action;
use testkit::{PATIENCE, within};

/// Sets the descriptor limit of the process.
fn set_limit(fixture: &Fixture, descriptors: u64) {
    let process = i32::try_from(fixture.process().id()).expect("a process id");
    let limit = Rlimit { current: Some(descriptors), ..getrlimit(Resource::Nofile) };
    prlimit(Pid::from_raw(process), Resource::Nofile, limit).expect("a limit");
}

fn descriptors(fixture: &Fixture) -> u64 {
    let folder = format!("/proc/{}/fd", fixture.process().id());
    let open = std::fs::read_dir(folder).expect("its descriptors").count();
    u64::try_from(open).expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn client_connections_do_not_use_reserved_descriptors() {
    let fixture = Fixture::with_descriptors(64).await;
    let slots = fixture.metric("sealward_http_connections_limit");
    assert!((1.0..16.0).contains(&slots), "{slots}");
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    // More connections than slots and descriptors.
    let mut connections = Vec::new();
    for _ in 0..100 {
        connections.push(TcpStream::connect(&fixture.client.address).await.expect("a connection"));
    }
    within(PATIENCE, async || fixture.metric("sealward_http_connections_waits_total") > 0.0).await;
    for part in ["sealward_database_up", "sealward_audit_up"] {
        within(PATIENCE, async || fixture.metric(part) > 0.0).await;
    }
    assert!(descriptors(&fixture) <= 64);
    drop(connections);
    load.is_served(&Action::ALL).await;
    assert!(!fixture.process().log().contains("cannot accept"));

    // If descriptors run out, connections are accepted again when some are free.
    set_limit(&fixture, descriptors(&fixture).min(20));
    within(PATIENCE, async || {
        let connecting = TcpStream::connect(&fixture.client.address).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(connecting);
        fixture.process().log().contains("cannot accept")
    })
    .await;
    set_limit(&fixture, 1024);
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}
