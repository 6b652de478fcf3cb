//! Deleted policies: their list, what they refer to, and their restoration.

use axum::http::Method;
use serde_json::{Value, json};

use testkit::{Answer, Client, Destination, World, jwe};

const POLICIES: &str = "/admin/policies";

fn path(policy: &str) -> String {
    format!("{POLICIES}/{policy}/restore")
}

async fn restore(client: &Client<'_>, policy: &str, body: Value) -> Answer {
    client.post(&path(policy), body).await
}

async fn delete(world: &World, policy: &str) {
    world.admin().delete(&format!("{POLICIES}/{policy}")).await.gone();
}

/// The numbers of a list.
async fn numbers(world: &World, query: &str) -> Vec<String> {
    let list = world.admin().get(&format!("{POLICIES}?{query}")).await.ok().json();
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["policyNumber"].as_str().expect("a number").to_owned()).collect()
}

/// A deleted policy.
async fn deleted(world: &World) -> (Destination, Client<'_>) {
    let (destination, alice) = world.bound_application().await;
    let unbound = json!({ "policyNumber": null });
    world.admin().patch(&alice.key_path(), unbound).await.ok();
    delete(world, &destination.policy_id).await;
    (destination, alice)
}

#[tokio::test]
async fn a_restored_policy_opens_its_envelopes_at_once() {
    let world = World::new().await;
    let other = world.another().await;
    let (destination, alice) = world.bound_application().await;
    let sealed = jwe(&alice.protect(json!([1, 2])).await);
    let unbound = json!({ "policyNumber": null });
    world.admin().patch(&alice.key_path(), unbound).await.ok();
    // Narrowed and deleted: from then on nobody opens the envelope.
    world.change_policy(&destination, json!({ "allowedOperations": ["protect"] })).await;
    delete(&world, &destination.policy_id).await;
    let body = json!({ "jwe": sealed, "policyNumber": destination.policy });
    let open = async || alice.post("/api/v1/unprotect", body.clone()).await;
    open().await.refused(404, "POLICY_NOT_FOUND");
    let before = world.admin().get("/admin/policies?deleted=true").await.ok().json();
    let before = &before["items"][0];
    assert_eq!(before["id"], destination.policy_id);

    let wider = json!({ "allowedOperations": ["protect", "unprotect"] });
    let restored = restore(&world.admin(), &destination.policy_id, wider).await.ok();
    let mut expected = before.clone();
    expected["status"] = json!("inactive");
    expected["allowedOperations"] = json!(["protect", "unprotect"]);
    expected["updatedAt"] = restored.json()["updatedAt"].clone();
    assert_eq!(restored.json(), expected);
    let there = format!("{POLICIES}/{}", destination.policy_id);
    let read = world.admin().get(&there).await.ok();
    assert_eq!(read.json(), restored.json());
    assert_eq!(read.header("etag"), restored.header("etag"));
    assert_eq!(open().await.ok().json()["payload"], json!([1, 2]));
    alice.protect_under(&destination.policy, json!(1)).await.refused(403, "POLICY_NOT_ACTIVE");
    // It is deleted and restored again, with the same row.
    delete(&world, &destination.policy_id).await;
    open().await.refused(404, "POLICY_NOT_FOUND");
    restore(&other.admin(), &destination.policy_id, json!({})).await.ok();
    let active = json!({ "status": "active" });
    world.admin().patch(&there, active).await.ok();
    alice.protect_under(&destination.policy, json!(1)).await.ok();
}

#[tokio::test]
async fn deleted_policies_are_listed_alone() {
    let world = World::new().await;
    let (billing, other) = (world.service("billing").await, world.service("other").await);
    let first = world.policy(&billing).await;
    let second = world.policy(&other).await;
    let third = world.policy(&billing).await;
    for policy in [&first, &second] {
        delete(&world, policy).await;
    }
    assert_eq!(numbers(&world, "deleted=true").await, [first.clone(), second.clone()]);
    for living in ["", "deleted=false"] {
        assert_eq!(numbers(&world, living).await, std::slice::from_ref(&third));
    }
    let of_other = format!("deleted=true&destinationServiceId={other}");
    assert_eq!(numbers(&world, &of_other).await, [second]);
    assert_eq!(numbers(&world, "deleted=true&limit=1").await, [first]);
    let refused = world.admin().get("/admin/policies?deleted=yes").await;
    refused.invalid(&[("deleted", "format")]);
}

#[tokio::test]
async fn a_restoration_is_recorded() {
    let world = World::new().await;
    let (destination, _) = deleted(&world).await;
    let restored = restore(&world.admin(), &destination.policy_id, json!({})).await.ok().json();
    let query = format!("/admin/audit/management?resourceId={}", destination.policy_id);
    let events = world.admin().get(&query).await.ok().json();
    assert_eq!(events["items"][0]["action"], "restore");
    assert_eq!(events["items"][0]["resource_type"], "policy");
    assert_eq!(events["items"][0]["before"]["status"], "active");
    assert_eq!(events["items"][0]["after"], restored);
    assert_eq!(events["items"][1]["action"], "delete");
}

#[tokio::test]
async fn a_restoration_takes_what_a_patch_takes() {
    let world = World::new().await;
    let (destination, _) = deleted(&world).await;
    let admin = world.admin();
    let refused = restore(
        &admin,
        &destination.policy_id,
        json!({ "id": destination.policy_id, "createdAt": "2030-01-31T12:00:00Z",
            "status": "active", "name": null, "allowedServiceIds": ["*", "*"], "enc": 1, "more": 1 }),
    );
    refused.await.invalid(&[
        ("id", "unknown"),
        ("createdAt", "unknown"),
        ("status", "conflict"),
        ("name", "type"),
        ("allowedServiceIds", "conflict"),
        ("enc", "type"),
        ("more", "unknown"),
    ]);
    let post = async |media: &str, body: &str| {
        admin.send_as(media, Method::POST, &path(&destination.policy_id), body).await
    };
    post("text/plain", "{}").await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    post("application/json", "{").await.refused(400, "INVALID_REQUEST");
    let renamed = post("application/merge-patch+json", r#"{"name":"again"}"#).await.ok();
    assert_eq!(renamed.json()["name"], "again");
    delete(&world, &destination.policy_id).await;
    admin.post_nothing(&path(&destination.policy_id)).await.ok();
    delete(&world, &destination.policy_id).await;
    let inactive = json!({ "status": "inactive" });
    restore(&admin, &destination.policy_id, inactive).await.ok();
}

#[tokio::test]
async fn an_outdated_etag_restores_nothing() {
    let world = World::new().await;
    let (destination, _) = deleted(&world).await;
    let outdated = world.admin().with("if-match", "\"1\"");
    let refused = restore(&outdated, &destination.policy_id, json!({})).await;
    refused.refused(412, "PRECONDITION_FAILED");
    let expected = world.admin().with("if-match", "\"2\"");
    let restored = restore(&expected, &destination.policy_id, json!({})).await.ok();
    assert_eq!(restored.header("etag"), "\"3\"");
}

#[tokio::test]
async fn only_a_deleted_policy_of_a_living_destination_is_restored() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let number = world.policy(&service).await;
    let refused = restore(&admin, &number, json!({})).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "The policy is not deleted");
    for missing in ["POL-999999", "pol_01h455vb4pex5vsknk084sn02q", "%00"] {
        let missing = restore(&admin, missing, json!({})).await;
        missing.refused(404, "POLICY_NOT_FOUND");
    }
    delete(&world, &number).await;
    admin.delete(&format!("/admin/services/{service}")).await.gone();
    let refused = restore(&admin, &number, json!({})).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "The destination service of the policy is deleted");
    // Nor with another destination: the keys of the envelopes are those of the former one.
    let other = json!({ "destinationServiceId": world.service("other").await });
    restore(&admin, &number, other).await.refused(409, "CONFLICT");
}

#[tokio::test]
async fn a_restored_policy_needs_a_free_number() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let body = json!({ "name": "n", "policyNumber": "N", "destinationServiceId": service,
        "allowedServiceIds": ["*"] });
    let mut ids = Vec::new();
    for _ in 0..3 {
        let created = admin.post(POLICIES, body.clone()).await.created();
        ids.push(created.text("id"));
        delete(&world, &ids[ids.len() - 1]).await;
    }
    // The number names several policies.
    let refused = restore(&admin, "N", json!({})).await.refused(409, "CONFLICT");
    assert!(ids.iter().all(|id| refused.message().contains(id)), "{}", refused.message());
    restore(&admin, &ids[0], json!({})).await.ok();
    let refused = restore(&admin, "N", json!({})).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "The policy is not deleted");
    let refused = restore(&admin, &ids[1], json!({})).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "Another policy has the number N");
    let renumbered = json!({ "policyNumber": "M" });
    let restored = restore(&admin, &ids[1], renumbered).await.ok();
    assert_eq!(restored.json()["policyNumber"], "M");
    delete(&world, "M").await;
    // A number that one deleted policy has names it.
    let restored = restore(&admin, "M", json!({})).await.ok();
    assert_eq!(restored.json()["id"], ids[1]);
}

#[tokio::test]
async fn owners_and_policy_administrators_restore_policies() {
    let world = World::new().await;
    let (destination, _) = deleted(&world).await;
    for role in ["custodian", "auditor"] {
        let other = world.administrator(&[role]).await;
        let refused = restore(&other, &destination.policy_id, json!({})).await;
        refused.refused(403, "FORBIDDEN");
        other.get("/admin/policies?deleted=true").await.ok();
    }
    let policy_admin = world.administrator(&["policy-admin"]).await;
    restore(&policy_admin, &destination.policy_id, json!({})).await.ok();
}

#[tokio::test]
async fn a_restoration_that_is_sent_again_gets_the_first_answer() {
    let world = World::new().await;
    let (destination, _) = deleted(&world).await;
    let admin = world.admin().with("idempotency-key", "k");
    let first = restore(&admin, &destination.policy_id, json!({})).await.ok();
    let again = restore(&admin, &destination.policy_id, json!({})).await.ok();
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.body, first.body);
    for header in ["etag", "content-type"] {
        assert_eq!(again.header(header), first.header(header));
    }
    assert!(!again.headers.contains_key("location"));
}

/// A deleted policy goes on deciding about the services that it allows.
#[tokio::test]
async fn a_service_that_a_deleted_policy_allows_by_name_is_not_deleted() {
    let world = World::new().await;
    let admin = world.admin();
    let (destination, caller) = (world.service("bank").await, world.service("shop").await);
    let body = json!({ "name": "n", "policyNumber": "N", "destinationServiceId": destination,
        "allowedServiceIds": [caller, destination] });
    let id = admin.post(POLICIES, body).await.created().text("id");
    // It allows any service, so that it names none.
    let open = world.policy(&destination).await;
    for policy in ["N", &open] {
        delete(&world, policy).await;
    }
    let service = format!("/admin/services/{caller}");
    let refused = admin.delete(&service).await.refused(409, "CONFLICT");
    let expected = format!(
        "The service is still referred to by deleted policy N ({id}): a deleted policy still decides about \
         its envelopes. Restore it, remove the service from its allowedServiceIds, and delete it again"
    );
    assert_eq!(refused.message(), expected);

    restore(&admin, "N", json!({ "allowedServiceIds": [destination] })).await.ok();
    delete(&world, "N").await;
    admin.delete(&service).await.gone();
    let refused = admin.delete(&format!("/admin/services/{destination}")).await;
    assert!(refused.refused(409, "CONFLICT").message().contains(&id));
    restore(&admin, "N", json!({ "allowedServiceIds": ["*"] })).await.ok();
    delete(&world, "N").await;
    admin.delete(&format!("/admin/services/{destination}")).await.gone();
}

/// Of a policy and its destination, one stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_destination_is_not_deleted_while_its_policy_is_restored() {
    let world = World::new().await;
    let admin = world.admin();
    for number in 0..10 {
        let service = world.service(&format!("service {number}")).await;
        let policy = world.policy(&service).await;
        delete(&world, &policy).await;
        let there = format!("/admin/services/{service}");
        let (restored, gone) =
            tokio::join!(restore(&admin, &policy, json!({})), admin.delete(&there));
        let statuses = [restored.status.as_u16(), gone.status.as_u16()];
        assert!(matches!(statuses, [200, 409] | [409, 204]), "{statuses:?}");
    }
}
