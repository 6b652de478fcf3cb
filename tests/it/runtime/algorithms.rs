//! `/protect` and `/unprotect` with every algorithm of policies.

use serde_json::json;

use testkit::{World, header_of, jwe};

#[tokio::test]
async fn rsa_keys_of_every_size_wrap_content_keys() {
    for algorithm in ["RSA-2048", "RSA-3072", "RSA-4096"] {
        everything_comes_back(algorithm, ["RSA-OAEP", "RSA-OAEP-256"]).await;
    }
}

#[tokio::test]
async fn ec_keys_of_every_curve_derive_content_keys() {
    for algorithm in ["P-256", "P-384", "P-521"] {
        everything_comes_back(algorithm, ["ECDH-ES+A128KW", "ECDH-ES+A256KW"]).await;
    }
}

async fn everything_comes_back(algorithm: &str, algs: [&str; 2]) {
    let world = World::new().await;
    let destination = world.destination("partner", algorithm, algs[0]).await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    for (alg, enc) in algs.into_iter().flat_map(|alg| [(alg, "A128GCM"), (alg, "A256GCM")]) {
        let terms = json!({ "alg": alg, "enc": enc });
        world.change_policy(&destination, terms).await;
        let payload = json!({ "alg": alg, "amount": 1.5 });
        let envelope = jwe(&alice.protect(payload.clone()).await);
        let header = header_of(&envelope);
        assert_eq!(
            (&header["alg"], &header["enc"], &header["kid"]),
            (&json!(alg), &json!(enc), &json!(destination.key)),
            "{algorithm}"
        );
        let opened = alice.unprotect(&envelope).await.ok().json();
        assert_eq!(opened["payload"], payload, "{algorithm} {alg} {enc}");
    }
}
