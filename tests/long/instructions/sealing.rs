//! The audit writer and the sealer, for each record.

use std::time::Duration;

use engine::audit::{Recorder, Writer};
use engine::db::Pool;
use engine::ledger::{self, Log, Renewal, SealStatus, Sealer};
use engine::settings::{Audit, Seal};
use formats::clock::{Clock, Entropy};
use testkit::{Database, pool, protect_record, pulse, token, within};

use crate::callgrind::{self, Counted};

/// The records of one transaction, as at 64 connections.
const TRANSACTION: usize = 35;

/// The records that the sealer seals at once, so that its rounds without records do not count.
const SEALED: usize = 100 * TRANSACTION;

/// A sealer that waits for Postgres has more rounds, so the smallest count of several is valid.
const SEALERS: usize = 3;

/// Programs are slow under callgrind.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) async fn count(batches: usize) {
    let database = Database::new().await;
    let pool = pool(database.as_application());
    let time = (&Clock::system(), &Entropy::system());
    let made = ledger::initialize(&pool, &token().await, time, "it", Renewal::default()).await;
    made.expect("two logs");
    let (recorder, writer) =
        Recorder::open(Clock::system(), Entropy::system(), pool.clone(), &Audit::default());
    let writing = tokio::spawn(Counted::of(run_writer(writer)));
    write(&recorder, 2).await;
    callgrind::start();
    for _ in 0..batches {
        write(&recorder, 1).await;
        callgrind::dump("audit-write", TRANSACTION);
    }
    callgrind::stop();
    write(&recorder, SEALED / TRANSACTION - batches - 2).await;
    for sealer in 1..=SEALERS {
        seal(&pool, sealer * SEALED).await;
        write(&recorder, SEALED / TRANSACTION).await;
    }
    writing.abort();
}

async fn run_writer(mut writer: Writer) {
    writer.run(pulse()).await;
}

/// Writes this many transactions.
async fn write(recorder: &Recorder, transactions: usize) {
    for _ in 0..transactions {
        let submit = |_| recorder.submit(protect_record(Duration::ZERO)).expect("a place");
        let pending: Vec<_> = (0..TRANSACTION).map(submit).collect();
        for pending in pending {
            pending.receipt().await.expect("a receipt");
        }
    }
}

/// Seals records until the log has this size.
async fn seal(pool: &Pool, size: usize) {
    let settings = Seal::default();
    let status = SealStatus::new(Clock::system(), settings.interval.0);
    let sealer = Sealer::new(pool.clone(), token().await, &settings, status);
    let mut sealer = sealer.expect("settings in order");
    callgrind::start();
    let sealing = tokio::spawn(Counted::of(async move { match sealer.run(pulse()).await {} }));
    within(PATIENCE, async || {
        let note = ledger::checkpoint(pool, Log::Operations).await.expect("the log");
        note.is_some_and(|note| note.lines().nth(1) == Some(&size.to_string()))
    })
    .await;
    callgrind::dump("audit-seal", SEALED);
    callgrind::stop();
    sealing.abort();
    // Its connection ends with it, so that the next sealer leads.
    let _ = sealing.await;
}
