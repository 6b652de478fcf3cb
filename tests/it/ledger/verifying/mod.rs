//! `sealward audit verify` against each way to change a log.

mod command;

use std::fs;

use sealward::ledger::verify::{self, Change, Failure, Finding, TileFolder, Trust, Verified};
use sealward::ledger::{self, Log, Renewal};
use sealward::tlog::{TILE_WIDTH, Tile, TileContent};
use serde_json::{Value, json};

pub(super) use self::command::sealward;
use super::fixture::{Kept, initialize_in};

/// A log of six records with checkpoints of four and of six.
struct Sealed {
    kept: Kept,
    key: String,
    checkpoints: [String; 2],
    lines: Vec<String>,
}

impl Sealed {
    async fn new() -> Self {
        Self::of(Kept::new().await, [(4, 4), (2, 6)]).await
    }

    /// With as many more records, and with checkpoints of these sizes.
    async fn of(kept: Kept, checkpointed: [(usize, u64); 2]) -> Self {
        let sealer = kept.sealer().await;
        let mut checkpoints = Vec::new();
        for (count, size) in checkpointed {
            kept.record(count).await;
            kept.covered(size).await;
            let note = ledger::checkpoint(&kept.pool, Log::Operations).await;
            checkpoints.push(note.unwrap().unwrap());
        }
        sealer.stop().await;
        let keys = ledger::keys(&kept.pool, Log::Operations)
            .await
            .unwrap()
            .unwrap();
        let lines = kept.export().await;
        Self {
            kept,
            key: keys[0].to_string(),
            checkpoints: checkpoints.try_into().unwrap(),
            lines,
        }
    }

    /// The hash of a record in base64.
    async fn hash(&self, index: i64) -> String {
        let sql = "SELECT encode(leaf_hash, 'base64') FROM audit_log_index
                    WHERE log = 1 AND log_index = $1";
        let hash = sqlx::query_scalar(sql).bind(index);
        hash.fetch_one(&self.kept.owner).await.unwrap()
    }

    fn trust(&self) -> Trust {
        let mut trust = Trust::new(&self.key).unwrap();
        self.checkpoints
            .iter()
            .for_each(|note| trust.add(note).unwrap());
        trust
    }

    fn export(&self, lines: &[String], tiles: Option<&TileFolder>) -> Result<Verified, Failure> {
        let text = lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>();
        verify::export(&self.trust(), text.as_bytes(), tiles, &mut |_| ())
    }

    async fn database(&self) -> Result<Verified, Failure> {
        verify::database(&self.trust(), &self.kept.pool, &mut |_| ()).await
    }

    fn id(&self, index: usize) -> String {
        member(&self.lines[index], "id")
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Writes the tiles of the log to a folder.
    async fn mirror(&self) -> TileFolder {
        let folder = self.kept.folder.path().join("mirror");
        for content in [TileContent::Hashes(0), TileContent::Entries] {
            let tile = Tile::in_tree(content, 0, 6).unwrap();
            assert!(tile.width < TILE_WIDTH);
            let bytes = ledger::tile(&self.kept.pool, Log::Operations, &tile).await;
            let path = folder.join(tile.to_string());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes.unwrap().unwrap()).unwrap();
        }
        TileFolder::new(folder)
    }
}

fn member(line: &str, name: &str) -> Value {
    serde_json::from_str::<Value>(line).unwrap()[name].clone()
}

/// The line with another value of a member.
fn with(line: &str, name: &str, value: Value) -> String {
    let mut record: Value = serde_json::from_str(line).unwrap();
    record[name] = value;
    record.to_string()
}

#[track_caller]
fn finds(result: Result<Verified, Failure>, change: &Change, checkpoint: Option<u64>) {
    let Err(Failure::Tampered(finding)) = result else {
        panic!("{result:?}");
    };
    let change = change.clone();
    assert_eq!(finding, Finding { change, checkpoint });
}

#[tokio::test]
async fn an_unchanged_log_is_verified_from_every_source() {
    let sealed = Sealed::new().await;
    let whole = Verified {
        covered: 6,
        ..Verified::default()
    };
    let tiles = sealed.mirror().await;
    assert_eq!(sealed.export(&sealed.lines, None).unwrap(), whole);
    assert_eq!(sealed.export(&sealed.lines, Some(&tiles)).unwrap(), whole);
    assert_eq!(
        verify::tiles(&sealed.trust(), &tiles, &mut |_| ()).unwrap(),
        whole
    );
    assert_eq!(sealed.database().await.unwrap(), whole);
    let mut early = Trust::new(&sealed.key).unwrap();
    early.add(&sealed.checkpoints[0]).unwrap();
    let text = sealed.lines.join("\n");
    let verified = verify::export(&early, text.as_bytes(), None, &mut |_| ()).unwrap();
    assert_eq!((verified.covered, verified.newer), (4, 2));
}

#[tokio::test]
async fn a_changed_row_is_found_and_named() {
    let sealed = Sealed::new().await;
    let tiles = sealed.mirror().await;
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 4",
        )
        .await;
    let changed = Change::Changed {
        index: 4,
        record: sealed.id(4),
    };
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, Some(&tiles)), &changed, Some(6));
    finds(sealed.export(&lines, None), &Change::Within(4..6), Some(6));
    finds(sealed.database().await, &changed, Some(6));
}

#[tokio::test]
async fn a_row_whose_hash_was_changed_too_is_found() {
    let sealed = Sealed::new().await;
    let line = with(&sealed.lines[1], "response_status", json!(500));
    let leaf = ledger::leaf(Log::Operations, &line).unwrap();
    let hash = sealward::tlog::Hash::of_leaf(&leaf);
    let hex: String = hash
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    sealed
        .kept
        .execute(&format!(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 1;
             UPDATE audit_log_index SET leaf_hash = decode('{hex}', 'hex') WHERE log_index = 1"
        ))
        .await;
    finds(sealed.database().await, &Change::Within(0..4), Some(4));
}

#[tokio::test]
async fn a_removed_row_is_found() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute(
            "DELETE FROM crypto_operations_audit r USING audit_log_index i
              WHERE i.record_id = r.id AND log_index = 2",
        )
        .await;
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, None), &Change::Missing(2), Some(4));
    finds(sealed.database().await, &Change::Missing(2), Some(4));
}

#[tokio::test]
async fn a_dropped_day_is_found() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute("DO $$ BEGIN EXECUTE 'DROP TABLE ' || audit_day_name((now() AT TIME ZONE 'UTC')::date); END $$")
        .await;
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, None), &Change::Missing(0), Some(4));
    finds(sealed.database().await, &Change::Missing(0), Some(4));
}

#[tokio::test]
async fn a_row_added_with_a_past_time_is_found() {
    let sealed = Sealed::new().await;
    let past = record("01890000-0000-7000-8000-000000000000", 3);
    sealed.kept.execute(&past).await;
    let id =
        sealward::ids::RecordId::from_uuid(uuid::uuid!("01890000-0000-7000-8000-000000000000"));
    let added = Change::Added {
        record: id.to_string(),
    };
    finds(sealed.database().await, &added, Some(6));
    let unsealed = with(&sealed.lines[0], "log_index", Value::Null);
    let mut lines = sealed.lines.clone();
    lines.insert(3, unsealed);
    let added = Change::Added {
        record: sealed.id(0),
    };
    finds(sealed.export(&lines, None), &added, Some(4));
    lines[3] = with(&sealed.lines[0], "log_index", json!(2));
    finds(sealed.export(&lines, None), &added, Some(4));
}

/// A statement that inserts a record of this many hours ago.
fn record(id: &str, hours: u8) -> String {
    format!(
        "SELECT make_audit_day(((now() - interval '{hours} hours') AT TIME ZONE 'UTC')::date);
         INSERT INTO crypto_operations_audit
             (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
         VALUES ('{id}', date_trunc('milliseconds', now()) - interval '{hours} hours', 'x', 0, 200, 1,
                 'done')"
    )
}

/// Sealing is interrupted for hours. Afterwards new records are sealed before those of the interruption.
#[tokio::test]
async fn records_of_an_interruption_are_not_reported_as_added() {
    let kept = Kept::new().await;
    kept.execute(&record("01890000-0000-7000-8000-000000000001", 8))
        .await;
    let sealed = Sealed::of(kept, [(3, 4), (2, 6)]).await;
    for (number, hours) in (2..).zip([6, 5, 4]) {
        let id = format!("01890000-0000-7000-8000-00000000000{number}");
        sealed.kept.execute(&record(&id, hours)).await;
    }
    let verified = sealed.database().await.unwrap();
    assert_eq!((verified.covered, verified.unsealed), (6, 3));
    // Before the first sealed record there was no interruption.
    let added = uuid::uuid!("01890000-0000-7000-8000-000000000009");
    sealed.kept.execute(&record(&added.to_string(), 10)).await;
    let added = Change::Added {
        record: sealward::ids::RecordId::from_uuid(added).to_string(),
    };
    finds(sealed.database().await, &added, Some(6));
}

/// The sealer has not run since the last sealed record.
#[tokio::test]
async fn records_after_the_last_sealed_one_are_not_reported_as_added() {
    let kept = Kept::new().await;
    kept.execute(&record("01890000-0000-7000-8000-000000000001", 9))
        .await;
    kept.execute(&record("01890000-0000-7000-8000-000000000002", 8))
        .await;
    let sealed = Sealed::of(kept, [(0, 2), (0, 2)]).await;
    let late = record("01890000-0000-7000-8000-000000000003", 3);
    sealed.kept.execute(&late).await;
    let verified = sealed.database().await.unwrap();
    assert_eq!((verified.covered, verified.unsealed), (2, 1));
}

#[tokio::test]
async fn swapped_rows_are_found() {
    let sealed = Sealed::new().await;
    let tiles = sealed.mirror().await;
    let mut lines = sealed.lines.clone();
    lines.swap(1, 2);
    finds(sealed.export(&lines, None), &Change::Missing(1), Some(4));
    lines[1] = with(&lines[1], "log_index", json!(1));
    lines[2] = with(&lines[2], "log_index", json!(2));
    finds(sealed.export(&lines, None), &Change::Within(0..4), Some(4));
    let changed = Change::Changed {
        index: 1,
        record: sealed.id(2),
    };
    finds(sealed.export(&lines, Some(&tiles)), &changed, Some(4));
}

#[tokio::test]
async fn a_hash_in_place_of_a_newer_record_is_found() {
    let sealed = Sealed::new().await;
    let mut lines = sealed.lines.clone();
    let leaf_hash = sealed.hash(3).await;
    lines[3] = json!({ "log_index": 3, "leaf_hash": leaf_hash, "type": "operations" }).to_string();
    // Days are retired as a whole, so a record of the same day can be retired.
    assert_eq!(sealed.export(&lines, None).unwrap().retired, 1);
    let earlier = "2020-01-01T00:00:00.000Z";
    lines[0] = with(&lines[0], "timestamp", json!(earlier));
    finds(sealed.export(&lines, None), &Change::Missing(3), Some(4));
}

#[tokio::test]
async fn members_that_no_hash_covers_are_refused() {
    let sealed = Sealed::new().await;
    let (line, leaf_hash) = (&sealed.lines[3], sealed.hash(3).await);
    let more = |more: &str| line.replacen('{', &format!("{{{more},"), 1);
    for hostile in [
        more(r#""request_id":"other""#),
        more(r#""v":2"#),
        more(r#""type":"management""#),
        with(line, "leaf_hash", json!(leaf_hash)),
    ] {
        let mut lines = sealed.lines.clone();
        lines[3] = hostile;
        let result = sealed.export(&lines, None);
        let Err(Failure::NotChecked(reason)) = result else {
            panic!("{result:?}: {}", lines[3]);
        };
        assert_eq!(reason, "line 4: must be a line of an export in NDJSON");
    }
}

#[tokio::test]
async fn a_hash_in_place_of_a_management_event_is_found() {
    let sealed = Sealed::new().await;
    let pool = &sealed.kept.pool;
    let keys = ledger::keys(pool, Log::Management).await.unwrap().unwrap();
    let note = ledger::checkpoint(pool, Log::Management).await.unwrap();
    let mut trust = Trust::new(&keys[0].to_string()).unwrap();
    trust.add(&note.unwrap()).unwrap();
    let retired = json!({ "log_index": 0, "leaf_hash": sealed.hash(0).await }).to_string();
    let result = verify::export(&trust, retired.as_bytes(), None, &mut |_| ());
    let Err(Failure::Tampered(finding)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(finding.change, Change::Missing(0));
}

#[tokio::test]
async fn a_truncated_export_is_found() {
    let sealed = Sealed::new().await;
    finds(
        sealed.export(&sealed.lines[..5], None),
        &Change::Missing(5),
        Some(6),
    );
    finds(sealed.export(&[], None), &Change::Missing(0), Some(4));
    let mut lines = sealed.lines.clone();
    lines[5].truncate(20);
    finds(sealed.export(&lines, None), &Change::Missing(5), Some(6));
}

#[tokio::test]
async fn a_fork_is_found() {
    let sealed = Sealed::new().await;
    let other = Kept::new().await;
    // The same key and origin over other records.
    for table in ["audit_log_keys", "audit_log_heads"] {
        other.execute(&format!("DELETE FROM {table}")).await;
    }
    let key: (uuid::Uuid, Vec<u8>) = sqlx::query_as("SELECT id, public_key FROM audit_log_keys")
        .fetch_one(&sealed.kept.owner)
        .await
        .unwrap();
    sqlx::query("INSERT INTO audit_log_keys (id, public_key, created_at) VALUES ($1, $2, now())")
        .bind(key.0)
        .bind(key.1)
        .execute(&other.owner)
        .await
        .unwrap();
    initialize_in(&other.pool, Renewal::default()).await;
    other.record(4).await;
    let sealer = other.sealer().await;
    other.covered(4).await;
    let forked = ledger::checkpoint(&other.pool, Log::Operations)
        .await
        .unwrap()
        .unwrap();
    sealer.stop().await;
    let Err(failure) = sealed.trust().add(&forked) else {
        panic!("two checkpoints of one size");
    };
    finds(Err(failure), &Change::Fork, Some(4));
    let mut trust = Trust::new(&sealed.key).unwrap();
    trust.add(&forked).unwrap();
    trust.add(&sealed.checkpoints[1]).unwrap();
    let text = sealed.lines.join("\n");
    let result = verify::export(&trust, text.as_bytes(), None, &mut |_| ());
    finds(result, &Change::Within(0..4), Some(4));
}
