//! Destruction of adopted keys.

use engine::settings::Stage;
use formats::algorithms::Algorithm;
use hsm::{ErrorKind, NewKey, Purpose};
use serde_json::json;

use super::super::{id, path, read, send};
use super::{destroy, end_delay, fast_clock};
use testkit::{World, token};

/// A key that a vendor's tool makes.
fn vendors_key(algorithm: Algorithm, purpose: Purpose) -> NewKey {
    let id: [u8; 12] = rand::random();
    NewKey { id: id.to_vec(), label: "of a vendor".to_owned(), algorithm, purpose }
}

/// Adopts a key, deletes it and ends its delay. Returns its identifier.
async fn adopt_and_delete(world: &World, vendors: &NewKey) -> String {
    let hex: String = vendors.id.iter().map(|byte| format!("{byte:02x}")).collect();
    let usage = match vendors.purpose {
        Purpose::Sign => "sig",
        Purpose::Data => "data",
        Purpose::Envelope | Purpose::Import => "enc",
    };
    let service = world.service("adopting").await;
    let body = json!({ "use": usage, "tokenObject": { "ckaId": hex } });
    let key = send(world, &service, body).await.created().json();
    world.admin().delete(&path(id(&key))).await.gone();
    end_delay(world).await;
    id(&key).to_owned()
}

/// The name of an adopted key can name another key when its delay is over.
#[tokio::test(flavor = "multi_thread")]
async fn another_key_with_the_name_of_an_adopted_key_stays() {
    let token = token().await;
    for (algorithm, purpose, other) in [
        (Algorithm::P256, Purpose::Envelope, Algorithm::P256),
        (Algorithm::Rsa2048, Purpose::Sign, Algorithm::Rsa2048),
        (Algorithm::Aes256, Purpose::Data, Algorithm::Aes128),
    ] {
        let world = World::at(fast_clock(), Stage::Development).await;
        let mut vendors = vendors_key(algorithm, purpose);
        let made = token.generate(vendors.clone()).await.expect("a key").key;
        let key = adopt_and_delete(&world, &vendors).await;

        token.destroy(&made).await.expect("the adopted key");
        vendors.algorithm = other;
        token.generate(vendors).await.expect("another key");
        destroy(&world).await;
        let status = read(&world, &key).await["status"].clone();
        assert_eq!(status, "pending_destruction", "{algorithm}");
        token.destroy(&made).await.expect("the other key");
        destroy(&world).await;
        assert_eq!(read(&world, &key).await["status"], "destroyed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_key_is_destroyed_after_the_delay() {
    let token = token().await;
    for (algorithm, purpose) in [
        (Algorithm::P256, Purpose::Envelope),
        (Algorithm::Rsa2048, Purpose::Envelope),
        (Algorithm::P256, Purpose::Sign),
        (Algorithm::Aes256, Purpose::Data),
    ] {
        let world = World::at(fast_clock(), Stage::Development).await;
        let vendors = vendors_key(algorithm, purpose);
        let made = token.generate(vendors.clone()).await.expect("a key").key;
        let key = adopt_and_delete(&world, &vendors).await;
        destroy(&world).await;
        assert_eq!(read(&world, &key).await["status"], "destroyed");
        let found = token.find(&made).await;
        assert!(found.is_err_and(|error| error.kind() == ErrorKind::KeyMissing));
    }
}
