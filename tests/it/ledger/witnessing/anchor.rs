//! A witness as the anchor of a log.

use engine::ledger::{self, Log, Renewal, SealState};
use engine::settings::{Seal, SealAnchor};

use super::super::anchor::is_fork;
use super::super::fixture::{Kept, OwnSealer, initialize_in};
use super::super::witness_server::{Behavior, WitnessServer};
use testkit::{PATIENCE, within};

/// A witness of both logs that is the anchor, and the settings with it.
async fn anchored(kept: &Kept) -> (WitnessServer, Seal) {
    let witness = kept.witness("witness.example/w").await;
    let keys = ledger::keys(&kept.pool, Log::Management).await.unwrap();
    witness.register(keys.unwrap().remove(0));
    let settings = Seal {
        witnesses: vec![witness.settings()],
        anchor: Some(SealAnchor::Witness("witness.example/w".to_owned())),
        ..Seal::default()
    };
    (witness, settings)
}

#[tokio::test]
async fn a_restored_backup_does_not_extend_what_the_witness_cosigned() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    let start = async || OwnSealer::with(kept.pool.clone(), settings.clone()).await;
    let sealer = start().await;
    kept.back_up().await;
    kept.cosigned(5, &witness).await;
    sealer.stop().await;
    kept.restore().await;

    let sealer = start().await;
    sealer.state(is_fork("audit.seal.anchor")).await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);

    let renewal = Renewal { origin: true, ..Renewal::default() };
    let keys = initialize_in(&kept.pool, renewal).await;
    let is_unknown = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("register its public key"));
    sealer.state(is_unknown).await;
    for key in &keys {
        witness.register(key.clone());
    }
    sealer.state(|state| *state == SealState::Sealing).await;
    kept.cosigned(5, &witness).await;
    assert_eq!(witness.size(keys[0].name()), 5);
}

#[tokio::test]
async fn another_history_of_the_same_size_is_not_the_one_that_the_witness_cosigned() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    let sealer = OwnSealer::with(kept.pool.clone(), settings.clone()).await;
    kept.back_up().await;
    kept.cosigned(5, &witness).await;
    sealer.stop().await;
    kept.restore().await;
    let without_anchor = OwnSealer::start(kept.pool.clone(), None).await;
    kept.covered(5).await;
    without_anchor.stop().await;

    let sealer = OwnSealer::with(kept.pool.clone(), settings).await;
    sealer.state(is_fork("audit.seal.anchor")).await;
}

#[tokio::test]
async fn a_waiting_instance_asks_the_witness_of_the_anchor() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    let sealer = OwnSealer::with(kept.pool.clone(), settings.clone()).await;
    kept.back_up().await;
    kept.cosigned(5, &witness).await;
    sealer.stop().await;
    kept.restore().await;
    // Without the anchor, this instance does not notice that records were lost.
    let unaware = OwnSealer::start(kept.pool.clone(), None).await;
    kept.covered(5).await;
    let waiting = OwnSealer::with(kept.pool.clone(), settings).await;
    waiting.state(is_fork("audit.seal.anchor")).await;
    assert_eq!(unaware.status.state(), SealState::Sealing);
}

#[tokio::test]
async fn sealing_begins_when_the_witness_of_the_anchor_answers() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    witness.behave(Behavior::Broken);
    let sealer = OwnSealer::with(kept.pool.clone(), settings).await;
    let is_refused = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("did not confirm the latest checkpoint"));
    sealer.state(is_refused).await;
    kept.record(1).await;
    assert_eq!(kept.checkpoint().await, None);
    witness.behave(Behavior::Correct);
    kept.covered(1).await;
}

#[tokio::test]
async fn clients_read_what_the_witness_of_the_anchor_has_cosigned() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    let sealer = OwnSealer::with(kept.pool.clone(), settings).await;
    kept.record(3).await;
    kept.cosigned(3, &witness).await;
    witness.behave(Behavior::Broken);
    kept.record(2).await;
    let is_unconfirmed = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("did not confirm the latest checkpoint"));
    sealer.state(is_unconfirmed).await;
    // Records are sealed meanwhile.
    within(PATIENCE, async || {
        let size = "SELECT size FROM audit_log_heads WHERE log = 1";
        let size = sqlx::query_scalar::<_, i64>(size).fetch_one(&kept.owner);
        size.await.unwrap() == 5
    })
    .await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
    witness.behave(Behavior::Correct);
    kept.cosigned(5, &witness).await;
    sealer.state(|state| *state == SealState::Sealing).await;
}

#[tokio::test]
async fn a_process_that_ended_before_it_stored_a_cosigned_checkpoint_is_continued() {
    let kept = Kept::new().await;
    let (witness, settings) = anchored(&kept).await;
    let sealer = OwnSealer::with(kept.pool.clone(), settings.clone()).await;
    kept.back_up().await;
    kept.cosigned(5, &witness).await;
    sealer.stop().await;
    kept.execute(
        "UPDATE audit_log_heads h SET checkpoint = b.checkpoint, checkpoint_size = b.checkpoint_size,
                                      cosigned = NULL, cosigned_size = 0, cosigned_at = NULL
           FROM backup b WHERE b.log = h.log",
    )
    .await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
    let sealer = OwnSealer::with(kept.pool.clone(), settings).await;
    kept.cosigned(5, &witness).await;
    sealer.state(|state| *state == SealState::Sealing).await;
}
