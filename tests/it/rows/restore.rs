//! Deleted policies whose rows the service did not write.

use serde_json::json;

use super::Intruder;
use testkit::{Answer, World};

#[tokio::test]
async fn only_a_deleted_policy_with_a_valid_row_is_restored() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let service = world.service("billing").await;
    let number = world.policy(&service).await;
    let path = format!("/admin/policies/{number}");
    world.admin().delete(&path).await.gone();
    intruder.keep(&world, "policies").await;
    let restore =
        async || -> Answer { world.admin().post(&format!("{path}/restore"), json!({})).await };
    for sql in [
        "UPDATE policies SET deleted_at = NULL",
        "UPDATE policies SET require_binding = true",
        "UPDATE policies SET seal = NULL",
    ] {
        intruder.run(sql).await;
        restore().await.refused(404, "POLICY_NOT_FOUND");
        world.admin().get(&path).await.refused(404, "POLICY_NOT_FOUND");
        intruder.put_back("policies").await;
    }
    let listed = world.admin().get("/admin/policies?deleted=true").await.ok().json();
    assert_eq!(listed["items"][0]["policyNumber"], number);
    assert_eq!(listed["items"][0].get("sealValid"), None);
    restore().await.ok();
    world.admin().get(&path).await.ok();
    // The tombstone is older than the restored policy.
    intruder.put_back("policies").await;
    let listed = world.admin().get("/admin/policies?deleted=true").await.ok().json();
    assert_eq!(listed["items"][0]["sealValid"], false);
    restore().await.refused(404, "POLICY_NOT_FOUND");
}
