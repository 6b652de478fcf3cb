//! The binding of envelopes to their policy.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use super::uniform::envelope_for;
use testkit::{Answer, Client, Destination, EnvelopeBuilder, UNPROTECT, World, jwe};

/// The header of an envelope as text.
pub(super) fn header(envelope: &Value) -> String {
    let protected = BASE64URL.decode(envelope["protected"].as_str().unwrap());
    String::from_utf8(protected.unwrap()).unwrap()
}

/// The members of a header in the order of its text.
fn names(header: &str) -> Vec<String> {
    let parsed: Value = serde_json::from_str(header).unwrap();
    let place = |name: &String| header.find(&format!("\"{name}\":")).unwrap();
    let mut names: Vec<String> = parsed.as_object().unwrap().keys().cloned().collect();
    names.sort_by_key(place);
    names
}

/// Another policy for the destination.
pub(super) async fn policy(
    world: &World,
    destination: &Destination,
    members: Value,
) -> Destination {
    let mut policy = json!({
        "name": "another",
        "destinationServiceId": destination.service,
        "alg": "ECDH-ES+A256KW",
        "allowedServiceIds": ["*"],
    });
    let members = members.as_object().unwrap().clone();
    policy.as_object_mut().unwrap().extend(members);
    let created = world.admin().post("/admin/policies", policy).await;
    let created = created.created();
    Destination {
        service: destination.service.clone(),
        key: destination.key.clone(),
        policy_id: created.text("id"),
        policy: created.text("policyNumber"),
    }
}

async fn open(client: &Client<'_>, policy: &Destination, envelope: &Value) -> Answer {
    let body = json!({ "jwe": envelope, "policyNumber": policy.policy });
    client.post(UNPROTECT, body).await
}

fn not_allowed(answer: Answer) {
    answer.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test]
async fn an_envelope_names_its_policy_unless_the_destination_holds_the_key() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let created = header(&jwe(&alice.protect(json!(1)).await));
    assert_eq!(names(&created), ["alg", "cty", "enc", "epk", "kid", "pol"]);
    let parsed: Value = serde_json::from_str(&created).unwrap();
    assert_eq!(parsed["pol"], destination.policy_id);

    let change = json!({ "keyOwnership": "destination_managed" });
    world.change_policy(&destination, change).await;
    let created = header(&jwe(&alice.protect(json!(1)).await));
    assert_eq!(names(&created), ["alg", "cty", "enc", "epk", "kid"]);
}

#[tokio::test]
async fn the_policy_of_an_envelope_is_cached() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let other = policy(&world, &one, json!({ "name": "other" })).await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    open(&alice, &other, &envelope).await.ok();
    // A query of the policies would wait for this lock.
    let mut lock = world.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE policies IN ACCESS EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    for _ in 0..20 {
        open(&alice, &other, &envelope).await.ok();
    }
    lock.rollback().await.unwrap();
}

#[tokio::test]
async fn both_policies_must_allow_opening() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let (alice, bob) = (world.application("alice").await, world.application("bob").await);
    let other = policy(&world, &one, json!({})).await;
    let sealed = jwe(&alice.protect_under(&one.policy, json!(1)).await);
    for client in [&alice, &bob] {
        open(client, &one, &sealed).await.ok();
        open(client, &other, &sealed).await.ok();
    }
    // A change of the policy in `pol` applies immediately, also with the other policy.
    let change = json!({ "allowedServiceIds": [bob.service] });
    world.change_policy(&one, change).await;
    not_allowed(open(&alice, &other, &sealed).await);
    open(&bob, &other, &sealed).await.ok();
    let change = json!({ "allowedOperations": ["protect"] });
    world.change_policy(&one, change).await;
    not_allowed(open(&bob, &other, &sealed).await);
    // The named policy must also allow it.
    let change = json!({ "allowedOperations": ["protect", "unprotect"] });
    world.change_policy(&one, change).await;
    let change = json!({ "allowedServiceIds": [alice.service] });
    world.change_policy(&other, change).await;
    not_allowed(open(&bob, &other, &sealed).await);
    open(&bob, &one, &sealed).await.ok();
    // Payloads stay readable under an inactive policy.
    world.change_policy(&one, json!({ "status": "inactive" })).await;
    open(&bob, &one, &sealed).await.ok();
}

#[tokio::test]
async fn a_deleted_policy_decides_by_its_last_state() {
    let world = World::new().await;
    let named = world.some_destination().await;
    let (alice, bob) = (world.application("alice").await, world.application("bob").await);
    let only_alice = json!({ "allowedServiceIds": [alice.service] });
    let for_alice = policy(&world, &named, only_alice).await;
    let for_none = policy(&world, &named, json!({})).await;
    let sealed = jwe(&alice.protect_under(&for_alice.policy, json!(1)).await);
    let closed = jwe(&alice.protect_under(&for_none.policy, json!(1)).await);
    open(&bob, &named, &closed).await.ok();
    let change = json!({ "allowedOperations": ["protect"] });
    world.change_policy(&for_none, change).await;
    for policy in [&for_alice, &for_none] {
        let path = format!("/admin/policies/{}", policy.policy_id);
        world.admin().delete(&path).await.gone();
    }
    open(&alice, &named, &sealed).await.ok();
    not_allowed(open(&bob, &named, &sealed).await);
    not_allowed(open(&alice, &named, &closed).await);
    // The policy is deleted.
    open(&alice, &for_alice, &sealed).await.refused(404, "POLICY_NOT_FOUND");
}

#[tokio::test]
async fn an_envelope_without_a_known_policy_opens_unless_binding_is_required() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let bound = jwe(&alice.protect(json!([1, 2])).await);
    let mut unbound = vec![EnvelopeBuilder::to(&world, &destination).await.envelope()];
    for pol in ["pol_01h455vb4pex5vsknk084sn02q", "POL-000001", "", "ü"] {
        let envelope = envelope_for(&world, &destination, |header| header["pol"] = json!(pol));
        unbound.push(envelope.await);
    }
    for envelope in unbound.iter().chain([&bound]) {
        let opened = alice.unprotect(envelope).await.ok();
        assert_eq!(opened.json()["payload"], json!([1, 2]));
    }
    let change = json!({ "requireBinding": true });
    world.change_policy(&destination, change).await;
    for envelope in &unbound {
        not_allowed(alice.unprotect(envelope).await);
    }
    alice.unprotect(&bound).await.ok();
}

#[tokio::test]
async fn pol_must_be_a_string() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for wrong in [json!(1), json!(null), json!(["pol_1"])] {
        let envelope = envelope_for(&world, &destination, |header| {
            header["pol"] = wrong.clone();
            header["ctx"] = wrong;
        });
        let expected = [("jwe.protected.pol", "type"), ("jwe.protected.ctx", "type")];
        alice.unprotect(&envelope.await).await.invalid(&expected);
    }
}

#[tokio::test]
async fn a_changed_or_removed_policy_does_not_open() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let other = policy(&world, &destination, json!({})).await;
    let sealed = jwe(&alice.protect(json!(1)).await);
    let own: Value = serde_json::from_str(&header(&sealed)).unwrap();
    let mut removed = own.clone();
    removed.as_object_mut().unwrap().remove("pol");
    let mut changed = own;
    changed["pol"] = json!(other.policy_id);
    for header in [removed, changed] {
        let mut forged = sealed.clone();
        forged["protected"] = json!(BASE64URL.encode(header.to_string()));
        alice.unprotect(&forged).await.refused(500, "INTERNAL_ERROR");
    }
}

#[tokio::test]
async fn the_policy_of_the_envelope_is_checked_before_any_key() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let (alice, bob) = (world.application("alice").await, world.application("bob").await);
    let only_alice = json!({ "allowedServiceIds": [alice.service] });
    let own = policy(&world, &destination, only_alice).await;
    let sealed = jwe(&alice.protect_under(&own.policy, json!(1)).await);
    let change = json!({ "keyOwnership": "destination_managed" });
    world.change_policy(&destination, change).await;
    not_allowed(open(&bob, &destination, &sealed).await);
    open(&alice, &destination, &sealed).await.refused(400, "UNPROTECT_NOT_AVAILABLE");
    let change = json!({ "keyOwnership": "service_managed" });
    world.change_policy(&destination, change).await;
    world.change_key(&destination.key, json!({ "status": "disabled" })).await;
    not_allowed(open(&bob, &destination, &sealed).await);
    open(&alice, &destination, &sealed).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
}
