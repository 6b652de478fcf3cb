//! `/protect`, `/unprotect` and `/rewrap` with ML-KEM and hybrid keys of a token that supports them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use super::uniform::seen;
use testkit::{Client, World, header_of, jwe};

const ALGS: [(&str, &str); 3] = [
    ("P-256+ML-KEM-768", "HPKE-8-KE"),
    ("ML-KEM-768", "HPKE-12-KE"),
    ("ML-KEM-1024", "HPKE-13-KE"),
];

#[tokio::test(flavor = "multi_thread")]
async fn ml_kem_keys_encapsulate_content_keys() {
    let world = World::post_quantum().await;
    for (algorithm, alg) in ALGS {
        let destination = world.destination(alg, algorithm, alg).await;
        let alice = world.application(algorithm).bound_to(&destination.policy).await;
        for enc in ["A128GCM", "A256GCM"] {
            world.change_policy(&destination, json!({ "enc": enc })).await;
            let envelope = jwe(&alice.protect(json!({ "amount": 1.5 })).await);
            let header = header_of(&envelope);
            assert_eq!(
                (&header["alg"], &header["enc"], &header["kid"]),
                (&json!(alg), &json!(enc), &json!(destination.key))
            );
            let opened = alice.unprotect(&envelope).await.ok().json();
            assert_eq!(opened["payload"], json!({ "amount": 1.5 }), "{alg} {enc}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_cryptographic_failure_has_the_same_response() {
    let world = World::post_quantum().await;
    let ec = world.destination("ec", "P-256", "ECDH-ES+A256KW").await;
    let bob = world.application("bob").bound_to(&ec.policy).await;
    let bob = bob.with("x-request-id", "always the same");
    let mut other = jwe(&bob.protect(json!(1)).await);
    other["tag"] = json!(BASE64URL.encode([0; 16]));
    let expected = bob.unprotect(&other).await.refused(500, "INTERNAL_ERROR");
    let expected = seen(&expected);

    for (algorithm, alg) in ALGS {
        let destination = world.destination(alg, algorithm, alg).await;
        let alice = world.application(algorithm).bound_to(&destination.policy).await;
        let alice = alice.with("x-request-id", "always the same");
        let envelope = jwe(&alice.protect(json!([1, 2])).await);
        alice.unprotect(&envelope).await.ok();
        let another = jwe(&alice.protect(json!([1, 2])).await);
        let mut faults = Vec::new();
        for member in ["encrypted_key", "iv", "ciphertext", "tag"] {
            let bytes = BASE64URL.decode(envelope[member].as_str().unwrap()).unwrap();
            for bytes in damages(&bytes) {
                let mut damaged = envelope.clone();
                damaged[member] = json!(BASE64URL.encode(bytes));
                faults.push(damaged);
            }
            let mut swapped = envelope.clone();
            swapped[member] = another[member].clone();
            faults.push(swapped);
        }
        let ek = BASE64URL.decode(header_of(&envelope)["ek"].as_str().unwrap()).unwrap();
        let mut eks: Vec<_> = damages(&ek).map(|ek| BASE64URL.encode(ek)).collect();
        eks.push(header_of(&another)["ek"].as_str().unwrap().to_owned());
        eks.push("A".to_owned());
        // The last bytes of a hybrid are a point, which is then not on the curve, or another one.
        if alg == "HPKE-8-KE" {
            let (ciphertext, point) = ek.split_at(1_088);
            let other = BASE64URL.decode(header_of(&another)["ek"].as_str().unwrap());
            let other = other.unwrap()[1_088..].to_vec();
            // The same point in the hybrid and the compressed form.
            let parity = point[64] & 1;
            let forms = [6, 7, 2 | parity].map(|form| [&[form][..], &point[1..]].concat());
            for point in damages(point).chain([other]).chain(forms) {
                eks.push(BASE64URL.encode([ciphertext, &point].concat()));
            }
        }
        faults.extend(
            eks.into_iter().map(|ek| with_header(&envelope, |header| header["ek"] = json!(ek))),
        );
        faults.push(with_header(&envelope, |header| header["enc"] = json!("A128GCM")));
        for fault in faults {
            let answer = alice.unprotect(&fault).await.refused(500, "INTERNAL_ERROR");
            assert_eq!(seen(&answer), expected, "{fault}");
        }
    }
}

fn damages(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
    let mut changed = bytes.to_vec();
    changed[0] ^= 1;
    let longer = [bytes, &[0]].concat();
    let zeros = vec![0; bytes.len()];
    [changed, longer, zeros, bytes[1..].to_vec(), Vec::new()].into_iter()
}

fn with_header(envelope: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let (mut changed, mut header) = (envelope.clone(), header_of(envelope));
    change(&mut header);
    changed["protected"] = json!(BASE64URL.encode(header.to_string()));
    changed
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_headers_are_refused_by_their_member() {
    let world = World::post_quantum().await;
    let destination = world.destination("d", "ML-KEM-768", "HPKE-12-KE").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let without = with_header(&envelope, |header| {
        header.as_object_mut().unwrap().remove("ek");
    });
    let refused = alice.unprotect(&without).await;
    refused.invalid(&[("jwe.protected.ek", "required")]);
    let malformed = with_header(&envelope, |header| header["ek"] = json!("+/"));
    let refused = alice.unprotect(&malformed).await;
    refused.invalid(&[("jwe.protected.ek", "format")]);
    let psk = with_header(&envelope, |header| header["psk_id"] = json!("AAAA"));
    let refused = alice.unprotect(&psk).await;
    refused.invalid(&[("jwe.protected.psk_id", "unsupported")]);
    let other = with_header(&envelope, |header| header["alg"] = json!("HPKE-13-KE"));
    let refused = alice.unprotect(&other).await;
    refused.invalid(&[("jwe.protected.alg", "conflict")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn envelopes_move_from_ec_to_a_hybrid_key_by_rewrap() {
    let world = World::post_quantum().await;
    let old = world.destination("old", "P-256", "ECDH-ES+A256KW").await;
    let alice = world.application("alice").bound_to(&old.policy).await;
    let envelope = jwe(&alice.protect(json!({ "record": 7 })).await);
    let new = world.key(&old.service, "enc", "P-256+ML-KEM-768").await;
    world.change_policy(&old, json!({ "alg": "HPKE-8-KE" })).await;
    // The EC key stays active, because it has another family.
    alice.unprotect(&envelope).await.ok();
    let rewrapped = rewrap(&alice, &envelope).await;
    let header = header_of(&rewrapped);
    assert_eq!((&header["alg"], &header["kid"]), (&json!("HPKE-8-KE"), &json!(new)));
    let opened = alice.unprotect(&rewrapped).await.ok().json();
    assert_eq!(opened["payload"], json!({ "record": 7 }));
}

async fn rewrap(client: &Client<'_>, envelope: &Value) -> Value {
    let answer = client.post("/api/v1/rewrap", json!({ "jwe": envelope })).await;
    answer.ok().json()["jwe"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_setting_envelopes_of_hpke_are_unsupported() {
    let world = World::post_quantum().await;
    let destination = world.destination("d", "ML-KEM-768", "HPKE-12-KE").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let off = world.another_without_post_quantum().await;
    let alice = off.client(alice.key.as_ref().unwrap());
    for path in ["/api/v1/unprotect", "/api/v1/rewrap"] {
        let refused = alice.post(path, json!({ "jwe": envelope })).await;
        refused.invalid(&[("jwe.protected.alg", "unsupported")]);
        let legacy = BASE64URL.encode(envelope.to_string());
        let refused = alice.post(path, json!({ "protectedPayload": legacy })).await;
        refused.refused(400, "INVALID_PROTECTED_PAYLOAD");
    }
}

/// `docs/keys.md` states the size of an envelope for each algorithm.
#[tokio::test(flavor = "multi_thread")]
async fn the_document_states_the_sizes_of_envelopes() {
    let world = World::post_quantum().await;
    let document = include_str!("../../../docs/keys.md");
    let others = [("RSA-3072", "RSA-OAEP-256"), ("P-256", "ECDH-ES+A256KW")];
    for (algorithm, alg) in others.into_iter().chain(ALGS) {
        let destination = world.destination(algorithm, algorithm, alg).await;
        let alice = world.application(alg).bound_to(&destination.policy).await;
        let envelope = jwe(&alice.protect(json!("x".repeat(1_022))).await);
        let size = envelope.to_string().len();
        let size = format!("| {},{:03} characters |", size / 1_000, size % 1_000);
        let row = format!("| `{alg}` | `{algorithm}` |");
        let row = document.lines().find(|line| line.starts_with(&row));
        let row = row.unwrap_or_else(|| panic!("a row of {alg}"));
        assert!(row.contains(&size), "{size} is missing: {row}");
    }
}
