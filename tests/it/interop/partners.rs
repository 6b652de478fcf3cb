//! Envelopes by the profile of a partner, who holds the private key.

use serde_json::{Value, json};

use super::peer::Peer;
use testkit::{World, header_of, jwe};

const PAYLOAD: &str = "{\"pan\":\"4111\",\"amount\":1.50}";

#[tokio::test]
async fn a_partner_opens_envelopes_that_carry_exactly_its_members() {
    let world = World::new().await;
    let members = ["alg", "enc", "iat", "kid", "typ"];
    let of_ec = ["alg", "enc", "epk", "iat", "kid", "typ"];
    for (algorithm, alg, members) in
        [("RSA-2048", "RSA-OAEP-256", &members[..]), ("P-256", "ECDH-ES+A256KW", &of_ec)]
    {
        let partner = Peer::keys().ask(&json!({
            "do": "make", "algorithm": algorithm, "passphrase": "unused",
        }));
        let envelope = protected_for(&world, &partner["publicJwk"], alg).await;

        let header = header_of(&envelope);
        let names: Vec<_> = header.as_object().unwrap().keys().collect();
        assert_eq!(names, members);
        assert_eq!(header["kid"], "visa-MLE-123");
        assert_eq!(header["typ"], "JOSE");
        let now = world.clock.now().as_millis() / 1_000;
        let age = now - header["iat"].as_i64().expect("whole seconds");
        assert!((0..60).contains(&age), "{header}");

        let parts = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];
        let compact = parts.map(|part| envelope[part].as_str().unwrap()).join(".");
        for mut peer in [Peer::jose(), Peer::jwcrypto(), Peer::joserfc()] {
            for form in [envelope.clone(), Value::from(compact.clone())] {
                let opened = peer.ask(&json!({
                    "do": "open", "alg": alg, "privateKey": partner["pem"], "jwe": form,
                }));
                assert_eq!(opened, PAYLOAD, "{form}");
            }
        }
    }
}

/// An envelope for a partner with this public key.
async fn protected_for(world: &World, jwk: &Value, alg: &str) -> Value {
    let service = world.service(alg).await;
    let mut jwk = jwk.clone();
    jwk["kid"] = json!("visa-MLE-123");
    let key = json!({ "serviceId": service, "publicKey": jwk });
    let key = world.admin().post("/admin/keys", key).await.created();
    assert_eq!(key.text("partnerKid"), "visa-MLE-123");
    let policy = json!({
        "name": "MLE", "destinationServiceId": service, "allowedServiceIds": ["*"], "alg": alg,
        "keyOwnership": "destination_managed", "headers": { "typ": "JOSE", "iat": true },
    });
    let policy = world.admin().post("/admin/policies", policy).await.created();
    let headers = json!({ "typ": "JOSE", "iat": true, "cty": null });
    assert_eq!(policy.json()["headers"], headers);
    let shop = world.application(&format!("shop {alg}")).bound_to(&policy.text("policyNumber"));
    let body = format!("{{\"payload\":{PAYLOAD}}}");
    let post = axum::http::Method::POST;
    let shop = shop.await;
    let protected = shop.send_text(post, testkit::PROTECT, &body).await;
    jwe(&protected)
}
