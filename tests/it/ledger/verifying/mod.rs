//! `sealward audit verify` against each way to change a log.

mod command;
mod fixture;
mod rows;
mod states;

use std::fs;

use engine::ledger::verify::{self, Change, NotVerified, TileFolder, Trust, VerifiedLog};
use engine::ledger::{self, Log, Renewal};
use formats::tlog::{Tile, TileContent};
use serde_json::json;

pub(super) use self::command::sealward;
use self::fixture::{Sealed, finds, management_log, with};
use super::fixture::{Kept, covered, hash, initialize_in, sealed_world};
use testkit::{Scratch, seal_rows};

#[tokio::test]
async fn an_unchanged_log_is_verified_from_every_source() {
    let sealed = Sealed::new().await;
    let whole = VerifiedLog { covered: 6, ..VerifiedLog::default() };
    let tiles = sealed.mirror().await;
    assert_eq!(sealed.export(&sealed.lines, None).unwrap(), whole);
    assert_eq!(sealed.export(&sealed.lines, Some(&tiles)).unwrap(), whole);
    assert_eq!(verify::tiles(&sealed.trust(), &tiles, &mut |_| ()).unwrap(), whole);
    assert_eq!(sealed.database().await.unwrap(), whole);
    let mut early = Trust::new(&sealed.key).unwrap();
    early.add(&sealed.checkpoints[0]).unwrap();
    let text = sealed.lines.join("\n");
    let verified = verify::export(&early, text.as_bytes(), None, &mut |_| ()).unwrap();
    assert_eq!((verified.covered, verified.newer), (4, 2));
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
    let changed = Change::Changed { index: 1, record: sealed.id(2) };
    finds(sealed.export(&lines, Some(&tiles)), &changed, Some(4));
}

#[tokio::test]
async fn a_hash_in_place_of_a_newer_record_is_found() {
    let sealed = Sealed::new().await;
    let mut lines = sealed.lines.clone();
    let leaf_hash = sealed.hash(3).await;
    lines[3] = json!({ "log_index": 3, "leaf_hash": leaf_hash, "type": "operation" }).to_string();
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
        let Err(NotVerified::NotChecked(reason)) = result else {
            panic!("{result:?}: {}", lines[3]);
        };
        assert_eq!(reason, "line 4: must be a line of an export in NDJSON");
    }
}

#[tokio::test]
async fn missing_entries_of_management_events_are_found() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    let events: i64 = sqlx::query_scalar("SELECT count(*) FROM management_events")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    covered(&world, Log::Management, events.unsigned_abs()).await;
    let trust = management_log(&world.pool).await;
    let scratch = Scratch::new();
    let folder = scratch.path();
    let hashes = Tile::in_tree(TileContent::Hashes(0), 0, trust.size()).unwrap();
    let bytes = ledger::tile(&world.pool, Log::Management, &hashes).await;
    let path = folder.join(hashes.to_string());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes.unwrap().unwrap()).unwrap();
    let result = verify::tiles(&trust, &TileFolder::new(folder.to_owned()), &mut |_| ());
    finds(result, &Change::Missing(0), Some(trust.size()));
}

#[tokio::test]
async fn a_hash_in_place_of_a_management_event_is_found() {
    let sealed = Sealed::new().await;
    let trust = management_log(&sealed.kept.pool).await;
    let retired = json!({ "log_index": 0, "leaf_hash": sealed.hash(0).await }).to_string();
    let result = verify::export(&trust, retired.as_bytes(), None, &mut |_| ());
    let Err(NotVerified::Tampered(findings)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(findings.first[0].change, Change::Missing(0));
}

#[tokio::test]
async fn a_truncated_export_is_found() {
    let sealed = Sealed::new().await;
    finds(sealed.export(&sealed.lines[..5], None), &Change::Missing(5), Some(6));
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
    for table in ["audit_log_keys", "audit_log_heads", "revisions"] {
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
    seal_rows(&other.owner).await;
    initialize_in(&other.pool, Renewal::default()).await;
    other.record(4).await;
    let sealer = other.sealer().await;
    other.covered(4).await;
    let forked = ledger::checkpoint(&other.pool, Log::Operations).await.unwrap().unwrap();
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
