//! Positions that the login of the service gives to segments of its own.

use engine::ids::EventId;
use engine::ledger::Renewal;
use formats::clock::{Clock, Entropy};
use formats::tlog::{Hash, Tree};
use serde_json::{Value, json};
use sqlx::types::Json;

use super::Intruder;
use super::deviations::{deviates, found, sealed, sealed_world};
use crate::ledger::initialize;
use testkit::{PATIENCE, World, rewrite, within};

impl Intruder {
    /// Writes an event about the policies or the keys, and waits until the sealer has given it a position.
    async fn invent(&self, world: &World, table: &str, action: &str, state: Value) -> EventId {
        let id = EventId::new(&Clock::system(), &Entropy::system());
        let kind = table.trim_end_matches('s').replace("ie", "y");
        let sql = format!(
            "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, before, after, approved_by)
             SELECT $1, now(), 'n', '{action}', '{kind}', id, '{{}}', $2, '{{eve}}' FROM {table} LIMIT 1"
        );
        let insert = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(Json(state));
        insert.execute(&self.pool).await.expect("an event");
        sealed(world).await;
        id
    }

    /// Gives the event a second position, in a segment that seems to be that of its transaction.
    async fn position(&self, world: &World, event: EventId) {
        let segment = "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
            SELECT 2, $1, ARRAY[$1], leaf_hash, '\\x0000000000' FROM audit_log_places(2::smallint, $1)";
        sqlx::query(segment).bind(event).execute(&self.pool).await.expect("a segment");
        within(PATIENCE, async || {
            let sql = "SELECT size FROM audit_log_heads WHERE log = 2";
            let size: i64 = sqlx::query_scalar(sql).fetch_one(&world.pool).await.expect("a head");
            let leaves: Vec<Vec<u8>> = sqlx::query_scalar(
                "SELECT leaf_hash FROM (
                     SELECT log_index, leaf_hash FROM audit_log_index WHERE log = 2 AND log_index < $1
                     UNION ALL SELECT $1, hashes FROM audit_log_segments WHERE log = 2 AND id = $2
                 ) AS leaf ORDER BY log_index",
            )
            .bind(size)
            .bind(event)
            .fetch_all(&world.pool)
            .await
            .expect("leaves");
            let mut tree = Tree::default();
            for leaf in &leaves {
                tree.append(Hash::try_from(leaf.as_slice()).expect("a hash"), |_| ());
            }
            let seal = "SELECT seal_audit_segments(2::smallint, origin, $1, root, $2, ARRAY[$3], '{}', '{}', '{}')
                          FROM audit_log_heads WHERE log = 2 AND size = $1";
            let root = tree.root();
            let sealed: Option<Option<i64>> = sqlx::query_scalar(seal)
                .bind(size)
                .bind(root.as_bytes().as_slice())
                .bind(event)
                .fetch_optional(&self.pool)
                .await
                .expect("an answer");
            sealed.flatten().is_some()
        })
        .await;
    }
}

/// The login of the service can give a position to a segment that it wrote, although nothing further is signed.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_in_a_foreign_segment_attests_nothing() {
    let world = sealed_world().await;
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    let expected = deviates("policies", "changed", &["requireBinding"]);
    let intruder = Intruder::of(&world);
    let policies = world.admin().get("/admin/policies").await.ok().json();
    let mut state = policies["items"][0].clone();
    state["requireBinding"] = json!(true);
    let event = intruder.invent(&world, "policies", "update", state).await;
    intruder.position(&world, event).await;
    assert_eq!(found(&world).await, expected);

    // The new origin keeps the segment, and knows it.
    initialize(&world, Renewal { origin: true, ..Renewal::default() }).await;
    let renewed =
        world.admin().get("/admin/audit/management?resourceType=audit_log&action=update").await;
    let segments = renewed.ok().json()["items"][0]["after"]["foreignSegments"].clone();
    assert_eq!(segments, json!([event.uuid().to_string()]), "its name is that of the event");
    assert_eq!(found(&world).await, expected);
}
