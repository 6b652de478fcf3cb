//! Public keys that somebody replaced, with valid seals.

use engine::keys::{PUBLIC_KEY_PARTS, Vault};
use engine::seals::Difference;
use formats::clock::Entropy;

use testkit::{World, rewrite, token};

/// How the keys deviate after the comparison of a day.
async fn compared(world: &World) -> Vec<Difference> {
    let (clock, entropy) = (world.clock.clone(), Entropy::system());
    let vault = Vault::new(token().await, world.pool.clone(), clock, entropy);
    for part in 0..PUBLIC_KEY_PARTS {
        vault.compare_public_keys(part).await.expect("a comparison");
    }
    let deviations = world.pool.seals().deviations().into_iter();
    deviations.map(|deviation| deviation.difference).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_public_key_is_named() {
    let world = World::new().await;
    let (destination, _) = world.bound_application().await;
    let key = |name: &str, usage: &str, algorithm: &str| {
        serde_json::json!({ "serviceId": destination.service, "name": name, "use": usage,
            "algorithm": algorithm, "generate": true })
    };
    for (name, usage, algorithm) in [
        ("one", "sig", "P-256"),
        ("two", "sig", "P-256"),
        ("rsa", "sig", "RSA-2048"),
        ("data", "data", "AES-256"),
    ] {
        world.admin().post("/admin/keys", key(name, usage, algorithm)).await.created();
    }
    assert_eq!(compared(&world).await, []);
    rewrite(
        &world.pool,
        "CREATE TABLE former AS SELECT * FROM keys;
         UPDATE keys SET public_key = other.public_key, thumbprint = other.thumbprint
           FROM (SELECT * FROM keys WHERE name = 'two') other WHERE keys.name = 'one'",
    )
    .await;
    assert_eq!(compared(&world).await, [Difference::OtherPublicKey]);
    rewrite(
        &world.pool,
        "UPDATE keys SET public_key = former.public_key FROM former WHERE former.id = keys.id",
    )
    .await;
    // The thumbprint is still the other one.
    assert_eq!(compared(&world).await, [Difference::OtherPublicKey]);
    rewrite(
        &world.pool,
        "UPDATE keys SET thumbprint = former.thumbprint FROM former WHERE former.id = keys.id",
    )
    .await;
    assert_eq!(compared(&world).await, []);
}
