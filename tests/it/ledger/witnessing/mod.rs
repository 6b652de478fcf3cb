//! Witnesses cosign checkpoints.

mod anchor;
mod foreign;

use std::time::Duration;

use engine::ledger::verify::{self, Trust};
use engine::ledger::{self, InvalidWitness, Log, SealState, WitnessStatus};
use engine::settings::{Seal, SealWitness, Span};
use formats::clock::Clock;
use formats::tlog::{Checkpoint, Note, VerifierKey};

use super::fixture::{Kept, OwnSealer};
use super::witness_server::{Behavior, WitnessServer};
use testkit::{PATIENCE, within};

impl Kept {
    async fn log_key(&self) -> VerifierKey {
        let keys = ledger::keys(&self.pool, Log::Operations).await.unwrap();
        keys.unwrap().remove(0)
    }

    async fn witness(&self, name: &str) -> WitnessServer {
        WitnessServer::new(name, self.log_key().await).await
    }

    async fn sealer_with(&self, witnesses: &[SealWitness]) -> OwnSealer {
        let settings = Seal {
            witnesses: witnesses.to_vec(),
            publish: true,
            publish_interval: Span::millis(10),
            ..Seal::default()
        };
        OwnSealer::with(self.pool.clone(), settings).await
    }

    async fn note(&self) -> Option<Note> {
        let note = ledger::checkpoint(&self.pool, Log::Operations).await;
        note.unwrap().map(|note| note.parse().unwrap())
    }

    /// Waits until the served checkpoint of `size` records is cosigned by this witness.
    async fn cosigned(&self, size: u64, witness: &WitnessServer) {
        self.cosigned_by(size, &witness.key()).await;
    }

    async fn cosigned_by(&self, size: u64, key: &VerifierKey) {
        within(PATIENCE, async || {
            let note = self.note().await;
            note.is_some_and(|note| {
                let checkpoint: Checkpoint = note.text().parse().unwrap();
                checkpoint.size == size && note.is_signed_by(key)
            })
        })
        .await;
    }
}

impl OwnSealer {
    /// Waits until the status of a witness of the operations log is as expected.
    async fn witness(&self, name: &str, is_so: impl Fn(&WitnessStatus) -> bool) -> WitnessStatus {
        let read = || {
            let logs = self.status.logs();
            let log = logs.into_iter().find(|it| it.log == Log::Operations)?;
            log.witnesses.into_iter().find(|it| it.name == name)
        };
        within(PATIENCE, async || read().is_some_and(|it| is_so(&it))).await;
        read().unwrap()
    }
}

#[tokio::test]
async fn witnesses_cosign_each_checkpoint_that_extends_the_last() {
    let kept = Kept::new().await;
    let one = kept.witness("witness.example/1").await;
    let two = kept.witness("witness.example/2").await;
    let sealer = kept.sealer_with(&[one.settings(), two.settings()]).await;
    for size in [3, 300, 301] {
        let checkpoint = kept.checkpoint().await.map_or(0, |it| it.size);
        kept.record(usize::try_from(size - checkpoint).unwrap()).await;
        kept.cosigned(size, &one).await;
        kept.cosigned(size, &two).await;
    }
    within(PATIENCE, async || {
        let note = kept.published().await;
        let note = note.map(|note| note.parse::<Note>().unwrap());
        note.is_some_and(|note| note.is_signed_by(&one.key()) && note.is_signed_by(&two.key()))
    })
    .await;
    let status = sealer.witness("witness.example/1", |it| it.size == 301).await;
    assert!(status.cosigned_at.is_some());
    assert_eq!(status.failure, None);
}

#[tokio::test]
async fn a_witness_corrects_the_size_that_it_has_cosigned() {
    let kept = Kept::new().await;
    let witness = kept.witness("witness.example/w").await;
    let sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(3).await;
    kept.cosigned(3, &witness).await;
    sealer.stop().await;
    kept.execute("DELETE FROM audit_log_witnesses").await;
    let before = witness.asked().len();

    let _sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(2).await;
    kept.cosigned(5, &witness).await;
    assert_eq!(witness.asked()[before..], [0, 3]);
}

#[tokio::test]
async fn only_valid_cosignatures_with_a_time_are_served() {
    let kept = Kept::new().await;
    let good = kept.witness("witness.example/good").await;
    let bad = kept.witness("witness.example/bad").await;
    for (size, behavior) in [(1, Behavior::Wrong), (2, Behavior::Timeless)] {
        bad.behave(behavior);
        let sealer = kept.sealer_with(&[bad.settings(), good.settings()]).await;
        kept.record(1).await;
        kept.cosigned(size, &good).await;
        let status = sealer.witness("witness.example/bad", |it| it.failure.is_some()).await;
        let failure = status.failure.unwrap();
        assert!(failure.contains("no valid cosignature"), "{failure}");
        let note = kept.note().await.unwrap();
        let names: Vec<_> = note.signatures().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(!names.contains(&"witness.example/bad"), "{names:?}");
        sealer.stop().await;
        kept.execute("DELETE FROM audit_log_witnesses").await;
    }
}

#[tokio::test]
async fn a_witness_that_does_not_answer_delays_nothing() {
    let kept = Kept::new().await;
    let (silent, good) =
        (kept.witness("witness.example/silent").await, kept.witness("witness.example/good").await);
    silent.behave(Behavior::Silent);
    let away = SealWitness {
        url: "http://127.0.0.1:1".to_owned(),
        ..kept.witness("witness.example/away").await.settings()
    };
    let witnesses = [silent.settings(), away, good.settings()];
    let sealer = kept.sealer_with(&witnesses).await;
    let mut size = 0;
    let mut seal_one = async || {
        size += 1;
        kept.record(1).await;
        within(PATIENCE, async || sealer_size(&kept).await == size).await;
    };
    // A checkpoint is signed while the request with an earlier one waits.
    within(PATIENCE, async || {
        seal_one().await;
        within(PATIENCE, async || silent.unanswered().is_some()).await;
        let waiting = silent.unanswered();
        seal_one().await;
        waiting.is_some() && silent.unanswered() == waiting
    })
    .await;
    for name in ["witness.example/silent", "witness.example/away"] {
        let status = sealer.witness(name, |it| it.failure.is_some()).await;
        let failure = status.failure.unwrap();
        assert!(failure.contains("does not answer"), "{failure}");
    }
    kept.cosigned(size, &good).await;
    sealer.state(|state| *state == SealState::Sealing).await;

    silent.behave(Behavior::Correct);
    kept.cosigned(size, &silent).await;
}

/// The size of the latest signed checkpoint.
async fn sealer_size(kept: &Kept) -> u64 {
    let sql = "SELECT checkpoint_size FROM audit_log_heads WHERE log = 1";
    let size: i64 = sqlx::query_scalar(sql).fetch_one(&kept.owner).await.unwrap();
    size.unsigned_abs()
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let kept = Kept::new().await;
    let witness = kept.witness("witness.example/w").await;
    let unknown = WitnessServer::new("witness.example/x", witness.key()).await;
    let broken = kept.witness("witness.example/b").await;
    witness.behave(Behavior::Ignorant);
    broken.behave(Behavior::Broken);
    let witnesses = [witness.settings(), unknown.settings(), broken.settings()];
    let sealer = kept.sealer_with(&witnesses).await;
    kept.record(1).await;
    for (name, expected) in [
        ("witness.example/w", "register its origin and public key"),
        ("witness.example/x", "register its public key"),
        ("witness.example/b", "answered 502"),
    ] {
        let status = sealer.witness(name, |it| it.failure.is_some()).await;
        let failure = status.failure.unwrap();
        assert!(failure.contains(expected), "{failure}");
    }
}

#[tokio::test]
async fn a_witness_of_another_history_does_not_cosign() {
    let kept = Kept::new().await;
    let witness = kept.witness("witness.example/w").await;
    let sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(3).await;
    kept.cosigned(3, &witness).await;
    witness.forget_roots();
    kept.record(1).await;
    let status = sealer.witness("witness.example/w", |it| it.failure.is_some()).await;
    let failure = status.failure.unwrap();
    assert!(failure.contains("does not extend"), "{failure}");
    assert_eq!(status.size, 3);
}

/// The login of the service can change the table of the answers.
#[tokio::test]
async fn an_answer_in_the_database_does_not_hide_what_a_witness_says() {
    let kept = Kept::new().await;
    let witness = kept.witness("witness.example/w").await;
    let sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(3).await;
    kept.cosigned(3, &witness).await;
    witness.forget_roots();
    kept.record(1).await;
    sealer.witness("witness.example/w", |it| it.failure.is_some()).await;

    let forged = "CREATE FUNCTION forge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                      NEW.failure = NULL; NEW.size = 4; NEW.cosigned_at = now(); RETURN NEW; END $$;
                  CREATE TRIGGER forge BEFORE INSERT OR UPDATE ON audit_log_witnesses
                      FOR EACH ROW EXECUTE FUNCTION forge();
                  UPDATE audit_log_witnesses SET failure = NULL";
    kept.execute(forged).await;
    kept.record(1).await;
    // The sealer has read the answers after it has counted these records.
    within(PATIENCE, async || {
        let logs = sealer.status.logs();
        logs.iter().any(|it| it.log == Log::Operations && it.checkpoint_size == 5)
    })
    .await;
    let status = sealer.witness("witness.example/w", |_| true).await;
    assert!(status.failure.is_some_and(|it| it.contains("does not extend")));
    assert_eq!(status.size, 3);
    sealer.stop().await;

    // So does an instance that starts.
    let sealer = kept.sealer_with(&[witness.settings()]).await;
    sealer.witness("witness.example/w", |it| it.failure.is_some()).await;
}

#[tokio::test]
async fn a_verifier_can_require_cosignatures() {
    let kept = Kept::new().await;
    let witness = kept.witness("witness.example/w").await;
    let _sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(2).await;
    kept.cosigned(2, &witness).await;
    let note = kept.note().await.unwrap();
    let log = kept.log_key().await.to_string();
    let add = |witness: &VerifierKey, note: &str| {
        let mut trust = Trust::new(&log).unwrap();
        trust.require_witnesses(&witness.to_string())?;
        trust.add(note)
    };
    add(&witness.key(), &note.to_string()).unwrap();

    let other = kept.witness("witness.example/other").await;
    let missing = add(&other.key(), &note.to_string()).unwrap_err();
    assert_eq!(missing.exit_code(), 2, "{missing}");
    assert!(missing.to_string().contains("witness.example/other"));

    let mut signatures = note.signatures().to_vec();
    *signatures.last_mut().unwrap().bytes.last_mut().unwrap() ^= 1;
    let forged = Note::new(note.text().to_owned(), signatures).unwrap();
    let invalid = add(&witness.key(), &forged.to_string()).unwrap_err();
    assert_eq!(invalid.exit_code(), 1, "{invalid}");
    let expected = "invalid cosignature of witness.example/w";
    assert!(invalid.to_string().contains(expected), "{invalid}");

    let of_a_log = add(&kept.log_key().await, &note.to_string()).unwrap_err();
    assert_eq!(of_a_log.exit_code(), 2, "{of_a_log}");
    let export = kept.export().await.join("\n");
    let mut trust = Trust::new(&log).unwrap();
    trust.require_witnesses(&witness.key().to_string()).unwrap();
    trust.add(&note.to_string()).unwrap();
    let verified = verify::export(&trust, export.as_bytes(), None, &mut |_| ()).unwrap();
    assert_eq!(verified.covered, 2);
}

#[tokio::test]
async fn settings_of_witnesses_are_checked_before_the_service_starts() {
    let kept = Kept::new().await;
    let status = ledger::SealStatus::new(Clock::system(), Duration::from_secs(1));
    let token = testkit::token().await;
    let valid = kept.witness("witness.example/w").await.settings();
    let started = |witness: SealWitness| {
        let settings = Seal { witnesses: vec![valid.clone(), witness], ..Seal::default() };
        ledger::Sealer::new(kept.pool.clone(), token.clone(), &settings, status.clone())
    };
    assert!(started(valid.clone()).is_ok());
    let key = |key: String| SealWitness { key, ..valid.clone() };
    let of_a_log = started(key(kept.log_key().await.to_string()));
    assert!(matches!(of_a_log, Err(InvalidWitness::Kind(1))));
    let cut = started(key("witness.example/w".to_owned()));
    assert!(matches!(cut, Err(InvalidWitness::Key { place: 1, .. })));
    let without_ca =
        started(SealWitness { ca: Some(kept.folder.path().join("missing")), ..valid.clone() });
    let error = without_ca.err().expect("a missing file").to_string();
    assert!(error.starts_with("audit.seal.witnesses[1].ca: "), "{error}");
}
