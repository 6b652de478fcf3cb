//! Envelopes that the Rust client seals itself, opened by another JOSE library.

use formats::envelope::Enc;
use sealward_client::Payload;
use serde_json::json;
use testkit::PrivateKey;

use super::peer::Peer;
use crate::client::Served;

const PLAINTEXT: &str = "{\"b\": 1.0, \"a\":[\"grün\",12345678901234567890]}";

#[tokio::test]
async fn jose_opens_what_the_client_sealed_for_a_partner() {
    let served = Served::new().await;
    let alice = served.world.application("alice").await;
    let client = served.client(alice.key.as_ref().unwrap());
    let mut peer = Peer::jose();
    let mut opened = 0;
    for (key, algs) in PrivateKey::of_every_kind() {
        let partner = served.world.service(&format!("partner {opened}")).await;
        let public = json!({ "serviceId": partner, "publicKey": key.spki_pem() });
        served.world.admin().post("/admin/keys", public).await.created();
        for (alg, enc) in algs.iter().flat_map(|&alg| Enc::ALL.map(|enc| (alg, enc))) {
            let policy = json!({
                "name": "partner", "destinationServiceId": partner, "allowedServiceIds": ["*"],
                "keyOwnership": "destination_managed", "alg": alg, "enc": enc,
                "headers": { "typ": "JOSE", "iat": true },
            });
            let created = served.world.admin().post("/admin/policies", policy).await.created();
            let payload = Payload::raw(PLAINTEXT).unwrap();
            let number = created.text("policyNumber");
            let envelope = client.seal_locally(&number, &payload).await.unwrap();
            let jwe: serde_json::Value = serde_json::from_str(&envelope.to_string()).unwrap();
            let plaintext = peer.ask(&json!({
                "do": "open", "alg": alg, "privateKey": key.pkcs8_pem(), "jwe": jwe,
            }));
            assert_eq!(plaintext, PLAINTEXT, "{alg} {enc}");
            opened += 1;
        }
    }
    assert_eq!(opened, 16);
}
