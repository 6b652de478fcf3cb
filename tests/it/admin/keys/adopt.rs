//! Adoption of existing keys in the token.

use hsm::{Algorithm, NewKey, Purpose};
use serde_json::json;

use super::{generate, id, send};
use crate::support::{World, token};

/// Generates a key in the token, like a vendor tool, and returns its ID and label.
async fn vendors_key(algorithm: Algorithm, purpose: Purpose) -> (String, String) {
    let id: [u8; 12] = rand::random();
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let label = format!("vendor {hex}");
    let body = NewKey {
        id: id.to_vec(),
        label: label.clone(),
        algorithm,
        purpose,
    };
    token().await.generate(body).await.expect("a key");
    (hex, label)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_adopted_by_id_or_by_label_and_once() {
    let world = World::new().await;
    let service = world.service("adopting").await;
    let (hex, label) = vendors_key(Algorithm::Rsa2048, Purpose::Envelope).await;
    let body = json!({"tokenObject": {"ckaId": hex}});
    let key = send(&world, &service, body.clone()).await.created().json();
    assert_eq!(
        (
            &key["origin"],
            &key["algorithm"],
            &key["use"],
            &key["hasPrivate"]
        ),
        (
            &json!("adopted"),
            &json!("RSA-2048"),
            &json!("enc"),
            &json!(true)
        )
    );
    assert_eq!(key["extractable"], json!(false));
    send(&world, &service, body).await.refused(409, "CONFLICT");
    let body = json!({"tokenObject": {"label": label}});
    send(&world, &service, body).await.refused(409, "CONFLICT");

    let (_, label) = vendors_key(Algorithm::Aes256, Purpose::Data).await;
    let body = json!({"tokenObject": {"label": label}});
    assert_eq!(
        send(&world, &service, body).await.created().json()["use"],
        "data"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_or_unsuitable_keys_are_not_adopted() {
    let world = World::new().await;
    let service = world.service("refusing").await;
    let own = generate(&world, &service, "P-256").await;
    let own: String = sqlx::query_scalar("SELECT encode(token_id, 'hex') FROM keys")
        .fetch_one(&world.pool)
        .await
        .unwrap_or_else(|error| panic!("{error}: {}", id(&own)));
    let (signing, _) = vendors_key(Algorithm::P256, Purpose::Sign).await;
    let cases = [
        (json!({"ckaId": own}), "", ("tokenObject", "conflict")),
        (json!({"ckaId": "abcdef"}), "", ("tokenObject", "unknown")),
        (json!({"ckaId": "abc"}), "", ("tokenObject.ckaId", "format")),
        (
            json!({"ckaId": signing}),
            "enc",
            ("tokenObject", "unsupported"),
        ),
        (json!({}), "", ("tokenObject", "required")),
    ];
    for (object, usage, problem) in cases {
        let mut body = json!({"tokenObject": object});
        if !usage.is_empty() {
            body["use"] = json!(usage);
        }
        send(&world, &service, body).await.invalid(&[problem]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extractable_key_is_shown_with_a_warning() {
    let world = World::new().await;
    let service = world.service("careless").await;
    let key = generate(&world, &service, "P-256").await;
    assert_eq!(key["extractable"], json!(false));
    sqlx::query("UPDATE keys SET extractable = true")
        .execute(&world.pool)
        .await
        .unwrap();
    let path = format!("/admin/keys/{}", id(&key));
    let shown = world.admin().get(&path).await.ok().json();
    assert_eq!(shown["extractable"], json!(true));
    let changed = json!({"extractable": false});
    world
        .admin()
        .put(&path, changed)
        .await
        .invalid(&[("extractable", "conflict")]);
}
