//! ML-DSA keys: which sources a token without ML-DSA offers.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::json;

use testkit::World;

#[tokio::test]
async fn a_token_without_the_algorithm_generates_no_key_and_leaves_no_trace() {
    let world = World::new().await;
    let service = world.service("signer").await;
    for algorithm in ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] {
        let order = json!({ "serviceId": service, "algorithm": algorithm, "generate": true });
        let refused = world.admin().post("/admin/keys", order).await;
        refused.invalid(&[("algorithm", "unsupported")]);
    }
    let intents: i64 = sqlx::query_scalar("SELECT count(*) FROM key_intents")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    assert_eq!(intents, 0);
}

#[tokio::test]
async fn private_keys_are_not_imported() {
    let world = World::new().await;
    let service = world.service("signer").await;
    let jwk = json!({
        "kty": "AKP", "alg": "ML-DSA-44", "priv": "AAAA",
        "pub": BASE64_URL_SAFE_NO_PAD.encode([3; 1312]),
    });
    let order = json!({ "serviceId": service, "privateKey": jwk });
    let refused = world.admin().post("/admin/keys", order).await;
    refused.invalid(&[("privateKey.kty", "unsupported")]);

    let parameters = json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" });
    let parameters = world.admin().post("/admin/keys/import-parameters", parameters).await;
    let wrapped = json!({
        "importKeyId": parameters.text("importKeyId"),
        "mechanism": "RSA_OAEP_SHA1_AES_KWP",
        "ciphertext": BASE64_STANDARD.encode([1; 1024]),
    });
    let order = json!({ "serviceId": service, "algorithm": "ML-DSA-65", "wrappedKey": wrapped });
    let refused = world.admin().post("/admin/keys", order).await;
    refused.invalid(&[("algorithm", "unsupported")]);
}

#[tokio::test]
async fn the_thumbprint_is_that_of_the_required_members() {
    let world = World::new().await;
    let service = world.service("signer").await;
    let public = BASE64_URL_SAFE_NO_PAD.encode([3; 1952]);
    let jwk = json!({ "kty": "AKP", "alg": "ML-DSA-65", "pub": public, "kid": "partner" });
    let order = json!({ "serviceId": service, "publicKey": jwk });
    let key = world.admin().post("/admin/keys", order).await.created().json();
    let required = format!(r#"{{"alg":"ML-DSA-65","kty":"AKP","pub":"{public}"}}"#);
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, required.as_bytes());
    assert_eq!(key["thumbprint"], BASE64_URL_SAFE_NO_PAD.encode(digest));
    assert_eq!(
        (&key["algorithm"], &key["use"], &key["hasPrivate"]),
        (&json!("ML-DSA-65"), &json!("sig"), &json!(false))
    );
    for (member, value, field, code) in [
        ("alg", json!("ML-DSA-44"), "publicKey.pub", "length"),
        ("alg", json!("ES256"), "publicKey.alg", "unsupported"),
        ("use", json!("enc"), "publicKey.use", "conflict"),
    ] {
        let mut jwk = json!({ "kty": "AKP", "alg": "ML-DSA-65", "pub": public });
        jwk[member] = value;
        let order = json!({ "serviceId": service, "publicKey": jwk });
        let refused = world.admin().post("/admin/keys", order).await;
        refused.invalid(&[(field, code)]);
    }
}
