//! Public keys of a service whose private key opens envelopes.

use serde_json::{Value, json};

use testkit::World;

const KEYS: &str = "/admin/keys";

#[tokio::test]
async fn a_public_key_does_not_replace_a_private_key_that_opens_envelopes() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let partner = world.service("partner").await;
    let theirs = world.key(&partner, "enc", "P-256").await;
    let theirs = world.admin().get(&format!("{KEYS}/{theirs}")).await.ok();
    let mut body =
        json!({ "serviceId": destination.service, "publicKey": theirs.json()["publicKey"] });
    let refused = world.admin().post(KEYS, body.clone()).await;
    refused.refused(409, "CONFLICT");
    let sealed = alice.protect(json!(1)).await.ok();
    let envelope = json!({ "jwe": sealed.json()["jwe"] });
    alice.post(testkit::UNPROTECT, envelope).await.ok();

    body["activate"] = json!(false);
    let second = world.admin().post(KEYS, body.clone()).await.created();
    let path = format!("{KEYS}/{}", second.text("id"));
    let active = json!({ "status": "active" });
    let refused = world.admin().patch(&path, active.clone()).await;
    refused.refused(409, "CONFLICT");

    let held = json!({ "keyOwnership": "destination_managed" });
    let policy = format!("/admin/policies/{}", destination.policy_id);
    world.admin().patch(&policy, held).await.ok();
    world.admin().patch(&path, active).await.ok();
    let former = format!("{KEYS}/{}", destination.key);
    let former: Value = world.admin().get(&former).await.ok().json();
    assert_eq!(former["status"], "retired");
}

#[tokio::test]
async fn a_jwk_that_events_cannot_contain_is_refused() {
    let world = World::new().await;
    let partner = world.service("partner").await;
    let key = world.key(&partner, "enc", "P-256").await;
    let key = world.admin().get(&format!("{KEYS}/{key}")).await.ok();
    let mut jwk = key.json()["publicKey"].clone();
    jwk["x5c"] = json!(["MA=="]);
    for nested in [json!({}), json!([[]]), json!([{}])] {
        jwk["extra"] = nested;
        let body = json!({ "serviceId": partner, "publicKey": jwk, "activate": false });
        let refused = world.admin().post(KEYS, body).await;
        refused.invalid(&[("publicKey.extra", "type")]);
    }
    for text in [json!("\0"), json!(["\0"])] {
        jwk["extra"] = text;
        let body = json!({ "serviceId": partner, "publicKey": jwk, "activate": false });
        let refused = world.admin().post(KEYS, body).await;
        refused.invalid(&[("publicKey", "format")]);
    }
    jwk["extra"] = json!(["a", 1, null]);
    let body = json!({ "serviceId": partner, "publicKey": jwk, "activate": false });
    world.admin().post(KEYS, body).await.created();
}
