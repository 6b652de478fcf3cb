//! The audit writer ends with records in flight and in the queue: none is lost and none is written twice.

use std::time::Duration;

use engine::audit::{Record, Recorder, Unrecorded};
use engine::db::Pool;
use engine::jobs::fault::End;
use engine::jobs::{Board, Job, Supervisor};
use engine::settings::{Audit, Span};
use formats::clock::{Clock, Entropy};

use sqlx::{Postgres, Transaction};

use super::recorder::{count, record};
use testkit::{Database, PATIENCE, pool, within};

/// A recorder whose writer a test ends.
struct Restarting {
    recorder: Recorder,
    board: Board,
    db: Pool,
    // The jobs must be dropped before the database.
    _jobs: Supervisor,
    _database: Database,
}

impl Restarting {
    async fn start() -> Self {
        let database = Database::new().await;
        let settings = Audit {
            // A loaded machine does not reach it.
            deadline: Span(PATIENCE),
            ..Audit::default()
        };
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let service = pool(database.as_application());
        let (recorder, writer) = Recorder::open(clock.clone(), entropy, service, &settings);
        let board = Board::new(clock);
        let mut jobs = Supervisor::new(board.clone());
        jobs.run_with(writer.spec(), writer, |writer, pulse| Box::pin(writer.run(pulse)));
        let restarting =
            Self { recorder, board, db: database.pool(), _jobs: jobs, _database: database };
        restarting.commit(record("warm")).await.unwrap();
        restarting
    }

    async fn commit(&self, record: Record) -> Result<(), Unrecorded> {
        let pending = self.recorder.submit(record)?;
        pending.receipt().await.map(drop)
    }

    /// Lets inserts wait.
    async fn block(&self) -> Transaction<'static, Postgres> {
        let mut lock = self.db.begin().await.unwrap();
        sqlx::query("LOCK TABLE crypto_operations_audit IN EXCLUSIVE MODE")
            .execute(&mut *lock)
            .await
            .unwrap();
        lock
    }

    /// Waits until this number of inserts wait for the lock. The server goes on with the insert of a writer
    /// that has ended.
    async fn in_flight(&self, inserts: i64) {
        within(PATIENCE, async || {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'
                    AND query LIKE '%INSERT INTO crypto_operations_audit%'",
            )
            .fetch_one(&self.db)
            .await
            .unwrap();
            waiting == inserts
        })
        .await;
    }

    /// Ends the writer once.
    async fn end(&self, end: End) {
        let before = self.board.failures(Job::AuditWriter);
        self.board.arm(Job::AuditWriter, end);
        within(PATIENCE, async || self.board.failures(Job::AuditWriter) > before).await;
        self.board.disarm(Job::AuditWriter);
    }
}

#[tokio::test]
async fn records_in_flight_and_in_the_queue_are_written_once() {
    for end in [End::Panic, End::Return] {
        let restarting = Restarting::start().await;
        let lock = restarting.block().await;
        let submit = |name: &str| restarting.recorder.submit(record(name)).unwrap();
        let mut pending: Vec<_> = (0..3).map(|_| submit("in flight")).collect();
        restarting.in_flight(1).await;
        pending.extend((0..600).map(|_| submit("queued")));
        restarting.end(end).await;
        pending.extend((0..3).map(|_| submit("later")));
        restarting.in_flight(2).await;
        lock.rollback().await.unwrap();
        for pending in pending {
            pending.receipt().await.unwrap();
        }
        for (name, expected) in [("in flight", 3), ("queued", 600), ("later", 3)] {
            assert_eq!(count(&restarting.db, name).await, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn a_record_that_ends_the_writer_each_time_is_refused_and_the_others_are_written() {
    let restarting = Restarting::start().await;
    let lock = restarting.block().await;
    let refused = restarting.recorder.submit(record("refused")).unwrap();
    for inserts in 1..=3 {
        restarting.in_flight(inserts).await;
        restarting.end(End::Panic).await;
    }
    assert_eq!(refused.receipt().await.err(), Some(Unrecorded::Refused));
    lock.rollback().await.unwrap();
    restarting.commit(record("other")).await.unwrap();
    assert_eq!(count(&restarting.db, "other").await, 1);
}

#[tokio::test]
async fn readiness_of_the_recorder_is_unknown_without_its_writer() {
    let database = Database::new().await;
    let clock = Clock::held_at(formats::clock::Timestamp::from_millis(1_900_000_000_000));
    let service = pool(database.as_application());
    let opened = Recorder::open(clock.clone(), Entropy::system(), service, &Audit::default());
    let (recorder, writer) = opened;
    assert_eq!(recorder.is_healthy(), Some(true));
    clock.advance(writer.spec().period() + Duration::from_millis(1));
    assert_eq!(recorder.is_healthy(), None);
}
