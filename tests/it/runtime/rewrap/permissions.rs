//! The permissions that `/rewrap` needs.

use serde_json::json;

use super::{records, rewrap, row};
use crate::runtime::binding::policy;
use crate::runtime::uniform::envelope_for;
use testkit::{Client, UNPROTECT, World, header_of, jwe};

/// An application whose API key allows only these operations.
async fn limited<'w>(world: &'w World, policy: &str, operations: &[&str]) -> Client<'w> {
    let name = format!("{} only", operations.join(" and "));
    let application = world.application(&name).bound_to(policy);
    application.with("allowedOperations", json!(operations)).await
}

#[tokio::test]
async fn one_policy_needs_rewrap_or_both_other_operations() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let number = destination.policy.clone();
    let alice = world.application("alice").bound_to(&number).await;
    let sealed = jwe(&alice.protect(json!(1)).await);
    let body = json!({ "jwe": sealed });
    for (operations, allowed) in [
        (&["rewrap"] as &[&str], true),
        (&["protect", "unprotect"], true),
        (&["protect"], false),
        (&["unprotect", "sign"], false),
    ] {
        let client = limited(&world, &number, operations).await;
        let answer = rewrap(&client, body.clone()).await;
        if allowed {
            answer.ok();
        } else {
            answer.refused(403, "OPERATION_NOT_ALLOWED");
        }
    }
    let only = limited(&world, &number, &["rewrap", "sign"]).await;
    only.unprotect(&sealed).await.refused(403, "OPERATION_NOT_ALLOWED");
    only.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED");
    for (operations, allowed) in [
        (json!(["rewrap"]), true),
        (json!(["protect", "unprotect"]), true),
        (json!(["unprotect"]), false),
        (json!(["protect"]), false),
    ] {
        let change = json!({ "allowedOperations": operations });
        world.change_policy(&destination, change).await;
        let answer = rewrap(&alice, body.clone()).await;
        if allowed {
            answer.ok();
        } else {
            answer.refused(403, "OPERATION_NOT_ALLOWED");
        }
    }
    let created = world.admin().get(&format!("/admin/policies/{number}")).await;
    assert_eq!(created.ok().json()["allowedOperations"], json!(["protect"]));
}

#[tokio::test]
async fn two_policies_need_unprotect_under_the_first_and_protect_under_the_second() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let other = world.destination("other", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let sealed = jwe(&alice.protect(json!("secret")).await);
    let body = json!({ "jwe": sealed, "toPolicyNumber": other.policy });
    let created = jwe(&rewrap(&alice, body.clone()).await);
    assert_eq!(header_of(&created)["kid"], other.key);
    assert_eq!(header_of(&created)["pol"], other.policy_id);
    let opening = json!({ "jwe": created, "policyNumber": other.policy });
    let opened = alice.post(UNPROTECT, opening).await.ok();
    assert_eq!(opened.json()["payload"], "secret");
    let expected = [
        row("decrypt", 200, &one.policy, Some(&one.key), None),
        row("encrypt", 200, &other.policy, Some(&other.key), None),
    ];
    assert_eq!(records(&world).await, expected);

    let only = limited(&world, &one.policy, &["rewrap"]).await;
    rewrap(&only, json!({ "jwe": sealed })).await.ok();
    rewrap(&only, body.clone()).await.refused(403, "OPERATION_NOT_ALLOWED");
    for (policy, operations) in [(&one, ["protect", "rewrap"]), (&other, ["unprotect", "rewrap"])] {
        let change = json!({ "allowedOperations": operations });
        world.change_policy(policy, change).await;
        let answer = rewrap(&alice, body.clone()).await;
        answer.refused(403, "OPERATION_NOT_ALLOWED");
        let change = json!({ "allowedOperations": ["protect", "unprotect", "rewrap"] });
        world.change_policy(policy, change).await;
    }
    rewrap(&alice, body).await.ok();
}

#[tokio::test]
async fn the_policy_of_the_envelope_decides_too() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let other = policy(&world, &one, json!({})).await;
    let alice = world.application("alice").bound_to(&other.policy).await;
    let only = limited(&world, &other.policy, &["rewrap"]).await;
    let of_one = jwe(&alice.protect_under(&one.policy, json!(1)).await);
    let body = json!({ "jwe": of_one });
    // `rewrap` alone does not move an envelope from one policy to another.
    rewrap(&only, body.clone()).await.refused(403, "OPERATION_NOT_ALLOWED");
    rewrap(&alice, body.clone()).await.ok();
    let change = json!({ "allowedOperations": ["protect", "rewrap"] });
    world.change_policy(&one, change).await;
    rewrap(&alice, body).await.refused(403, "OPERATION_NOT_ALLOWED");

    let unbound = envelope_for(&world, &one, |_| {}).await;
    rewrap(&only, json!({ "jwe": unbound })).await.ok();
    world.change_policy(&other, json!({ "requireBinding": true })).await;
    for client in [&only, &alice] {
        let refused = rewrap(client, json!({ "jwe": unbound })).await;
        refused.refused(403, "OPERATION_NOT_ALLOWED");
    }
}
