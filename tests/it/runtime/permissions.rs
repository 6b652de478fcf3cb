//! The permissions of API keys and policies.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use testkit::{OPERATIONS, PROTECT, UNPROTECT, World, jwe};

const EVERYTHING: [&str; 7] =
    ["protect", "unprotect", "encrypt", "decrypt", "sign", "verify", "hash"];

#[tokio::test]
async fn an_api_key_is_limited_to_its_operations() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let maker = world.application("maker").bound_to(&destination.policy).await;
    let jwe = jwe(&maker.protect(json!(1)).await);
    let payload = |operation: &str| -> Value {
        match operation {
            "encrypt" => json!({ "data": 1, "algorithm": "AES-256-GCM" }),
            "decrypt" => {
                json!({ "ciphertext": "", "iv": "", "tag": "", "algorithm": "AES-256-GCM", "keyId": "x" })
            }
            "sign" => json!({ "data": 1, "algorithm": "Ed25519" }),
            "verify" => json!({ "data": 1, "algorithm": "Ed25519", "keyId": "x", "signature": "" }),
            _ => json!({ "data": 1, "algorithm": "SHA-256" }),
        }
    };
    for allowed in EVERYTHING {
        let alice = world
            .application(allowed)
            .bound_to(&destination.policy)
            .with("allowedOperations", json!([allowed]))
            .await;
        for asked in EVERYTHING {
            let answer = match asked {
                "protect" => alice.protect(json!(1)).await,
                "unprotect" => alice.unprotect(&jwe).await,
                _ => alice.operate(asked, payload(asked)).await,
            };
            let code = answer.json()["error"]["code"].clone();
            assert_eq!(code == "OPERATION_NOT_ALLOWED", asked != allowed, "{asked}: {code}");
            if asked != allowed {
                answer.refused(403, "OPERATION_NOT_ALLOWED");
            }
        }
    }
}

#[tokio::test]
async fn a_policy_is_limited_to_its_operations_and_services() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let bob = world.application("bob").bound_to(&destination.policy).await;
    let jwe = jwe(&alice.protect(json!(1)).await);

    world.change_policy(&destination, json!({ "allowedOperations": ["protect"] })).await;
    alice.protect(json!(1)).await.ok();
    alice.unprotect(&jwe).await.refused(403, "OPERATION_NOT_ALLOWED");

    let change = json!({
        "allowedOperations": ["protect", "unprotect"],
        "allowedServiceIds": [bob.service],
    });
    world.change_policy(&destination, change).await;
    bob.protect(json!(1)).await.ok();
    bob.unprotect(&jwe).await.ok();
    alice.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED");
    alice.unprotect(&jwe).await.refused(403, "OPERATION_NOT_ALLOWED");

    // Permissions are checked before the state of the policy.
    world.change_policy(&destination, json!({ "status": "inactive" })).await;
    alice.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED");
    bob.protect(json!(1)).await.refused(403, "POLICY_NOT_ACTIVE");
}

#[tokio::test]
async fn the_runtime_api_requires_an_application_key() {
    let world = World::new().await;
    for path in [PROTECT, UNPROTECT, OPERATIONS] {
        world.admin().post(path, json!({})).await.refused(403, "FORBIDDEN");
        world.anonymous().post(path, json!({})).await.refused(401, "AUTHENTICATION_FAILED");
    }
}

#[tokio::test]
async fn a_key_revoked_during_a_slow_body_is_refused() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let alice = world.application("alice").await;
    let (send, pieces) = mpsc::channel::<&str>(1);
    let body = stream::unfold(pieces, |mut pieces| async {
        Some((Ok::<_, Infallible>(pieces.recv().await?), pieces))
    });
    let key = alice.key.as_deref().unwrap();
    let request = Request::post(OPERATIONS)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from_stream(body))
        .unwrap();
    let trickling = async {
        // The channel holds one chunk, so sending the second proves that the service reads the body.
        send.send(r#"{"operation":"hash","#).await.unwrap();
        send.send(r#""payload":{"data":1,"#).await.unwrap();
        world.revoke(&alice).await;
        clock.advance(Duration::from_secs(1));
        send.send(r#""algorithm":"SHA-256"}}"#).await.unwrap();
        drop(send);
    };
    let (answer, ()) = tokio::join!(world.send(request), trickling);
    answer.refused(401, "AUTHENTICATION_FAILED");
}
