//! States of resources in long management events, whose leaves have only the hashes of the states.

use engine::ledger::Log;
use engine::ledger::verify::{self, Change, NotVerified, Trust};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::types::Json;

use super::fixture::{management_log, member};
use crate::ledger::fixture::{covered, export, hash, sealed_world};
use testkit::World;

/// A sealed event with a long state.
struct Long {
    world: World,
    trust: Trust,
    lines: Vec<String>,
    index: usize,
    /// The hash that stands for the state in the leaf.
    hashed: Value,
}

impl Long {
    async fn new() -> Self {
        let world = sealed_world().await;
        hash(&world, 1).await;
        let state = json!({ "name": "x".repeat(70_000) });
        let sql = "INSERT INTO management_events (id, at, actor, action, resource_type, after)
                   SELECT gen_random_uuid(), at, actor, action, resource_type, $1
                     FROM management_events LIMIT 1";
        let insert = sqlx::query(sql).bind(Json(&state)).execute(&world.pool);
        insert.await.expect("an event");
        let events: i64 = sqlx::query_scalar("SELECT count(*) FROM management_events")
            .fetch_one(&world.pool)
            .await
            .expect("a number");
        covered(&world, Log::Management, events.unsigned_abs()).await;
        let trust = management_log(&world.pool).await;
        let lines = export(&world, Log::Management).await;
        let is_long = |line: &String| member(line, "after") == state;
        let index = lines.iter().position(is_long).expect("the event");
        let digest = Sha256::digest(state.to_string());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { world, trust, lines, index, hashed: json!({ "sha256": hex }) }
    }

    /// The event with the hash in place of its state.
    fn erased(&self) -> Value {
        let mut line: Value = serde_json::from_str(&self.lines[self.index]).unwrap();
        line["after"] = self.hashed.clone();
        line
    }

    fn changed(&self) -> Change {
        Change::Changed {
            index: self.index as u64,
            record: member(&self.lines[self.index], "id").as_str().unwrap().to_owned(),
        }
    }

    /// Verifies the export with this line in place of the event.
    fn export(&self, line: &Value) -> Result<verify::VerifiedLog, NotVerified> {
        let mut lines = self.lines.clone();
        lines[self.index] = line.to_string();
        let text = lines.join("\n");
        verify::export(&self.trust, text.as_bytes(), None, &mut |_| ())
    }
}

#[track_caller]
fn finds(result: Result<verify::VerifiedLog, NotVerified>, expected: &Change) {
    let Err(NotVerified::Tampered(findings)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(findings.first[0].change, *expected);
}

#[tokio::test]
async fn a_hash_in_place_of_a_state_is_found() {
    let long = Long::new().await;
    finds(long.export(&long.erased()), &long.changed());
    sqlx::query("UPDATE management_events SET after = $1 WHERE length(after::text) > 70000")
        .bind(Json(&long.hashed))
        .execute(&long.world.pool)
        .await
        .expect("the owner of the database");
    let pool = &long.world.pool;
    let result = verify::database(&long.trust, pool, &mut |_| ()).await;
    finds(result, &long.changed());
}

#[tokio::test]
async fn a_long_record_of_a_collector_is_verified_and_counted() {
    let long = Long::new().await;
    let mut line = long.erased();
    line["v"] = json!(1);
    line["type"] = json!("management");
    let verified = long.export(&line).unwrap();
    assert_eq!((verified.hashed, verified.newer), (1, 0));
}
