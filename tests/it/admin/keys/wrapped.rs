//! Import of wrapped keys, and their import keys.

use engine::keys::ImportKeyRecord;
use formats::algorithms::ImportMechanism;
use formats::binary::to_base64;
use formats::material::{PrivateKey, PrivatePem, PublicKey};
use hsm::wrap_for_import;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::send;
use testkit::World;
use testkit::openssl::{private, public};

/// The only mechanism of SoftHSM.
const MECHANISM: &str = "RSA_OAEP_SHA1_AES_KWP";

pub(in crate::admin) async fn parameters(world: &World) -> Value {
    let body = json!({ "mechanism": MECHANISM });
    let created = world.admin().post("/admin/keys/import-parameters", body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

pub(in crate::admin) fn wrap(parameters: &Value, key: &[u8]) -> Value {
    let pem = parameters["publicKey"].as_str().expect("PEM");
    let wrapping = PublicKey::from_pem(pem).expect("a public key").to_spki();
    let digest: String =
        Sha256::digest(&wrapping).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(parameters["publicKeySha256"], digest);
    let wrapped = wrap_for_import(&wrapping, ImportMechanism::RsaOaepSha1AesKwp, key);
    json!({
        "importKeyId": parameters["importKeyId"],
        "mechanism": MECHANISM,
        "ciphertext": to_base64(&wrapped.expect("a wrapped key")),
    })
}

pub(in crate::admin) fn pkcs8(pem: &str) -> Vec<u8> {
    let key: Box<PrivateKey> = match PrivatePem::read(pem).expect("a private key") {
        PrivatePem::Open(key) => key,
        PrivatePem::Locked(_) => panic!("it is not encrypted"),
    };
    key.to_pkcs8().to_vec()
}

#[tokio::test]
async fn a_wrapped_key_is_imported_once() {
    let world = World::new().await;
    let service = world.service("wrapped").await;
    let key = private("P-256");
    let parameters = parameters(&world).await;
    let body = json!({
        "publicKey": public(&key), "wrappedKey": wrap(&parameters, &pkcs8(&key)), "name": "partner",
    });
    let created = send(&world, &service, body.clone()).await.created().json();
    assert_eq!((&created["algorithm"], &created["hasPrivate"]), (&json!("P-256"), &json!(true)));
    send(&world, &service, body).await.invalid(&[("wrappedKey.importKeyId", "unknown")]);

    let import_key = &parameters["importKeyId"];
    let events =
        format!("/admin/audit/management?resourceId={}", import_key.as_str().expect("an id"));
    let events = world.admin().get(&events).await.ok().json();
    assert_eq!(events["items"].as_array().expect("items").len(), 1);
    assert_eq!(events["items"][0]["resource_type"], "import_key");
    assert_eq!(&events["items"][0]["resource_id"], import_key);
}

#[tokio::test]
async fn wrapped_rsa_and_secret_keys_are_imported() {
    let world = World::new().await;
    let service = world.service("wrapped").await;
    let rsa = private("RSA-2048");
    let wrapped = wrap(&parameters(&world).await, &pkcs8(&rsa));
    let body = json!({ "wrappedKey": wrapped });
    let created = send(&world, &service, body).await.created().json();
    assert_eq!(created["algorithm"], "RSA-2048", "the length determines the algorithm");
    let public_key = json!({"publicKey": public(&rsa), "activate": false});
    let public_key = send(&world, &service, public_key).await.created().json();
    assert_eq!(created["thumbprint"], public_key["thumbprint"]);

    let wrapped = wrap(&parameters(&world).await, &[7; 32]);
    let body = json!({ "wrappedKey": wrapped });
    let created = send(&world, &service, body).await.created().json();
    assert_eq!((&created["algorithm"], &created["use"]), (&json!("AES-256"), &json!("data")));
}

#[tokio::test]
async fn hidden_properties_of_a_wrapped_key_are_required() {
    let world = World::new().await;
    let service = world.service("unsaid").await;
    let wrapped = wrap(&parameters(&world).await, &pkcs8(&private("P-256")));
    let body = json!({"wrappedKey": wrapped});
    send(&world, &service, body).await.invalid(&[("algorithm", "required")]);
    let body = json!({"wrappedKey": wrapped, "algorithm": "P-256"});
    send(&world, &service, body).await.invalid(&[("publicKey", "required")]);
    send(&world, &service, json!({"wrappedKey": {}})).await.invalid(&[
        ("wrappedKey.importKeyId", "required"),
        ("wrappedKey.mechanism", "required"),
        ("wrappedKey.ciphertext", "required"),
    ]);
}

#[tokio::test]
async fn the_hint_for_a_wrapped_key_of_an_unnamed_curve_leads_to_its_import() {
    let world = World::new().await;
    let service = world.service("unnamed").await;
    for algorithm in ["P-384", "P-521"] {
        let key = private(algorithm);
        let wrapped = wrap(&parameters(&world).await, &pkcs8(&key));
        let mut body = json!({ "wrappedKey": wrapped });
        let refused = send(&world, &service, body.clone()).await;
        let message = refused.json()["error"]["details"][0]["message"].clone();
        refused.invalid(&[("algorithm", "required")]);
        let message = message.as_str().expect("a message");
        assert!(message.contains("for an elliptic curve, publicKey"));

        body["publicKey"] = public(&key).into();
        let created = send(&world, &service, body).await.created().json();
        let made = (&created["algorithm"], &created["hasPrivate"]);
        assert_eq!(made, (&json!(algorithm), &json!(true)));
    }
}

#[tokio::test]
async fn mismatched_halves_use_up_the_attempts_of_an_import_key() {
    let world = World::new().await;
    let service = world.service("foreign").await;
    let (key, other) = (private("P-256"), private("P-256"));
    let wrapped = wrap(&parameters(&world).await, &pkcs8(&key));
    let foreign = json!({"publicKey": public(&other), "wrappedKey": wrapped});
    for _ in 0..ImportKeyRecord::ATTEMPTS {
        send(&world, &service, foreign.clone()).await.invalid(&[("publicKey", "conflict")]);
    }
    let right = json!({"publicKey": public(&key), "wrappedKey": wrapped});
    send(&world, &service, right).await.invalid(&[("wrappedKey.importKeyId", "unknown")]);
}

#[tokio::test]
async fn a_mechanism_that_the_token_lacks_is_refused() {
    let world = World::new().await;
    for mechanism in ["RSA_OAEP_SHA256_AES_KWP", "PKCS1"] {
        let body = json!({ "mechanism": mechanism });
        let answer = world.admin().post("/admin/keys/import-parameters", body).await;
        answer.invalid(&[("mechanism", "unsupported")]);
    }
    let answer = world.admin().post("/admin/keys/import-parameters", json!({})).await;
    answer.invalid(&[("mechanism", "required")]);
}
