//! The keys of the audit logs: without the newest one, an older key would sign.

use engine::ledger::{self, Log, Renewal, SealState};
use formats::clock::{Clock, Entropy};
use serde_json::json;

use super::Intruder;
use crate::ledger::{Kept, covered, initialize, key};
use testkit::{World, rewrite, token};

/// Logs with two keys, and two of cosignatures.
async fn logs_with_keys() -> Kept {
    let logs = Kept::new().await;
    initialized(&logs).await.expect("another key");
    rewrite(
        &logs.owner,
        "INSERT INTO audit_log_cosigners (id, public_key, created_at)
         SELECT id, public_key, created_at FROM audit_log_keys",
    )
    .await;
    logs
}

async fn initialized(logs: &Kept) -> Result<ledger::Initialized, ledger::InitError> {
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let renewal = Renewal { key: true, ..Renewal::default() };
    let token = token().await;
    ledger::initialize(&logs.pool, &token, (&clock, &entropy), "example.com/a", renewal).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_row_of_a_key_or_an_origin_nothing_is_sealed() {
    const REASON: &str = "the row of a key or an origin of the audit logs";
    for (table, column) in [
        ("audit_log_keys", "created_at = '2000-01-01'"),
        ("audit_log_cosigners", "created_at = '2000-01-01'"),
        ("audit_log_origins", "origin = 'example.com/other/operations'"),
    ] {
        let newest = format!("(SELECT max(id::text)::uuid FROM {table})");
        for tampering in [
            format!("UPDATE {table} SET {column} WHERE id = {newest}"),
            format!("UPDATE {table} SET seal = NULL WHERE id = {newest}"),
            format!("DELETE FROM {table} WHERE id = {newest}"),
            // A later row was there.
            format!(
                "INSERT INTO revisions SELECT '{table}', id, revision + 1, 'changed' FROM {table}
                  WHERE id = {newest}"
            ),
        ] {
            let logs = logs_with_keys().await;
            logs.execute(&tampering).await;
            let sealer = logs.sealer().await;
            let failed = |state: &SealState| matches!(state, SealState::Failed(_));
            let state = sealer.state(failed).await;
            let is_refused = matches!(&state, SealState::Failed(reason) if reason.contains(REASON));
            assert!(is_refused, "{tampering}: {state:?}");
            let refused = initialized(&logs).await.expect_err(&tampering).to_string();
            assert!(refused.contains(REASON), "{tampering}: {refused}");
        }
    }
}

/// The cryptographic floor would show another algorithm.
#[tokio::test(flavor = "multi_thread")]
async fn an_added_key_is_not_held_to_the_floor() {
    let logs = Kept::new().await;
    let own = async || format!("{:?}", ledger::own_keys(&logs.pool).await.expect("keys"));
    let before = own().await;
    assert!(before.contains("signs the audit logs") && !before.contains("reports"), "{before}");
    for table in ["audit_log_cosigners", "report_keys"] {
        let added = format!(
            "INSERT INTO {table} (id, public_key, created_at)
             SELECT gen_random_uuid(), public_key, now() FROM audit_log_keys"
        );
        logs.execute(&added).await;
        assert_eq!(own().await, before, "{table}");
    }
}

/// The login of the service can insert a key.
#[tokio::test(flavor = "multi_thread")]
async fn an_added_key_signs_nothing_and_is_not_served() {
    let world = World::new().await;
    initialize(&world, Renewal::default()).await;
    world.service("first").await;
    let size = covered(&world, Log::Management, 1).await.size;
    let before = key(&world, Log::Management).await;
    Intruder::of(&world)
        .run(
            "INSERT INTO audit_log_keys (id, public_key, created_at)
             SELECT gen_random_uuid(), public_key, now() FROM audit_log_keys",
        )
        .await;
    world.service("second").await;
    covered(&world, Log::Management, size + 1).await;
    assert_eq!(key(&world, Log::Management).await.to_string(), before.to_string());
    let health = world.admin().get("/api/v1/health").await.ok().json();
    assert_eq!(health["checks"]["records"], json!({ "status": "degraded" }));
}
