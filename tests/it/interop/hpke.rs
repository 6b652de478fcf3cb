//! PyPI `cryptography` opens HPKE envelopes of the service, and the service opens its envelopes.

use serde_json::json;

use super::peer::Peer;
use testkit::{World, jwe};

const ALGS: [(&str, &str); 3] = [
    ("P-256+ML-KEM-768", "HPKE-8-KE"),
    ("ML-KEM-768", "HPKE-12-KE"),
    ("ML-KEM-1024", "HPKE-13-KE"),
];

#[tokio::test(flavor = "multi_thread")]
async fn sealward_opens_the_envelopes_of_the_peer() {
    let world = World::post_quantum().await;
    let mut peer = Peer::hpke();
    for (algorithm, alg) in ALGS {
        let destination = world.destination(alg, algorithm, alg).await;
        let alice = world.application(algorithm).bound_to(&destination.policy);
        let alice = alice.await;
        let path = format!("/admin/keys/{}", destination.key);
        let jwk = world.admin().get(&path).await.ok().json()["publicKey"].clone();
        for enc in ["A128GCM", "A256GCM"] {
            let envelope = peer.ask(&json!({
                "do": "seal", "jwk": jwk, "enc": enc, "kid": destination.key, "plaintext": "{\"a\":[1]}",
            }));
            let opened = alice.unprotect(&envelope).await.ok().json();
            assert_eq!(opened["payload"], json!({ "a": [1] }), "{alg} {enc}");
        }
    }
}

/// The token has no part in this, so one without ML-KEM suffices.
#[tokio::test(flavor = "multi_thread")]
async fn the_peer_opens_the_envelopes_of_sealward() {
    let world = World::post_quantum_on_softhsm().await;
    let mut peer = Peer::hpke();
    for (_, alg) in ALGS {
        let service = world.service(alg).await;
        let jwk = peer.ask(&json!({ "do": "generate", "alg": alg }));
        let order = json!({ "serviceId": service, "publicKey": jwk });
        world.admin().post("/admin/keys", order).await.created();
        for enc in ["A128GCM", "A256GCM"] {
            let policy = json!({
                "name": enc, "destinationServiceId": service, "allowedServiceIds": ["*"],
                "alg": alg, "enc": enc, "keyOwnership": "destination_managed",
            });
            let created = world.admin().post("/admin/policies", policy).await;
            let number = created.created().text("policyNumber");
            let alice = world.application(&number).bound_to(&number).await;
            let envelope = jwe(&alice.protect(json!({ "b": "grün" })).await);
            let opened = peer.ask(&json!({ "do": "open", "jwe": envelope }));
            assert_eq!(opened, json!({ "plaintext": "{\"b\":\"grün\"}" }), "{alg} {enc}");
        }
    }
}
