//! A standby that lacks the last commits becomes the primary: no checkpoint contradicts an earlier one.

use std::fs::File;
use std::path::Path;

use engine::ledger::{Renewal, SealState};
use formats::tlog::Checkpoint;
use sqlx::ConnectOptions as _;

use super::anchor::is_fork;
use super::fixture::{Kept, OwnSealer, initialize_in};
use testkit::{Cluster, PATIENCE, within};

/// A primary with five sealed records and a promoted standby that lacks the last two.
struct Failover {
    primary: Cluster,
    // Both clusters must outlive their connections.
    _standby: Cluster,
    old: Kept,
    new: Kept,
    /// The sealer of the primary.
    sealer: OwnSealer,
}

impl Failover {
    async fn new() -> Self {
        let primary = Cluster::start().await;
        let old = Kept::over(primary.through_proxy().options());
        old.initialize().await;
        let standby = primary.asynchronous_standby().await;
        let sealer = old.sealer().await;
        old.write(3).await;
        old.covered(3).await;
        within(PATIENCE, async || replicated(&standby).await == 3).await;
        standby.stop_replication().await;
        old.write(2).await;
        old.covered(5).await;
        standby.run("SELECT pg_promote()").await;
        let new = Kept::over(standby.through_proxy().options());
        new.write(2).await;
        Self { primary, _standby: standby, old, new, sealer }
    }

    /// A sealer of the promoted standby with the anchor of the primary.
    async fn successor(&self) -> OwnSealer {
        OwnSealer::start(self.new.pool.clone(), Some(&self.old.anchor())).await
    }
}

/// The size of the checkpoint that a standby has.
async fn replicated(standby: &Cluster) -> i64 {
    let mut standby = standby.past_proxy().connect().await.expect("a connection");
    let size = "SELECT checkpoint_size FROM audit_log_heads WHERE log = 1";
    let size = sqlx::query_scalar(size).fetch_optional(&mut standby).await;
    size.expect("a head").unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn sealing_stops_after_a_failover_that_lost_commits() {
    let mut failover = Failover::new().await;
    failover.primary.crash().await;
    failover.sealer.stop().await;
    let sealer = OwnSealer::start(failover.new.pool.clone(), Some(&failover.old.anchor())).await;
    sealer.state(is_fork("audit.seal.anchor")).await;
    assert_eq!(failover.new.checkpoint().await.unwrap().size, 3);

    let renewal = Renewal { origin: true, ..Renewal::default() };
    let keys = initialize_in(&failover.new.pool, renewal).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    let checkpoint = failover.new.covered(5).await;
    assert_eq!(checkpoint.origin, keys[0].name());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_primaries_one_signs() {
    let failover = Failover::new().await;
    let successor = failover.successor().await;
    successor.state(is_fork("audit.seal.anchor")).await;
    // The other primary still accepts writes.
    failover.old.write(1).await;
    failover.old.covered(6).await;
    failover.sealer.state(|state| *state == SealState::Sealing).await;
    let is_stopped = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("does not extend its checkpoint of 6 records"));
    successor.state(is_stopped).await;
    assert_eq!(failover.new.checkpoint().await.unwrap().size, 3);
}

#[tokio::test]
async fn nothing_is_signed_while_another_instance_holds_the_anchor() {
    let kept = Kept::new().await;
    let lock = kept.folder.path().join("anchor.json.lock");
    let held = File::create(Path::new(&lock)).unwrap();
    held.lock().unwrap();
    let sealer = kept.sealer().await;
    kept.write(1).await;
    let is_held = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("another instance writes the file of audit.seal.anchor"));
    sealer.state(is_held).await;
    assert_eq!(kept.checkpoint().await, None::<Checkpoint>);
    drop(held);
    kept.covered(1).await;
}

#[tokio::test]
async fn a_waiting_instance_notices_commits_that_were_lost() {
    let kept = Kept::new().await;
    let sealer = OwnSealer::start(kept.pool.clone(), None).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    let waiting = OwnSealer::start(kept.pool.clone(), None).await;
    waiting.state(|state| *state == SealState::Standby).await;
    kept.back_up().await;
    // An instance compares each checkpoint that it shows with the next ones.
    let shows = async |size: u64| {
        within(PATIENCE, async || {
            let logs = waiting.status.logs();
            logs.iter().any(|log| log.checkpoint_size == size)
        })
        .await;
    };
    shows(5).await;
    kept.write(1).await;
    kept.covered(6).await;
    shows(6).await;
    sealer.stop().await;
    kept.restore().await;
    let is_noticed = |state: &SealState| matches!(state, SealState::Failed(error) if error.ends_with("`sealward audit init --new-origin`") && error.contains("records in memory"));
    waiting.state(is_noticed).await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
}

#[tokio::test]
async fn a_waiting_instance_compares_with_the_anchor() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.back_up().await;
    sealer.stop().await;
    kept.restore().await;
    // Without the anchor, this instance does not notice that records were lost.
    let unaware = OwnSealer::start(kept.pool.clone(), None).await;
    kept.covered(5).await;
    let waiting = kept.sealer().await;
    waiting.state(is_fork("audit.seal.anchor")).await;
    assert_eq!(unaware.status.state(), SealState::Sealing);
}
