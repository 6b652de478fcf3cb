//! PyPI `cryptography` verifies ML-DSA signatures of the token, and the service verifies its signatures.

use formats::material::MlDsa;
use serde_json::json;

use super::peer::Peer;
use testkit::World;

const MESSAGE: &str = "signed by one, verified by the other: grün";

#[tokio::test(flavor = "multi_thread")]
async fn ml_dsa_signatures_verify_in_both_directions() {
    let world = World::on_kryoptic().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let mut peer = Peer::ml_dsa();
    for set in MlDsa::ALL {
        let key = world.key(&service, "sig", set.name()).await;
        let path = format!("/admin/keys/{key}");
        let jwk = world.admin().get(&path).await.ok().json()["publicKey"].clone();
        let order = json!({ "data": MESSAGE, "algorithm": set.name(), "keyId": key });
        let signed = alice.operate("sign", order).await.ok().json()["result"].clone();
        for (message, valid) in [(MESSAGE, true), ("another", false)] {
            let request = json!({ "do": "verify", "jwk": jwk, "message": message, "signature": signed["signature"] });
            assert_eq!(peer.ask(&request), json!({ "valid": valid }), "{set}");
        }

        let request = json!({ "do": "sign", "algorithm": set.name(), "message": MESSAGE });
        let theirs = peer.ask(&request);
        for form in ["jwk", "pem"] {
            let order = json!({ "serviceId": service, "publicKey": theirs[form] });
            let created = world.admin().post("/admin/keys", order).await.created();
            for (message, valid) in [(MESSAGE, true), ("another", false)] {
                let order = json!({
                    "data": message, "algorithm": set.name(), "keyId": created.text("id"),
                    "signature": theirs["signature"],
                });
                let result = alice.operate("verify", order).await.ok().json()["result"].clone();
                assert_eq!(result, json!({ "valid": valid }), "{set}");
            }
        }
    }
}
