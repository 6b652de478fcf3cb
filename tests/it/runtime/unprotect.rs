//! `/unprotect`: the forms of envelopes, and the selection of the key.

use base64::Engine as _;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use testkit::{EnvelopeBuilder, UNPROTECT, World, jwe};

/// JWE Compact Serialization.
fn compact(jwe: &Value) -> String {
    ["protected", "encrypted_key", "iv", "ciphertext", "tag"]
        .map(|member| jwe[member].as_str().unwrap())
        .join(".")
}

#[tokio::test]
async fn every_legacy_form_is_supported() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!({ "a": 1 })).await);
    let (text, compact) = (jwe.to_string(), compact(&jwe));
    for legacy in [
        BASE64_URL_SAFE_NO_PAD.encode(&text),
        BASE64_URL_SAFE.encode(&text),
        BASE64_URL_SAFE_NO_PAD.encode(&compact),
        BASE64_URL_SAFE.encode(&compact),
        compact,
    ] {
        let opened = alice.post(UNPROTECT, json!({ "protectedPayload": legacy })).await.ok();
        assert_eq!(opened.json()["payload"], json!({ "a": 1 }));
    }
    for legacy in ["", "x", "a.b", "a.b.c.d.e", "{}", "bm90IGpzb24", "\u{fc}", "e30"] {
        let refused = alice.post(UNPROTECT, json!({ "protectedPayload": legacy })).await;
        refused.refused(400, "INVALID_PROTECTED_PAYLOAD");
    }
    let wrong = alice.post(UNPROTECT, json!({ "protectedPayload": 1 })).await;
    wrong.invalid(&[("protectedPayload", "type")]);
}

#[tokio::test]
async fn exactly_one_envelope_form_is_required() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    let both = json!({ "jwe": jwe, "protectedPayload": compact(&jwe) });
    alice.post(UNPROTECT, both).await.invalid(&[("protectedPayload", "conflict")]);
    alice.post(UNPROTECT, json!({})).await.invalid(&[("jwe", "required")]);
}

#[tokio::test]
async fn all_problems_of_an_envelope_are_reported() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let jwe = json!({ "protected": "e30", "iv": "=", "tag": 1, "extra": "x", "ciphertext": "" });
    alice.unprotect(&jwe).await.invalid(&[
        ("policyNumber", "required"),
        ("jwe.protected.alg", "required"),
        ("jwe.protected.enc", "required"),
        ("jwe.encrypted_key", "required"),
        ("jwe.iv", "format"),
        ("jwe.tag", "type"),
        ("jwe.extra", "unknown"),
    ]);
}

#[tokio::test]
async fn protected_payloads_stay_readable() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let old = jwe(&alice.protect(json!("old")).await);

    // With an inactive policy, after a change of its algorithm, and after a rotation.
    world.change_policy(&destination, json!({ "status": "inactive" })).await;
    assert_eq!(alice.unprotect(&old).await.ok().json()["payload"], "old");
    let change = json!({ "status": "active", "alg": "ECDH-ES+A128KW", "enc": "A128GCM" });
    world.change_policy(&destination, change).await;
    assert_eq!(alice.unprotect(&old).await.ok().json()["payload"], "old");
    world.key(&destination.service, "enc", "P-256").await;
    let new = jwe(&alice.protect(json!("new")).await);
    assert_eq!(alice.unprotect(&old).await.ok().json()["payload"], "old");
    assert_eq!(alice.unprotect(&new).await.ok().json()["payload"], "new");

    // A disabled key is not used: the active key cannot open the envelope.
    world.change_key(&destination.key, json!({ "status": "disabled" })).await;
    alice.unprotect(&old).await.refused(500, "INTERNAL_ERROR");
    assert_eq!(alice.unprotect(&new).await.ok().json()["payload"], "new");
}

#[tokio::test]
async fn unprotect_requires_an_active_key() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    world.change_key(&destination.key, json!({ "status": "retired" })).await;
    alice.unprotect(&jwe).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
}

#[tokio::test]
async fn a_destination_managed_policy_cannot_unprotect() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let change = json!({ "keyOwnership": "destination_managed" });
    world.change_policy(&destination, change).await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    alice.unprotect(&jwe).await.refused(400, "UNPROTECT_NOT_AVAILABLE");
    let legacy = json!({ "protectedPayload": compact(&jwe) });
    alice.post(UNPROTECT, legacy).await.refused(400, "UNPROTECT_NOT_AVAILABLE");
    // Earlier checks still refuse the request.
    let broken = json!({ "protectedPayload": "x" });
    alice.post(UNPROTECT, broken).await.refused(400, "INVALID_PROTECTED_PAYLOAD");
}

#[tokio::test]
async fn an_envelope_without_kid_uses_the_active_key() {
    let world = World::new().await;
    for (algorithm, alg) in [("P-256", "ECDH-ES+A256KW"), ("RSA-2048", "RSA-OAEP-256")] {
        let destination = world.destination(algorithm, algorithm, alg).await;
        let alice = world.application(alg).bound_to(&destination.policy).await;
        let created = super::uniform::envelope_for(&world, &destination, |header| {
            header.as_object_mut().unwrap().remove("kid");
            header.as_object_mut().unwrap().remove("cty");
        });
        assert_eq!(alice.unprotect(&created.await).await.ok().json()["payload"], json!([1, 2]));
        let created = super::uniform::envelope_for(&world, &destination, |header| {
            header["kid"] = json!("somebody else's key");
        });
        assert_eq!(alice.unprotect(&created.await).await.ok().json()["payload"], json!([1, 2]));
    }
}

#[tokio::test]
async fn epk_can_be_outside_of_protected() {
    let world = World::new().await;
    let destination = world.destination("P-256", "P-256", "ECDH-ES+A256KW").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    for name in ["unprotected", "header"] {
        let created = async || {
            let mut builder = EnvelopeBuilder::to(&world, &destination).await;
            builder.epk_in = Some(name);
            builder.envelope()
        };
        let mut jwe = created().await;
        let legacy = json!({ "protectedPayload": BASE64_URL_SAFE.encode(jwe.to_string()) });
        for opened in [alice.unprotect(&jwe).await, alice.post(UNPROTECT, legacy).await] {
            assert_eq!(opened.ok().json()["payload"], json!([1, 2]));
        }

        // Another point derives another key.
        let own = std::mem::replace(&mut jwe[name], created().await[name].clone());
        alice.unprotect(&jwe).await.refused(500, "INTERNAL_ERROR");

        jwe[name] = own;
        jwe[name]["alg"] = json!("ECDH-ES+A256KW");
        let field = format!("jwe.{name}");
        alice
            .unprotect(&jwe)
            .await
            .invalid(&[(&field, "unknown"), ("jwe.protected.epk", "required")]);
    }
}
