//! Sealward imports keys from other libraries in every form, and other libraries read its public keys.

use serde_json::{Value, json};

use super::peer::Peer;
use crate::support::World;

const PASSPHRASE: &str = "correct horse";

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_exchanged_with_cryptography_and_jwcrypto() {
    let world = World::new().await;
    let service = world.service("interop").await;
    let import = async |member: &str, key: &Value, passphrase: Option<&str>| {
        let mut order = json!({ "serviceId": service, "activate": false, member: key });
        if let Some(passphrase) = passphrase {
            order["passphrase"] = json!(passphrase);
        }
        world
            .admin()
            .post("/admin/keys", order)
            .await
            .created()
            .json()
    };
    let mut peer = Peer::keys();
    for algorithm in ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519"] {
        let order = json!({ "do": "make", "algorithm": algorithm, "passphrase": PASSPHRASE });
        let made = peer.ask(&order);
        let imported = [
            import("privateKey", &made["pem"], None).await,
            import("privateKey", &made["locked"], Some(PASSPHRASE)).await,
            import("privateKey", &made["jwk"], None).await,
            import("publicKey", &made["public"], None).await,
            import("publicKey", &made["publicJwk"], None).await,
        ];
        for key in imported {
            assert_eq!(key["algorithm"], algorithm);
            assert_eq!(key["thumbprint"], made["thumbprint"]);
        }

        let order = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
        let ours = world
            .admin()
            .post("/admin/keys", order)
            .await
            .created()
            .json();
        let read = peer.ask(&json!({ "do": "read", "jwk": ours["publicKey"] }));
        assert_eq!(read["thumbprint"], ours["thumbprint"]);
    }
}
