//! Checkpoints, tiles and proofs over HTTP.

use engine::ledger::{Log, leaf};
use formats::tlog::{Checkpoint, Hash, ProofText, entries_of_bundle, verify_inclusion};
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::fixture::{checkpoint, covered, export, hash, key, sealed_world};
use testkit::insert_records;

#[tokio::test]
async fn a_proof_leads_from_the_record_to_the_checkpoint() {
    let world = sealed_world().await;
    hash(&world, 3).await;
    covered(&world, Log::Operations, 3).await;
    let key = key(&world, Log::Operations).await;
    let admin = world.admin();
    let listed = admin.get("/admin/audit").await.ok().json();
    for record in listed["items"].as_array().unwrap() {
        let path = format!("/admin/audit/{}/proof", record["id"].as_str().unwrap());
        let proof = admin.get(&path).await.ok().json();
        assert_eq!(proof["log"], "operations");
        assert_eq!(proof["logIndex"], record["log_index"]);
        let own = leaf(Log::Operations, &record.to_string()).unwrap();
        assert_eq!(proof["leaf"].as_str().unwrap().as_bytes(), own);
        let inclusion = proof["inclusion"].as_array().unwrap();
        let inclusion: Vec<Hash> =
            inclusion.iter().map(|hash| hash.as_str().unwrap().parse().unwrap()).collect();
        let checkpoint = Checkpoint::open(proof["checkpoint"].as_str().unwrap(), &key).unwrap();
        let index = proof["logIndex"].as_u64().unwrap();
        let (size, root) = (checkpoint.size, checkpoint.root);
        verify_inclusion(Hash::of_leaf(&own), index, size, &inclusion, root).unwrap();

        let text = admin.clone().with("accept", "text/plain").get(&path).await.ok();
        assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
        let text: ProofText = text.body.parse().unwrap();
        assert_eq!((text.index, text.inclusion), (index, inclusion));
    }
}

#[tokio::test]
async fn management_events_have_proofs_too() {
    let world = sealed_world().await;
    world.service("billing").await;
    covered(&world, Log::Management, 1).await;
    let line: Value = serde_json::from_str(&export(&world, Log::Management).await[0]).unwrap();
    let path = format!("/admin/audit/{}/proof", line["id"].as_str().unwrap());
    let proof = world.admin().get(&path).await.ok().json();
    assert_eq!(proof["log"], "management");
    assert_eq!(proof["logIndex"], 0);
}

#[tokio::test]
async fn tiles_have_the_hashes_of_their_entries() {
    let world = sealed_world().await;
    hash(&world, 3).await;
    let size = covered(&world, Log::Operations, 3).await.size;
    assert_eq!(size, 3);
    let admin = world.admin();
    let path = |rest: &str| format!("/admin/audit/log/operations/tile/{rest}");
    let tile = admin.get(&path("0/000.p/3")).await.ok();
    assert_eq!(tile.header("content-type"), "application/octet-stream");
    let bundle = admin.get(&path("entries/000.p/3")).await.ok();
    let entries = entries_of_bundle(&bundle.bytes).unwrap();
    let hashes: Vec<u8> =
        entries.iter().flat_map(|entry| *Hash::of_leaf(entry).as_bytes()).collect();
    assert_eq!(tile.bytes, hashes);
    let narrower = admin.get(&path("0/000.p/2")).await.ok();
    assert_eq!(narrower.bytes, hashes[..64]);
    for missing in [
        "0/000",
        "0/000.p/4",
        "0/001.p/1",
        "1/000.p/1",
        "0/0",
        "x/000",
        "entries/000",
        "data/000.p/1",
        "",
    ] {
        admin.get(&path(missing)).await.refused(404, "NOT_FOUND");
    }
    let other = "/admin/audit/log/other/checkpoint";
    admin.get(other).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_tree_with_full_tiles_is_served_whole() {
    let world = sealed_world().await;
    let insert = AssertSqlSafe(insert_records(600, "many", "now()"));
    sqlx::query("SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date)")
        .execute(&world.pool)
        .await
        .unwrap();
    sqlx::query(insert).execute(&world.pool).await.unwrap();
    let checkpoint = covered(&world, Log::Operations, 600).await;
    let lines = export(&world, Log::Operations).await;
    assert_eq!(super::fixture::root_of(Log::Operations, &lines), checkpoint.root);
    let admin = world.admin();
    for (tile, length) in
        [("0/000", 8_192), ("0/001", 8_192), ("0/002.p/88", 2_816), ("1/000.p/2", 64)]
    {
        let path = format!("/admin/audit/log/operations/tile/{tile}");
        assert_eq!(admin.get(&path).await.ok().bytes.len(), length, "{tile}");
    }
    let line: Value = serde_json::from_str(&lines[300]).unwrap();
    let id = line["id"].as_str().unwrap();
    let proof = admin.get(&format!("/admin/audit/{id}/proof")).await.ok().json();
    assert_eq!(proof["inclusion"].as_array().unwrap().len(), 10);
}

/// The login of the service can put the note of a former tree beside the size of the present one.
#[tokio::test]
async fn a_cosigned_note_with_another_size_is_not_served() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let keep = "UPDATE audit_log_heads SET cosigned = checkpoint WHERE log = 1";
    sqlx::query(keep).execute(&world.pool).await.unwrap();
    hash(&world, 1).await;
    covered(&world, Log::Operations, 2).await;
    let moved =
        "UPDATE audit_log_heads SET cosigned_size = 2, cosigned_at = checkpoint_at WHERE log = 1";
    sqlx::query(moved).execute(&world.pool).await.unwrap();
    let served = world.admin().get("/admin/audit/log/operations/checkpoint").await.ok().body;
    let key = key(&world, Log::Operations).await;
    assert_eq!(Checkpoint::open(&served, &key).unwrap().size, 2);
}

#[tokio::test]
async fn reading_the_logs_does_not_make_them_grow() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let count = "SELECT count(*) FROM management_events";
    let listed = world.admin().get("/admin/audit").await.ok().json();
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let before: i64 = sqlx::query_scalar(count).fetch_one(&world.pool).await.unwrap();
    for path in [
        "log/operations/checkpoint".to_owned(),
        "log/management/key".to_owned(),
        "log/operations/tile/0/000.p/1".to_owned(),
        "log/operations/tile/entries/000.p/1".to_owned(),
        format!("{id}/proof"),
    ] {
        world.admin().get(&format!("/admin/audit/{path}")).await.ok();
    }
    let after: i64 = sqlx::query_scalar(count).fetch_one(&world.pool).await.unwrap();
    assert_eq!(after, before);
    assert_eq!(checkpoint(&world, Log::Operations).await.size, 1);
}

#[tokio::test]
async fn an_export_in_log_order_is_ndjson_without_filters() {
    let world = sealed_world().await;
    let ndjson = world.admin().with("accept", "application/x-ndjson");
    for path in ["/admin/audit", "/admin/audit/management"] {
        let plain = world.admin().get(&format!("{path}?order=log_index")).await;
        plain.invalid(&[("order", "unsupported")]);
        let other = ndjson.get(&format!("{path}?order=time")).await;
        other.invalid(&[("order", "unsupported")]);
        let filtered = format!("{path}?order=log_index&requestId=1");
        ndjson.get(&filtered).await.invalid(&[("requestId", "unknown")]);
    }
}

#[tokio::test]
async fn proofs_of_other_records_are_not_found() {
    let world = sealed_world().await;
    for id in [
        "rec_01h455vb4pex5vsknk084sn02q",
        "evt_01h455vb4pex5vsknk084sn02q",
        "key_01h455vb4pex5vsknk084sn02q",
        "7",
    ] {
        let path = format!("/admin/audit/{id}/proof");
        world.admin().get(&path).await.refused(404, "NOT_FOUND");
    }
}
