//! The recorder confirms a record after its commit, and never loses or duplicates a record.

use std::time::Duration;

use engine::audit::{
    Endpoint, EntryFilter, Export, Format, OperationType, Operations, Outcome, Record, Recorder,
    Unrecorded, entries,
};
use engine::db::Pool;
use engine::ids::{ApiKeyId, CredentialId, ServiceId};
use engine::jobs::{Job, Supervisor};
use engine::settings::{Audit, Span};
use formats::clock::{Clock, Entropy, Timestamp};

use testkit::{Database, PATIENCE, pool, within, write};

fn open(database: &Database, clock: Clock, settings: &Audit) -> (Recorder, Supervisor) {
    let pool = pool(database.as_application());
    let (recorder, writer) = Recorder::open(clock, Entropy::system(), pool, settings);
    (recorder, write(writer))
}

/// Submits a record with this request ID and waits for the receipt.
async fn commit(recorder: &Recorder, request_id: &str) {
    let pending = recorder.submit(record(request_id)).unwrap();
    pending.receipt().await.unwrap();
}

pub(crate) fn record(request_id: &str) -> Record {
    Record {
        request_id: request_id.into(),
        service_id: Some(ServiceId::from_uuid(uuid::Uuid::from_u128(7))),
        credential_id: Some(CredentialId::ApiKey(ApiKeyId::from_uuid(uuid::Uuid::from_u128(8)))),
        token_subject: None,
        operation_type: Some(OperationType::Hash),
        endpoint: Some(Endpoint::Operations),
        policy_number: None,
        key_id: None,
        ctx: None,
        payload_size_bytes: 12,
        response_status: 200,
        arrived: Duration::ZERO,
        error_code: None,
        outcome: Outcome::Done,
        error_message: None,
        client_address: Some([127, 0, 0, 1].into()),
        item: None,
        sealing: None,
    }
}

pub(super) async fn count(db: &Pool, request_id: &str) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM crypto_operations_audit WHERE request_id = $1")
        .bind(request_id)
        .fetch_one(db)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_receipt_requires_a_committed_record() {
    let database = Database::new().await;
    let db = database.pool();
    let (recorder, mut jobs) = open(&database, Clock::system(), &Audit::default());
    let pending: Vec<_> =
        (0..1_000).map(|number| recorder.submit(record(&format!("r{number}"))).unwrap()).collect();
    for pending in pending {
        pending.receipt().await.unwrap();
    }
    for number in [0, 1, 511, 512, 999] {
        assert_eq!(count(&db, &format!("r{number}")).await, 1);
    }
    assert_eq!(recorder.is_healthy(), Some(true));
    assert!(jobs.finish(Job::AuditWriter, Duration::from_secs(5)).await);
    assert_eq!(recorder.submit(record("after")).err(), Some(Unrecorded::Closed));
}

#[tokio::test]
async fn a_submitted_record_is_committed_without_a_waiter() {
    let database = Database::new().await;
    let db = database.pool();
    let (recorder, mut jobs) = open(&database, Clock::system(), &Audit::default());
    drop(recorder.submit(record("gone")).unwrap());
    assert!(jobs.finish(Job::AuditWriter, Duration::from_secs(5)).await);
    assert_eq!(count(&db, "gone").await, 1);
}

#[tokio::test]
async fn a_record_that_the_database_refuses_does_not_affect_other_records() {
    let database = Database::new().await;
    let db = database.pool();
    sqlx::raw_sql(
        "ALTER TABLE crypto_operations_audit ADD CONSTRAINT poison CHECK (request_id <> 'poison')",
    )
    .execute(&db)
    .await
    .unwrap();
    let (recorder, _jobs) = open(&database, Clock::system(), &Audit::default());
    let pending: Vec<_> = (0..100)
        .map(|number| match number {
            37 => recorder.submit(record("poison")).unwrap(),
            _ => recorder.submit(record("good")).unwrap(),
        })
        .collect();
    for (number, pending) in pending.into_iter().enumerate() {
        let receipt = pending.receipt().await;
        let refused = (number == 37).then_some(Unrecorded::Refused);
        assert_eq!(receipt.err(), refused, "{number}");
    }
    assert_eq!(count(&db, "good").await, 99);
}

#[tokio::test]
async fn a_commit_with_an_unknown_outcome_is_retried_without_duplicates() {
    let database = Database::new().await;
    let db = database.pool();
    let (recorder, _jobs) = open(&database, Clock::system(), &Audit::default());
    commit(&recorder, "warm").await;
    let mut killed = 0;
    for round in 0..20 {
        let name = format!("round {round}");
        let pending: Vec<_> = (0..5).map(|_| recorder.submit(record(&name)).unwrap()).collect();
        tokio::task::yield_now().await;
        killed += sqlx::query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND query LIKE '%INTO crypto_operations_audit%' AND query NOT LIKE '%pg_terminate%'",
        )
        .execute(&db)
        .await
        .unwrap()
        .rows_affected();
        for pending in pending {
            pending.receipt().await.unwrap();
        }
        assert_eq!(count(&db, &name).await, 5);
    }
    assert!(killed > 0, "no commit was interrupted");
}

#[tokio::test]
async fn late_and_excess_records_are_refused_and_queued_records_are_written() {
    let database = Database::new().await;
    let db = database.pool();
    let (recorder, _jobs) = open(
        &database,
        Clock::system(),
        &Audit { queue: 4, deadline: Span::millis(500), ..Audit::default() },
    );
    // Records can be late until the writer has processed the queue.
    let is_accepted = async |name: &str| match recorder.submit(record(name)) {
        Ok(pending) => pending.receipt().await.is_ok(),
        Err(_) => false,
    };
    within(PATIENCE, async || is_accepted("warm").await).await;
    let mut lock = db.begin().await.unwrap();
    sqlx::query("LOCK TABLE crypto_operations_audit IN EXCLUSIVE MODE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let mut accepted = 0;
    let refused = loop {
        match recorder.submit(record("waiting")) {
            Ok(pending) => {
                accepted += 1;
                assert_eq!(pending.receipt().await.err(), Some(Unrecorded::Late));
            }
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, Unrecorded::Full | Unrecorded::Out), "{refused:?}");
    assert_eq!(recorder.is_healthy(), Some(false));
    lock.rollback().await.unwrap();
    within(PATIENCE, async || count(&db, "waiting").await == accepted).await;
    within(PATIENCE, async || is_accepted("well").await).await;
    assert_eq!(recorder.is_healthy(), Some(true));
}

#[tokio::test]
async fn the_audit_log_is_paged_with_the_newest_record_first() {
    let database = Database::new().await;
    let db = database.pool();
    let clock = Clock::held_at(Timestamp::from_millis(1_772_582_399_000));
    let (recorder, _jobs) = open(&database, clock.clone(), &Audit::default());
    for number in 0..25 {
        commit(&recorder, &format!("p{number}")).await;
        // Some records in the same millisecond, and some on both sides of midnight.
        if number % 3 == 0 {
            clock.advance(Duration::from_millis(200));
        }
    }
    let filter =
        EntryFilter { operation_type: Some(OperationType::Hash), ..EntryFilter::default() };
    // An hour later, the first of the two days is closed and is queried separately.
    let later = clock.now().plus(Duration::from_secs(60 * 60));
    for now in [clock.now(), later] {
        let mut read = Vec::new();
        let mut older_than = None;
        loop {
            let page = entries(&db, now, &filter, older_than, 7).await.unwrap();
            older_than = page.last().map(|last| last.id);
            let is_last = page.len() < 7;
            read.extend(page);
            if is_last {
                break;
            }
        }
        assert_eq!(read.len(), 25);
        assert!(read.is_sorted_by(|a, b| (a.timestamp, a.id) > (b.timestamp, b.id)));
    }
    let days: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'crypto_operations_audit'::regclass",
    )
    .fetch_one(&db)
    .await
    .unwrap();
    assert_eq!(days, 2);

    let source = Operations::new(db.clone(), later, filter);
    let mut export = Export::new(source, Format::Ndjson);
    let mut file = Vec::new();
    while let Some(chunk) = export.next().await.unwrap() {
        file.extend(chunk);
    }
    assert_eq!(file.iter().filter(|byte| **byte == b'\n').count(), 25);
}

#[tokio::test]
async fn a_thousand_requests_over_their_rate_limit_are_recorded_each_second() {
    let database = Database::new().await;
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let (recorder, _jobs) = open(&database, clock.clone(), &Audit::default());
    for _ in 0..2 {
        for _ in 0..1_000 {
            assert!(recorder.submit_over_limit(record("over")).is_ok());
        }
        let refused = recorder.submit_over_limit(record("over"));
        assert_eq!(refused.err(), Some(Unrecorded::Full));
        assert!(recorder.submit(record("within")).is_ok());
        clock.advance(Duration::from_secs(1));
    }
}

#[tokio::test]
async fn requests_over_their_rate_limit_use_half_of_the_queue() {
    let database = Database::new().await;
    let settings = Audit { queue: 4, ..Audit::default() };
    // The records stay in the queue, because nothing runs the writer.
    let (recorder, _jobs) = open(&database, Clock::system(), &settings);
    for _ in 0..3 {
        assert!(recorder.submit_over_limit(record("over")).is_ok());
    }
    let refused = recorder.submit_over_limit(record("over"));
    assert_eq!(refused.err(), Some(Unrecorded::Full));
    assert!(recorder.submit(record("within")).is_ok());
    let refused = recorder.submit(record("within"));
    assert_eq!(refused.err(), Some(Unrecorded::Full));
}
