//! Sealward imports keys from other libraries in every form, and other libraries read its public keys.

use serde_json::{Value, json};

use super::peer::Peer;
use testkit::World;

const PASSPHRASE: &str = "correct horse";

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_exchanged_with_cryptography_and_jwcrypto() {
    let world = World::new().await;
    let service = world.service("interop").await;
    // A JWK and its public half have the same `kid`, which is unique among the keys of a service.
    let partner = world.service("partner").await;
    let import = async |member: &str, key: &Value, passphrase: Option<&str>| {
        let service = if member == "publicKey" { &partner } else { &service };
        let mut request = json!({ "serviceId": service, "activate": false, member: key });
        if let Some(passphrase) = passphrase {
            request["passphrase"] = json!(passphrase);
        }
        world.admin().post("/admin/keys", request).await.created().json()
    };
    let mut peer = Peer::keys();
    for algorithm in ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519"] {
        let request = json!({ "do": "make", "algorithm": algorithm, "passphrase": PASSPHRASE });
        let created = peer.ask(&request);
        let imported = [
            import("privateKey", &created["pem"], None).await,
            import("privateKey", &created["locked"], Some(PASSPHRASE)).await,
            import("privateKey", &created["jwk"], None).await,
            import("publicKey", &created["public"], None).await,
            import("publicKey", &created["publicJwk"], None).await,
        ];
        for key in imported {
            assert_eq!(key["algorithm"], algorithm);
            assert_eq!(key["thumbprint"], created["thumbprint"]);
        }

        let request = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
        let own = world.admin().post("/admin/keys", request).await.created().json();
        let parsed = peer.ask(&json!({ "do": "read", "jwk": own["publicKey"] }));
        assert_eq!(parsed["thumbprint"], own["thumbprint"]);
    }
}
