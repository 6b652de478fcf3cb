//! No statement of the sealer, of lists, proofs or tiles reads a whole table or a whole index.

use std::time::Duration;

use engine::audit::{EntryFilter, entries};
use engine::db::Pool;
use engine::ledger::{self, Log, Renewal};
use formats::clock::Clock;
use formats::tlog::{Hash, Node, Tile, TileContent, Tree};
use sqlx::AssertSqlSafe;
use testkit::{PATIENCE, RECORD_ID, pool, within};

use super::fixture::{Written, position};
use super::transactions::PUT_BACK;
use crate::ledger::fixture::initialize_in;

const RECORDS: u64 = 131_072;

/// What was read in the tables of the log of operations: rows by sequential scans, entries of indexes, and pages of the
/// index of transactions. The last number counts the rounds of the sealer: each round reads the signing keys.
const READ: &str = "WITH logs AS (
        SELECT relid FROM pg_stat_user_tables
         WHERE relname ~ '^(audit_log_segments|audit_log_positions|audit_log_nodes|crypto_operations_audit_2)'
    )
    SELECT (SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relid IN (TABLE logs)),
           (SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relid IN (TABLE logs)),
           (SELECT idx_blks_read + idx_blks_hit FROM pg_statio_user_indexes
             WHERE indexrelname = 'audit_log_segments_xact_idx'),
           (SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'audit_log_keys_pkey')";

/// The sessions of sealers.
const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND backend_type = 'client backend' AND application_name LIKE '%sealer'";

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_reads_a_whole_table_or_index() {
    let written = Written::new().await;
    make_large(&written).await;
    let before = read(&written).await;

    let pool = pool((*written.kept.pool.current().connect_options()).clone());
    let sealer = written.kept.sealer().await;
    written.write(20).await;
    written.kept.covered(RECORDS + 20).await;
    let now = Clock::system().now();
    let page = entries(&pool, now, &EntryFilter::default(), None, 200).await.expect("a page");
    assert_eq!(page.len(), 200);
    let (own, others) = page.split_at(20);
    assert!(own.iter().all(|entry| entry.log_index.is_some() && !entry.changed));
    assert!(others.iter().all(|entry| entry.log_index.is_some() && entry.changed));
    for entry in own {
        ledger::prove(&pool, Log::Operations, entry.id.uuid()).await.expect("a proof");
    }
    let tile = Tile::in_tree(TileContent::Hashes(0), 100, RECORDS).expect("a tile");
    ledger::tile(&pool, Log::Operations, &tile).await.expect("hashes").expect("a tile");
    sealer.stop().await;
    pool.current().close().await;
    written.kept.pool.current().close().await;
    let after = read(&written).await;
    let [rows, entries, pages, rounds] = std::array::from_fn(|place| after[place] - before[place]);
    // Postgres reads a table of a few rows as a whole, for example that of the nodes.
    assert!(rows < 1_000, "{rows} rows");
    let (records, most) = (RECORDS as i64, "entries or pages in so many rounds");
    assert!(entries < records + rounds * records / 4, "{entries} {most}: {rounds}");
    assert!(pages < (rounds + 1) * 50, "{pages} {most}: {rounds}");
}

/// The sweeps would find the newer segment first, and the late one many rounds later.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_commit_is_sealed_in_the_next_round() {
    let written = Written::new().await;
    written.write_at(Clock::system().now().minus(Duration::from_secs(60 * 60))).await;
    written.hold().await;
    make_large(&written).await;
    let _sealer = written.kept.sealer().await;
    let mut late = written.kept.owner.begin().await.expect("a transaction");
    sqlx::raw_sql(PUT_BACK).execute(&mut *late).await.expect("a record");
    for sealed in [RECORDS + 1, RECORDS + 2] {
        written.write(1).await;
        written.kept.covered(sealed).await;
    }
    let mut heads = written.kept.owner.begin().await.expect("a transaction");
    let lock = "LOCK TABLE audit_log_heads IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *heads).await.expect("a lock");
    let waits = format!("{SESSIONS} AND wait_event_type = 'Lock'");
    within(PATIENCE, async || written.count(&waits).await == 1).await;
    late.commit().await.expect("a commit");
    written.write(1).await;
    heads.commit().await.expect("a commit");
    written.kept.covered(RECORDS + 4).await;
    let in_order = format!(
        "SELECT count(*) FROM audit_log_positions late JOIN audit_log_positions other USING (log)
          WHERE log = 1 AND late.base = {RECORDS} + 2 AND other.base = late.base + 1
            AND late.segment < other.segment"
    );
    assert_eq!(written.count(&in_order).await, 1);
}

/// A session keeps its plans, also those for the empty tables of a new deployment.
#[tokio::test]
async fn a_segment_is_looked_up_with_a_plan_for_an_empty_log() {
    let written = Written::new().await;
    let mut session = written.kept.owner.begin().await.expect("a session");
    for _ in 0..10 {
        let (segment, leaves) = written.write_segment().await;
        position(&mut session, segment, &leaves, None).await;
    }
    sqlx::query(
        "INSERT INTO audit_log_segments SELECT 1, id, ARRAY[id], sha256(''), sha256('')
           FROM generate_series(1, 5000) AS number, CAST(md5(number::text) AS uuid) AS id",
    )
    .execute(&mut *session)
    .await
    .expect("segments");
    let (segment, leaves) = written.write_segment().await;
    let fetched =
        "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'audit_log_segments'";
    let before: i64 = sqlx::query_scalar(fetched).fetch_one(&mut *session).await.expect("a number");
    position(&mut session, segment, &leaves, None).await;
    let after: i64 = sqlx::query_scalar(fetched).fetch_one(&mut *session).await.expect("a number");
    assert_eq!(after - before, 2);
}

/// Makes a log of two full trees with one invented hash for all leaves, under a row key that is lost. An operator
/// accepts it.
async fn make_large(written: &Written) {
    let leaf = Hash::of_leaf(b"a leaf");
    let (mut tree, mut nodes) = (Tree::default(), Vec::new());
    (0..RECORDS).for_each(|_| tree.append(leaf, |node| nodes.push(node)));
    let hex =
        |hash: Hash| hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let row = |node: &Node| {
        format!("(1, {}, {}, decode('{}', 'hex'))", node.level, node.index, hex(node.hash))
    };
    let nodes = nodes.iter().map(row).collect::<Vec<_>>().join(", ");
    let [leaf, root] = [leaf, tree.root()].map(hex);
    // These sessions end, so that what they read is known before a test begins.
    let named = |of: &Pool| {
        let options = (*of.current().connect_options()).clone();
        pool(options.application_name("maker of the log of the sealer"))
    };
    let (owner, service) = (named(&written.kept.owner), named(&written.kept.pool));
    let log = format!(
        "SELECT make_audit_day(((now() - interval '1 day' * day) AT TIME ZONE 'UTC')::date)
               FROM generate_series(0, 1) AS day;
             INSERT INTO crypto_operations_audit
                    (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
             SELECT {RECORD_ID}, ts, 'r', 0, 200, 1.3, 'done'
               FROM generate_series(1, {RECORDS}) AS number,
                    date_trunc('milliseconds', now() - number * interval '100 milliseconds') AS ts;
             INSERT INTO row_keys (generation, predecessor, endorsement) VALUES (1, 9, sha256(''));
             INSERT INTO audit_log_segments
             SELECT 1, id, ARRAY[id], decode('{leaf}', 'hex'), decode('00000009', 'hex') || sha256('')
               FROM crypto_operations_audit;
             INSERT INTO audit_log_positions SELECT 1, row_number() OVER (ORDER BY id) - 1, 1, id
               FROM audit_log_segments WHERE log = 1;
             INSERT INTO audit_log_nodes VALUES {nodes};
             UPDATE audit_log_heads SET size = {RECORDS}, root = decode('{root}', 'hex') WHERE log = 1"
    );
    sqlx::raw_sql(AssertSqlSafe(log)).execute(&owner).await.expect("a log");
    sqlx::raw_sql("ANALYZE").execute(&owner).await.expect("statistics");
    let renewal = Renewal { origin: true, ..Renewal::default() };
    initialize_in(&service, renewal).await;
    owner.current().close().await;
    service.current().close().await;
}

/// The numbers once sessions that have ended have reported theirs.
async fn read(written: &Written) -> [i64; 4] {
    within(PATIENCE, async || written.count(SESSIONS).await == 0).await;
    written.kept.execute("SELECT pg_stat_force_next_flush()").await;
    let numbers: (i64, i64, i64, i64) =
        sqlx::query_as(READ).fetch_one(&written.kept.owner).await.expect("numbers");
    numbers.into()
}
