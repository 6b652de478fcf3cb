//! A database in which an audit writer writes and only this test seals.

use engine::audit::{Record, Recorder};
use engine::db::Pool;
use engine::jobs::Supervisor;
use engine::settings::Audit;
use formats::clock::{Clock, Entropy, Timestamp};
use formats::tlog::{Hash, Tree};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::audit::record;
use crate::ledger::fixture::Kept;
use testkit::write;

/// A database with an audit writer of its own.
pub(super) struct Written {
    pub(super) kept: Kept,
    recorder: Recorder,
    _jobs: Supervisor,
}

impl Written {
    pub(super) async fn new() -> Self {
        let kept = Kept::new().await;
        let pool = kept.pool.clone();
        Self::through(kept, pool)
    }

    /// With a writer that uses these connections.
    pub(super) fn through(kept: Kept, pool: Pool) -> Self {
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let (recorder, writer) = Recorder::open(clock, entropy, pool, &Audit::default());
        Self { kept, recorder, _jobs: write(writer) }
    }

    /// Writes this many records and waits for their receipts.
    pub(super) async fn write(&self, count: usize) {
        let records = (0..count).map(|number| record(&format!("r{number}")));
        self.write_all(records.collect()).await;
    }

    /// Writes a segment of one record. Returns it with its hashes.
    pub(super) async fn write_segment(&self) -> (Uuid, Vec<Hash>) {
        let before = self.segments().await;
        self.write(1).await;
        let mut after = self.segments().await;
        after.retain(|segment| !before.contains(segment));
        after.pop().expect("a segment")
    }

    /// Writes a record as an instance whose clock shows this time.
    pub(super) async fn write_at(&self, moment: Timestamp) {
        self.kept.make_day(&format!("'{moment}'::timestamptz")).await;
        self.kept.write_by(Clock::held_at(moment), 1).await;
    }

    pub(super) async fn write_all(&self, records: Vec<Record>) {
        for pending in self.submit(records) {
            pending.receipt().await.expect("a receipt");
        }
    }

    pub(super) fn submit(&self, records: Vec<Record>) -> Vec<engine::audit::Pending> {
        records.into_iter().map(|it| self.recorder.submit(it).expect("a place")).collect()
    }

    pub(super) async fn count(&self, sql: &str) -> i64 {
        let count = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
        count.fetch_one(&self.kept.owner).await.expect(sql)
    }

    /// Asserts that these many records exist, and that each is in exactly one segment.
    pub(super) async fn assert_each_in_one_segment(&self, records: i64) {
        assert_eq!(self.count("SELECT count(*) FROM crypto_operations_audit").await, records);
        let listed = "SELECT count(*) FROM audit_log_segments, unnest(ids) WHERE log = 1";
        assert_eq!(self.count(listed).await, records);
        let bare = "SELECT count(*) FROM crypto_operations_audit r WHERE NOT EXISTS (
                        SELECT FROM audit_log_segments s WHERE s.log = 1 AND r.id = ANY (s.ids))";
        assert_eq!(self.count(bare).await, 0);
    }

    /// Waits until the log has exactly these many records, each once.
    pub(super) async fn assert_sealed_once(&self, records: i64) {
        self.kept.covered(records.unsigned_abs()).await;
        let sealed = "SELECT count(DISTINCT record_id) FROM audit_log_index WHERE log = 1";
        assert_eq!(self.count(sealed).await, records);
        let missing = "SELECT count(*) FROM crypto_operations_audit r WHERE NOT EXISTS (
                           SELECT FROM audit_log_index i WHERE i.log = 1 AND i.record_id = r.id)";
        assert_eq!(self.count(missing).await, 0);
    }

    /// The flaws that were noted of the rows of a table.
    pub(super) fn flaws(&self, table: &str) -> Vec<String> {
        let findings = self.kept.pool.seals().findings().into_iter();
        let of_table = findings.filter(|finding| finding.row.table == table);
        of_table.map(|finding| finding.flaw.name().to_owned()).collect()
    }

    /// Gives a segment the next position, with a root that is right or wrong.
    pub(super) async fn position(&self, segment: Uuid, leaves: &[Hash], root: Option<Hash>) {
        let mut connection = self.kept.pool.acquire().await.expect("a connection");
        position(&mut connection, segment, leaves, root).await;
    }

    /// The waiting segments and their hashes, in order.
    pub(super) async fn segments(&self) -> Vec<(Uuid, Vec<Hash>)> {
        let rows: Vec<(Uuid, Vec<u8>)> =
            sqlx::query_as("SELECT id, hashes FROM audit_log_segments WHERE log = 1 ORDER BY id")
                .fetch_all(&self.kept.owner)
                .await
                .expect("segments");
        let hashes = |bytes: Vec<u8>| {
            bytes.chunks(32).map(|hash| Hash::try_from(hash).expect("a hash")).collect()
        };
        rows.into_iter().map(|(id, bytes)| (id, hashes(bytes))).collect()
    }
}

/// Gives a segment the next position in this session.
pub(super) async fn position(
    connection: &mut PgConnection,
    segment: Uuid,
    leaves: &[Hash],
    root: Option<Hash>,
) {
    let (size, root_before): (i64, Vec<u8>) =
        sqlx::query_as("SELECT size, root FROM audit_log_heads WHERE log = 1")
            .fetch_one(&mut *connection)
            .await
            .expect("a head");
    let mut tree = Tree::default();
    leaves.iter().for_each(|leaf| tree.append(*leaf, |_| ()));
    let sealed: Option<i64> = sqlx::query_scalar(
        "SELECT seal_audit_segments(1::smallint, origin, $1, $2, $3, ARRAY[$4], '{}', '{}', '{}')
           FROM audit_log_heads WHERE log = 1",
    )
    .bind(size)
    .bind(root_before)
    .bind(root.unwrap_or_else(|| tree.root()).as_bytes())
    .bind(segment)
    .fetch_one(connection)
    .await
    .expect("a position");
    assert!(sealed.is_some(), "the head is another one");
}
