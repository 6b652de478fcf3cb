//! Isolation of services: three applications, three services, all operations. No application can use
//! resources of another service (confused deputy).

use serde_json::{Value, json};

use testkit::{Client, Destination, UNPROTECT, World, jwe};

/// The keys of a service and the results of operations with them.
struct Tenant<'w> {
    owner: Client<'w>,
    destination: Destination,
    jwe: Value,
    sealed: Value,
    signed: Value,
}

async fn tenant<'w>(world: &'w World, name: &str) -> Tenant<'w> {
    let owner = world.application(&format!("owner of {name}")).await;
    let service = world.service(name).await;
    let key = world.key(&service, "enc", "P-256").await;
    let destination = destination(world, &owner, service, key).await;
    let bound = json!({ "policyNumber": destination.policy });
    world.admin().put(&owner.key_path(), bound).await.ok();
    let service = owner.service.clone().unwrap();
    world.key(&service, "data", "AES-256").await;
    world.key(&service, "sig", "Ed25519").await;
    let jwe = jwe(&owner.protect(json!(name)).await);
    let payload = json!({ "data": name, "algorithm": "AES-256-GCM" });
    let sealed = owner.operate("encrypt", payload).await.ok().json()["result"].clone();
    let payload = json!({ "data": name, "algorithm": "Ed25519" });
    let signed = owner.operate("sign", payload).await.ok().json()["result"].clone();
    Tenant { owner, destination, jwe, sealed, signed }
}

/// A policy for one caller, as an administrator creates it.
async fn destination(
    world: &World,
    caller: &Client<'_>,
    service: String,
    key: String,
) -> Destination {
    let policy = json!({
        "name": "policy",
        "destinationServiceId": service,
        "alg": "ECDH-ES+A256KW",
        "allowedServiceIds": [caller.service],
    });
    let created = world.admin().post("/admin/policies", policy).await;
    let created = created.created();
    Destination {
        service,
        key,
        policy_id: created.text("id"),
        policy: created.text("policyNumber"),
    }
}

/// Two services protect for one destination, each with its own policy. The key is the same, so only the
/// policy isolates their envelopes.
#[tokio::test]
async fn a_service_cannot_open_envelopes_of_another_policy_with_the_same_destination() {
    let world = World::new().await;
    let (alice, bob) = (world.application("alice").await, world.application("bob").await);
    let service = world.service("bank").await;
    let key = world.key(&service, "enc", "P-256").await;
    let of_alice = destination(&world, &alice, service.clone(), key.clone()).await;
    let of_bob = destination(&world, &bob, service, key).await;
    let envelope = jwe(&alice.protect_under(&of_alice.policy, json!("secret")).await);
    for policy in [&of_alice, &of_bob] {
        let body = json!({ "jwe": envelope, "policyNumber": policy.policy });
        bob.post(UNPROTECT, body).await.refused(403, "OPERATION_NOT_ALLOWED");
    }
    let body = json!({ "jwe": envelope, "policyNumber": of_alice.policy });
    alice.post(UNPROTECT, body).await.ok();
    let own = jwe(&bob.protect_under(&of_bob.policy, json!("own")).await);
    let body = json!({ "jwe": own, "policyNumber": of_bob.policy });
    bob.post(UNPROTECT, body).await.ok();
}

#[tokio::test]
async fn a_service_cannot_use_resources_of_another_service() {
    let world = World::new().await;
    let tenants =
        [tenant(&world, "one").await, tenant(&world, "two").await, tenant(&world, "three").await];
    let mut grid = String::new();
    for (who, caller) in tenants.iter().enumerate() {
        for (whose, owner) in tenants.iter().enumerate() {
            let asked = ask(&caller.owner, owner).await;
            grid.push_str(&format!("application {} at service {}:", who + 1, whose + 1));
            for (operation, outcome) in asked {
                grid.push_str(&format!(" {operation} {outcome};"));
            }
            grid.push('\n');
        }
    }
    insta::assert_snapshot!(grid);
}

/// Every operation on the resources of the owner.
async fn ask(caller: &Client<'_>, owner: &Tenant<'_>) -> Vec<(&'static str, String)> {
    let policy = &owner.destination.policy;
    let unprotect = json!({ "jwe": owner.jwe, "policyNumber": policy });
    let key = |of: &Value| of["keyId"].clone();
    let encrypt = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": key(&owner.sealed) });
    let sign = json!({ "data": 1, "algorithm": "Ed25519", "keyId": key(&owner.signed) });
    let mut verify = owner.signed.clone();
    verify["data"] = json!("x");
    // No application can name the envelope key.
    let misused = json!({ "data": 1, "algorithm": "ECDSA-SHA256", "keyId": owner.destination.key });
    let answers = [
        ("protect", caller.protect_under(policy, json!(1)).await),
        ("unprotect", caller.post(UNPROTECT, unprotect).await),
        ("unprotect under own policy", caller.unprotect(&owner.jwe).await),
        ("encrypt", caller.operate("encrypt", encrypt).await),
        ("decrypt", caller.operate("decrypt", owner.sealed.clone()).await),
        ("sign", caller.operate("sign", sign).await),
        ("verify", caller.operate("verify", verify).await),
        ("sign with the envelope key", caller.operate("sign", misused).await),
    ];
    let outcome = |answer: &testkit::Answer| {
        let code = answer.json()["error"]["code"].as_str().map(str::to_owned);
        code.unwrap_or_else(|| answer.status.as_u16().to_string())
    };
    answers.iter().map(|(operation, answer)| (*operation, outcome(answer))).collect()
}
