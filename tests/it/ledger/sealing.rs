//! Sealing: each committed record gets one position in its log.

use engine::ids::KeyId;
use engine::ledger::{Log, Renewal};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::fixture::{covered, export, hash, indexes, initialize, root_of, sealed_world};
use testkit::{OPERATIONS, PATIENCE, World, insert_records, pool, rewrite, within};

#[tokio::test]
async fn the_export_alone_leads_to_the_root_of_the_checkpoint() {
    let world = sealed_world().await;
    hash(&world, 5).await;
    for (log, size) in [(Log::Operations, 5), (Log::Management, 1)] {
        let checkpoint = covered(&world, log, size).await;
        assert_eq!(checkpoint.origin, format!("example.com/sealward/{log}"));
        let lines = export(&world, log).await;
        let covered = &lines[..usize::try_from(checkpoint.size).unwrap()];
        assert_eq!(root_of(log, covered), checkpoint.root, "{log}");
        assert_eq!(indexes(&lines), (0..lines.len() as u64).collect::<Vec<_>>());
    }
}

/// The service's Postgres login can insert a key that names any object of the token.
#[tokio::test]
async fn applications_cannot_sign_with_the_key_of_the_logs() {
    let world = sealed_world().await;
    let application = world.application("forger").await;
    // Even if an operator seals the row.
    let forged = "INSERT INTO keys (id, service_id, name, version, usage, algorithm, origin, status, token_id, extractable,
                           public_key, thumbprint, activated_at, created_at, updated_at)
         SELECT k.id, s.id, 'k', 1, 'sig', 'Ed25519', 'generated', 'active', uuid_send(k.id), false,
                k.public_key, 'x', now(), now(), now()
           FROM audit_log_keys k, services s WHERE s.name = 'forger'";
    rewrite(&world.pool, forged).await;
    let id: KeyId =
        sqlx::query_scalar("SELECT id FROM audit_log_keys").fetch_one(&world.pool).await.unwrap();
    let note = "example.com/sealward/operations\n1\n";
    let payload = json!({ "algorithm": "Ed25519", "keyId": id, "data": note });
    let body = json!({ "operation": "sign", "payload": payload });
    let refused = application.post(OPERATIONS, body).await;
    assert!(refused.status.is_server_error(), "{}", refused.body);
    // The sealer signs with the same key.
    covered(&world, Log::Operations, 1).await;
}

/// The service's Postgres login can insert such a pair.
#[tokio::test]
async fn a_record_and_an_event_with_one_identifier_are_both_sealed() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let forged = sqlx::query(
        "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, after)
         SELECT r.id, r.ts, actor, action, resource_type, resource_id, after
           FROM crypto_operations_audit r, management_events LIMIT 1",
    );
    forged.execute(&pool(world.as_application())).await.unwrap();
    world.service("later").await;
    let events: i64 = sqlx::query_scalar("SELECT count(*) FROM management_events")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    covered(&world, Log::Management, events.try_into().unwrap()).await;
}

#[tokio::test]
async fn records_are_not_sealed_before_the_logs_exist() {
    let world = World::new().await;
    hash(&world, 1).await;
    let admin = world.admin();
    let listed = admin.get("/admin/audit").await.ok().json();
    let record = &listed["items"][0];
    assert_eq!(record["log_index"], Value::Null);
    let id = record["id"].as_str().unwrap();
    let proof = admin.get(&format!("/admin/audit/{id}/proof")).await;
    proof.refused(409, "CONFLICT");
    for path in ["checkpoint", "key", "tile/0/000"] {
        let path = format!("/admin/audit/log/operations/{path}");
        admin.get(&path).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn records_from_before_the_logs_are_sealed_in_the_order_of_time() {
    let world = World::new().await;
    hash(&world, 3).await;
    initialize(&world, Renewal::default()).await;
    covered(&world, Log::Operations, 3).await;
    let times: Vec<String> = export(&world, Log::Operations)
        .await
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["timestamp"].to_string())
        .collect();
    assert_eq!(times.len(), 3);
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_do_not_wait_for_the_sealing_of_older_records() {
    const OLDER: u32 = 60_000;
    let world = World::new().await;
    // The first record waits for the partition of its day.
    hash(&world, 1).await;
    let older = AssertSqlSafe(insert_records(OLDER as usize, "older", "now()"));
    sqlx::query(older).execute(&world.pool).await.unwrap();
    initialize(&world, Renewal::default()).await;
    let sealed = async || -> i64 {
        let count = sqlx::query_scalar("SELECT count(*) FROM audit_log_index");
        count.fetch_one(&world.pool).await.unwrap()
    };
    within(PATIENCE, async || sealed().await > 0).await;
    hash(&world, 3).await;
    let sealed = sealed().await;
    assert!(sealed < i64::from(OLDER), "{sealed}");
}

#[tokio::test]
async fn a_record_that_commits_late_is_sealed_once_after_the_others() {
    let world = sealed_world().await;
    // Committed first: the records of the service would wait for a day that is being made.
    sqlx::query("SELECT make_audit_day(((now() - interval '1 minute') AT TIME ZONE 'UTC')::date)")
        .execute(&world.pool)
        .await
        .unwrap();
    let mut late = world.pool.begin().await.unwrap();
    let insert = AssertSqlSafe(insert_records(1, "late", "now() - interval '1 minute'"));
    sqlx::query(insert).execute(&mut *late).await.unwrap();
    hash(&world, 2).await;
    covered(&world, Log::Operations, 2).await;
    late.commit().await.unwrap();
    covered(&world, Log::Operations, 3).await;
    let lines = export(&world, Log::Operations).await;
    let ids: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["request_id"].clone())
        .collect();
    assert_eq!(ids.iter().filter(|id| *id == "late").count(), 1);
    assert_eq!(ids[2], "late");
}

#[tokio::test]
async fn two_instances_seal_each_record_once() {
    let one = sealed_world().await;
    let two = one.another().await;
    hash(&one, 3).await;
    hash(&two, 3).await;
    let checkpoint = covered(&one, Log::Operations, 6).await;
    assert_eq!(covered(&two, Log::Operations, 6).await, checkpoint);
    drop(one);
    // The other instance takes over.
    hash(&two, 1).await;
    covered(&two, Log::Operations, 7).await;
    let lines = export(&two, Log::Operations).await;
    assert_eq!(indexes(&lines), (0..7).collect::<Vec<_>>());
}
