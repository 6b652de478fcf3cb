//! Envelopes with unsupported or conflicting headers.

use serde_json::json;

use super::uniform::envelope_for;
use testkit::{UNPROTECT, World};

#[tokio::test]
async fn unsupported_jose_headers_are_refused() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for (member, value) in [
        ("zip", json!("DEF")),
        ("crit", json!(["exp"])),
        ("p2c", json!(1_000_000)),
        ("jku", json!("https://example.org")),
        ("jwk", json!({})),
        ("x5u", json!("https://example.org")),
        ("x5c", json!([])),
    ] {
        let envelope = envelope_for(&world, &destination, |header| header[member] = value).await;
        let refused = alice.unprotect(&envelope).await;
        refused.invalid(&[(&format!("jwe.protected.{member}"), "unsupported")]);
    }
    for (member, value) in
        [("alg", "RSA1_5"), ("alg", "dir"), ("alg", "none"), ("enc", "A256CBC-HS512")]
    {
        let envelope = envelope_for(&world, &destination, |header| header[member] = json!(value));
        let refused = alice.unprotect(&envelope.await).await;
        refused.invalid(&[(&format!("jwe.protected.{member}"), "unsupported")]);
    }
    let long = "x".repeat(100_000);
    let envelope = envelope_for(&world, &destination, |header| header["x"] = json!(long)).await;
    alice.unprotect(&envelope).await.invalid(&[("jwe.protected", "length")]);
    let mut plain = envelope_for(&world, &destination, |_| {}).await;
    plain["protected"] = json!("{\"alg\":1}");
    alice.unprotect(&plain).await.invalid(&[("jwe.protected", "format")]);
}

#[tokio::test]
async fn an_algorithm_that_conflicts_with_the_named_key_is_refused() {
    let world = World::new().await;
    let ec = world.some_destination().await;
    let rsa = world.destination("rsa", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&ec.policy).await;
    let envelope = envelope_for(&world, &rsa, |header| header["kid"] = json!(ec.key)).await;
    let refused = alice.unprotect(&envelope).await;
    let message = refused.json()["error"]["details"][0]["message"].to_string();
    assert!(message.contains("is policyNumber the policy of the envelope?"), "{message}");
    refused.invalid(&[("jwe.protected.alg", "conflict")]);
}

#[tokio::test]
async fn an_algorithm_without_an_active_key_is_refused() {
    let world = World::new().await;
    let ec = world.some_destination().await;
    let rsa = world.destination("rsa", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&ec.policy).await;
    // The header names a key of another service. It has no meaning for this service.
    let envelope = envelope_for(&world, &rsa, |_| {}).await;
    alice.unprotect(&envelope).await.invalid(&[("jwe.protected.alg", "conflict")]);
    let compact = ["protected", "encrypted_key", "iv", "ciphertext", "tag"]
        .map(|member| envelope[member].as_str().unwrap())
        .join(".");
    alice
        .post(UNPROTECT, json!({ "protectedPayload": compact }))
        .await
        .invalid(&[("protectedPayload.protected.alg", "conflict")]);
}
