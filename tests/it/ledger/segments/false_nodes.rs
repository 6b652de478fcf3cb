//! The login of the service computes the nodes and the root of what it gives positions to. No command of an operator may
//! accept false ones: they would prove false records.

use engine::ledger::verify::{self, Change, Finding, NotVerified, Trust, VerifiedLog};
use engine::ledger::{
    InitError, Initialized, Log, Renewal, SealState, checkpoint, initialize, take_back,
};
use formats::clock::{Clock, Entropy};
use formats::tlog::Hash;
use sqlx::AssertSqlSafe;
use testkit::{Site, token};

use super::fixture::Written;

/// Fills the first tile with a segment that no instance wrote, under a false node, which is also the root.
const FILL: &str = "
    INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
    SELECT 1, ids[cardinality(ids)], ids, decode(repeat('11', 32 * cardinality(ids)), 'hex'), decode($1 || repeat('22', 32), 'hex')
      FROM (SELECT array_agg(('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid ORDER BY n) AS ids
              FROM audit_log_heads, generate_series(1, 256 - size) AS n WHERE log = 1) AS filling";
const GIVE_POSITION: &str = "
    SELECT seal_audit_segments(1::smallint, h.origin, h.size, h.root, $1, ARRAY[s.id], '{1}', '{0}', ARRAY[$1])
      FROM audit_log_heads h, audit_log_segments s
     WHERE h.log = 1 AND s.log = 1 AND s.id < '01900000-0000-7000-8001-000000000000'";

/// Names a sealed record again, with another hash.
const REPEAT: &str = "
    INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
    SELECT 1, end_id, ARRAY[id, end_id], decode(repeat('33', 64), 'hex'), decode('00000001' || repeat('22', 32), 'hex')
      FROM (SELECT id, (left(id::text, 14) || '7fff-bfff-ffffffffffff')::uuid AS end_id
              FROM crypto_operations_audit ORDER BY id LIMIT 1) AS record";
/// A segment a minute after the first forged one, under a row key that no token ever had: between the two, sealing was not
/// interrupted.
const NEIGHBOUR: &str = "
    INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
    SELECT 1, id, ARRAY[id], sha256(''), decode('00000063' || repeat('22', 32), 'hex')
      FROM (SELECT '01900000-ea60-7000-8000-000000000000'::uuid AS id) AS named";
const GIVE_LAST_POSITIONS: &str = "
    SELECT seal_audit_segments(1::smallint, h.origin, h.size, h.root, $1, s.ids, '{}', '{}', '{}')
      FROM audit_log_heads h, (SELECT array_agg(id) AS ids FROM audit_log_segments
                                WHERE log = 1 AND (id::text LIKE '01900000-ea60%' OR id::text LIKE '%bfff-ffffffffffff')) AS s
     WHERE h.log = 1";

/// A record of an old day with an identifier of a forged segment.
const NAMED_LATER: &str = "
    SELECT make_audit_day('2024-06-10');
    INSERT INTO crypto_operations_audit (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
    VALUES ('01900000-0000-7000-8000-000000000001', audit_id_time('01900000-0000-7000-8000-000000000001'), 'later', 0, 200, 1, 'done')";

const LOSE_ORIGIN: &str =
    "DELETE FROM audit_log_origins; DELETE FROM revisions WHERE table_name = 'audit_log_origins'";

impl Written {
    /// A log of three records with a checkpoint, to which the login of the service then adds. `generation` is that of the
    /// row key in the MAC.
    async fn with_false_node(generation: &str) -> Self {
        let written = Self::new().await;
        written.write(3).await;
        let sealer = written.kept.sealer().await;
        written.kept.covered(3).await;
        sealer.stop().await;
        let pool = &written.kept.pool;
        sqlx::query(FILL).bind(generation).execute(pool).await.expect("a segment");
        let node = Hash::of_leaf(b"a node");
        let size = sqlx::query_scalar(GIVE_POSITION).bind(node.as_bytes().as_slice());
        let size: Option<i64> = size.fetch_one(pool).await.expect("a position");
        assert_eq!(size, Some(256));
        written
    }

    /// Continues the logs, under another origin or not.
    async fn renew(&self, origin: bool) -> Result<Initialized, InitError> {
        let renewal = Renewal { origin, ..Renewal::default() };
        let time = (&Clock::system(), &Entropy::system());
        initialize(&self.kept.pool, &token().await, time, "example.com/a", renewal).await
    }

    /// Verifies the log in the database with its latest checkpoint.
    async fn verified(&self) -> Result<VerifiedLog, NotVerified> {
        let note = checkpoint(&self.kept.pool, Log::Operations).await.expect("a database");
        let mut trust = Trust::new(&self.kept.key().await.to_string()).expect("a key");
        trust.add(&note.expect("a checkpoint")).expect("a checkpoint of the key");
        verify::database(&trust, &self.kept.pool, &mut |_| ()).await
    }
}

#[tokio::test]
async fn a_false_node_is_taken_back_and_never_accepted() {
    let written = Written::with_false_node("00000001").await;
    let sealer = written.kept.sealer().await;
    let state = sealer.state(|state| matches!(state, SealState::Failed(_))).await;
    let SealState::Failed(error) = state else { panic!("{state:?}") };
    assert!(error.contains("run `sealward rows remove-segments`"), "{error}");

    let refused = written.renew(true).await.expect_err("a false node").to_string();
    assert!(refused.contains("run `sealward rows remove-segments`"), "{refused}");

    let shortened = take_back(&written.kept.owner).await.expect("a log");
    assert_eq!(shortened, [(Log::Operations, 3)]);
    written.write(1).await;
    written.kept.covered(4).await;
    sealer.stop().await;
}

/// No token ever had it, so no instance has sealed under it.
#[tokio::test]
async fn what_is_under_an_invented_generation_is_taken_back() {
    let written = Written::with_false_node("00000063").await;
    let shortened = take_back(&written.kept.owner).await.expect("a log");
    assert_eq!(shortened, [(Log::Operations, 3)]);
    let removed = engine::segments::remove_forged(&written.kept.owner).await.expect("a segment");
    assert_eq!(removed.len(), 1);
}

#[tokio::test]
async fn a_log_begins_with_the_empty_tree() {
    let site = Site::new().await;
    let mut database = site.connect().await;
    sqlx::raw_sql("SET ROLE sealward_application").execute(&mut database).await.expect("a role");
    let tall =
        "INSERT INTO audit_log_heads (log, origin, size, root) VALUES (1, 'x', 9, sha256(''))";
    let refused = sqlx::raw_sql(tall).execute(&mut database).await.expect_err("a size").to_string();
    assert!(refused.contains("permission denied"), "{refused}");
    let begun = "INSERT INTO audit_log_heads (log, origin) VALUES (1, 'x'), (2, 'no name+')";
    sqlx::raw_sql(begun).execute(&mut database).await.expect("two heads");
    let keys = site.run(&["audit", "init"]).success().stdout;
    assert!(keys.contains("/operations+") && keys.contains("/management+"), "{keys}");
    assert_eq!(site.run(&["rows", "remove-segments"]).success().line(), "0 segments are removed");
}

/// Otherwise the commands of an operator would refer to each other, and the log would be reported for ever.
#[tokio::test]
async fn without_an_origin_forged_segments_stay_and_prove_nothing() {
    let written = Written::with_false_node("00000001").await;
    let root = Hash::of_leaf(b"a root");
    let pool = &written.kept.pool;
    for segment in [REPEAT, NEIGHBOUR] {
        sqlx::query(segment).execute(pool).await.expect("a segment");
    }
    let size = sqlx::query_scalar(GIVE_LAST_POSITIONS).bind(root.as_bytes().as_slice());
    assert_eq!(size.fetch_one(pool).await.ok(), Some(Some(259_i64)));
    written.kept.execute(LOSE_ORIGIN).await;
    let refused = written.renew(false).await.expect_err("a log that grew").to_string();
    assert!(refused.contains("run `sealward audit init --new-origin`"), "{refused}");
    let refused = written.renew(true).await.expect_err("a false node").to_string();
    assert!(refused.contains("run `sealward rows remove-segments`"), "{refused}");
    let repaired = take_back(&written.kept.owner).await.expect("a log");
    assert_eq!(repaired, [(Log::Operations, 259)]);
    assert_eq!(written.renew(true).await.expect("another origin").foreign.len(), 3);
    written.write(1).await;
    let sealer = written.kept.sealer().await;
    sealer.state(|state| *state == SealState::Sealing).await;
    written.kept.covered(260).await;
    sealer.stop().await;
    let verified = written.verified().await.expect("a log");
    assert_eq!((verified.covered, verified.foreign), (260, 256));
    // A record that such a segment names is no sealed one.
    written.kept.execute(NAMED_LATER).await;
    let Err(NotVerified::Tampered(findings)) = written.verified().await else { panic!("a record") };
    let is_added = |it: &Finding| matches!(it.change, Change::Added { .. });
    assert!(findings.first.iter().all(is_added) && findings.further == 0, "{findings:?}");
    written.kept.execute("DELETE FROM crypto_operations_audit WHERE request_id = 'later'").await;
    // Records that an instance sealed still count.
    written.kept.execute("UPDATE crypto_operations_audit SET request_id = 'x'").await;
    let Err(NotVerified::Tampered(findings)) = written.verified().await else { panic!("changes") };
    let is_change = |it: &Finding| matches!(it.change, Change::Changed { .. });
    assert!(findings.first.iter().all(is_change), "{findings:?}");
    assert_eq!((findings.first.len(), findings.further), (4, 0));
}

/// An operator accepted the segment, which seals no record. So a record that it names is not compared with it.
#[tokio::test]
async fn the_sample_leaves_out_accepted_forgeries() {
    let written = Written::new().await;
    written.write(1).await;
    let sealer = written.kept.sealer().await;
    written.kept.covered(1).await;
    sealer.stop().await;
    let pool = &written.kept.pool;
    // Nearly each position of the log is one of it.
    let many = REPEAT
        .replace("ARRAY[id, end_id]", "array_fill(id, ARRAY[200])")
        .replace("repeat('33', 64)", "repeat('33', 32 * 200)");
    sqlx::query(AssertSqlSafe(many)).execute(pool).await.expect("a segment");
    let root = Hash::of_leaf(b"a root");
    let size = sqlx::query_scalar(GIVE_LAST_POSITIONS).bind(root.as_bytes().as_slice());
    assert_eq!(size.fetch_one(pool).await.ok(), Some(Some(201_i64)));
    written.kept.execute(LOSE_ORIGIN).await;
    let repaired = take_back(&written.kept.owner).await.expect("a log");
    assert_eq!(repaired, [(Log::Operations, 201)]);
    assert_eq!(written.renew(true).await.expect("another origin").foreign.len(), 1);
    let sealer = written.kept.sealer().await;
    for size in 202..207 {
        written.write(1).await;
        written.kept.covered(size).await;
    }
    sealer.stop().await;
    assert_eq!(written.flaws("crypto_operations_audit"), Vec::<String>::new());
}

/// Its key is destroyed, and it has sealed nothing that the next generation has not sealed again.
#[tokio::test]
async fn a_segment_under_a_former_generation_is_removed() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    site.run(&["rows", "new-key"]).success();
    let forged = "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
        VALUES (1, '01900000-0000-7000-8000-000000000000', '{01900000-0000-7000-8000-000000000000}',
                sha256('x'), decode('00000001' || repeat('22', 32), 'hex'))";
    sqlx::raw_sql(forged).execute(&mut site.connect().await).await.expect("a segment");
    let removed = site.run(&["rows", "remove-segments"]).success().stdout;
    assert_eq!(removed, "01900000-0000-7000-8000-000000000000\n1 segments are removed\n");
}
