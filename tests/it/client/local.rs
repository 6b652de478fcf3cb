//! Envelopes that the client makes itself, and signatures that it verifies itself.

use sealward_client::{
    Data, ErrorKind, LocalError, Payload, Scope, SealingKey, Sign, SignatureAlgorithm,
    SignatureFormat,
};
use serde_json::json;

use super::Served;

const ALGORITHMS: [(&str, &str); 8] = [
    ("RSA-2048", "RSA-OAEP-256"),
    ("RSA-2048", "RSA-OAEP"),
    ("P-256", "ECDH-ES+A256KW"),
    ("P-256", "ECDH-ES+A128KW"),
    ("P-384", "ECDH-ES+A256KW"),
    ("P-384", "ECDH-ES+A128KW"),
    ("P-521", "ECDH-ES+A256KW"),
    ("P-521", "ECDH-ES+A128KW"),
];

#[tokio::test]
async fn the_service_opens_what_the_client_sealed() {
    let served = Served::new().await;
    let alice = served.world.application("alice").await;
    let client = served.client(alice.key.as_ref().unwrap());
    let payload = Payload::raw("{\"amount\": 1.0}").unwrap();
    for (key, alg) in ALGORITHMS {
        let destination = served.world.destination(&format!("{key} {alg}"), key, alg).await;
        for enc in ["A256GCM", "A128GCM"] {
            served.world.change_policy(&destination, json!({ "enc": enc })).await;
            // Another client has looked no policy up.
            let client = served.client(alice.key.as_ref().unwrap());
            let sealed = client.seal_locally(&destination.policy, &payload).await.unwrap();
            let scope = Scope::new().policy(&destination.policy);
            let opened = client.unprotect(&sealed, &scope).await.unwrap();
            assert_eq!(opened.payload, payload, "{key} {alg} {enc}");
        }
        // The envelope names its policy, so that a policy can require it.
        served.world.change_policy(&destination, json!({ "requireBinding": true })).await;
        let sealed = client.seal_locally(&destination.policy, &payload).await.unwrap();
        let scope = Scope::new().policy(&destination.policy);
        assert!(client.unprotect(&sealed, &scope).await.is_ok(), "{key} {alg}");
    }
}

#[tokio::test]
async fn a_policy_that_does_not_allow_it_is_an_error() {
    let served = Served::new().await;
    let (destination, key) = served.bound_key().await;
    for (change, expected) in [
        (json!({ "contextRequired": true }), ErrorKind::ContextRequired),
        (
            json!({ "contextRequired": false, "status": "inactive", "failureMode": "passthrough" }),
            ErrorKind::PolicyNotActive,
        ),
    ] {
        served.world.change_policy(&destination, change).await;
        let client = served.client(&key);
        let payload = Payload::json("x").unwrap();
        let error = client.seal_locally(&destination.policy, &payload).await.unwrap_err();
        assert_eq!(error.kind(), expected);
    }
    served.world.change_policy(&destination, json!({ "status": "active" })).await;
    let freeze = json!({ "status": "frozen" });
    let path = format!("/admin/services/{}", destination.service);
    served.world.admin().put(&path, freeze).await.ok();
    let client = served.client(&key);
    let sealed = client.seal_locally(&destination.policy, &Payload::json("x").unwrap()).await;
    assert_eq!(sealed.unwrap_err().kind(), ErrorKind::Frozen);
}

#[tokio::test]
async fn a_kept_sealing_key_seals_after_a_rotation() {
    let served = Served::new().await;
    let (destination, key) = served.bound_key().await;
    let client = served.client(&key);
    let kept = client.policy(&destination.policy).await.unwrap().sealing_key().unwrap();
    assert_eq!(kept.policy_id.as_deref(), Some(destination.policy_id.as_str()));
    served.world.key(&destination.service, "enc", "P-256").await;
    let payload = Payload::json("offline").unwrap();
    let sealed = kept.seal(&payload).unwrap();
    assert_eq!(client.unprotect(&sealed, &Scope::new()).await.unwrap().payload, payload);

    let other = SealingKey { alg: "HPKE-8-KE".to_owned(), ..kept };
    let refused = LocalError::UnsupportedAlgorithm("HPKE-8-KE".to_owned());
    assert_eq!(other.seal(&payload), Err(refused));
}

#[tokio::test]
async fn signatures_are_verified_with_the_published_keys() {
    use SignatureAlgorithm as Algorithm;

    let served = Served::new().await;
    let alice = served.world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let path = format!("/admin/services/{service}");
    served.world.admin().put(&path, json!({ "publishKeys": true })).await.ok();
    for key in ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519"] {
        served.world.key(&service, "sig", key).await;
    }
    let client = served.client(alice.key.as_ref().unwrap());
    let unauthenticated = served.builder().build().unwrap();
    let value = Payload::raw("{\"b\": [1.0, 1e3], \"a\": \"gr\u{fc}n\"}").unwrap();
    let same = Payload::raw("{\"a\":\"gr\\u00fcn\",\"b\":[1,1000]}").unwrap();
    for algorithm in [
        Algorithm::RsaSha256,
        Algorithm::RsaSha512,
        Algorithm::RsaPssSha384,
        Algorithm::EcdsaSha256,
        Algorithm::EcdsaSha384,
        Algorithm::EcdsaSha512,
        Algorithm::Ed25519,
    ] {
        let mut formats = vec![None];
        if algorithm.as_str().starts_with("ECDSA") {
            formats.push(Some(SignatureFormat::Der));
        }
        for format in formats {
            let how = Sign { format, ..Sign::with(algorithm.clone()) };
            let signature = client.sign(Data::Json(&value), &how).await.unwrap();
            let verified =
                unauthenticated.verify_locally(&service, Data::Json(&same), &signature).await;
            assert!(verified.unwrap(), "{how:?}");
            let other =
                unauthenticated.verify_locally(&service, Data::Bytes(b"x"), &signature).await;
            assert!(!other.unwrap(), "{how:?}");
        }
    }
}
