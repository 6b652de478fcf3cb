//! Rotation of envelope keys, also with concurrent requests.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{generate, id, path, read, send, set};
use testkit::World;
use testkit::openssl::{private, public};

async fn active(world: &World, service: &str) -> Vec<Value> {
    let query = format!("/admin/keys?serviceId={service}&use=enc&status=active");
    let listed = world.admin().get(&query).await.ok().json();
    listed["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn a_new_key_only_retires_the_previous_key_of_its_family() {
    let world = World::new().await;
    let service = world.service("rotating").await;
    let rsa = generate(&world, &service, "RSA-2048").await;
    let ec = generate(&world, &service, "P-256").await;
    let new_key = generate(&world, &service, "P-384").await;
    assert_eq!(read(&world, id(&rsa)).await["status"], "active");
    assert_eq!(read(&world, id(&ec)).await["status"], "retired");
    assert_eq!(read(&world, id(&new_key)).await["status"], "active");
    set(&world, id(&ec), "active").await.ok();
    assert_eq!(read(&world, id(&new_key)).await["status"], "retired");
}

#[tokio::test]
async fn several_signing_keys_can_be_active() {
    let world = World::new().await;
    let service = world.service("signing").await;
    for _ in 0..2 {
        let key = generate(&world, &service, "Ed25519").await;
        assert_eq!(read(&world, id(&key)).await["status"], "active");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_a_hundred_concurrent_activations_remains() {
    let world = World::new().await;
    let service = world.service("contended").await;
    let mut keys = Vec::new();
    for _ in 0..10 {
        let body = json!({"generate": true, "algorithm": "P-256", "activate": false});
        keys.push(send(&world, &service, body).await.created().text("id"));
    }
    let changes = (0..100).map(|turn| set(&world, &keys[turn % keys.len()], "active"));
    for answer in join_all(changes).await {
        answer.ok();
    }
    assert_eq!(active(&world, &service).await.len(), 1);
    let retirements: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM management_events
          WHERE resource_type = 'key' AND before->>'status' = 'active'
            AND after->>'status' = 'retired'",
    )
    .fetch_one(&world.pool)
    .await
    .expect("the events");
    let activations: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM management_events
          WHERE resource_type = 'key' AND before->>'status' = 'retired'
            AND after->>'status' = 'active'",
    )
    .fetch_one(&world.pool)
    .await
    .expect("the events");
    assert_eq!(retirements, activations - 1, "each activation except the first must retire a key");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_changes_from_the_same_state_succeeds() {
    let world = World::new().await;
    let service = world.service("expected").await;
    let key = generate(&world, &service, "P-256").await;
    let path = path(id(&key));
    let tag = world.admin().get(&path).await.ok().header("etag").to_owned();
    let admin = world.admin().with("if-match", &tag);
    let changes = (0..20).map(|turn| admin.put(&path, json!({"name": format!("name {turn}")})));
    let answers = join_all(changes).await;
    let won = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(won, 1);
    for lost in answers.into_iter().filter(|answer| answer.status != 200) {
        lost.refused(412, "PRECONDITION_FAILED");
    }
}

#[tokio::test]
async fn published_public_keys_are_available_to_partners() {
    let world = World::new().await;
    let service = world.service("public").await;
    let jwks = format!("/.well-known/jwks/{service}");
    let enc = generate(&world, &service, "P-256").await;
    generate(&world, &service, "AES-256").await;
    for nothing in [jwks.as_str(), "/.well-known/jwks/x", "/.well-known/jwks/%FF"] {
        world.anonymous().get(nothing).await.refused(404, "NOT_FOUND");
    }
    let publish = json!({"publishKeys": true});
    world.admin().put(&format!("/admin/services/{service}"), publish).await.ok();
    let sig = generate(&world, &service, "Ed25519").await;
    set(&world, id(&sig), "retired").await.ok();
    let rsa = json!({"use": "sig", "publicKey": public(&private("RSA-2048"))});
    let rsa = send(&world, &service, rsa).await.created().json();

    let answer = world.anonymous().get(&jwks).await.ok();
    assert_eq!(answer.header("cache-control"), "public, max-age=60");
    let published = answer.json();
    let keys = published["keys"].as_array().expect("keys");
    let listed: Vec<_> = keys.iter().map(|key| (&key["kid"], &key["use"], &key["alg"])).collect();
    let expected = [
        (&enc["id"], &json!("enc"), &json!("ECDH-ES+A256KW")),
        (&sig["id"], &json!("sig"), &json!("EdDSA")),
        (&rsa["id"], &json!("sig"), &json!("RS256")),
    ];
    assert_eq!(listed, expected);
    assert_eq!(keys[0]["x"], enc["publicKey"]["x"]);

    let new_key = generate(&world, &service, "P-256").await;
    let published = world.anonymous().get(&jwks).await.ok().json();
    assert_eq!(
        published["keys"][0]["kid"], sig["id"],
        "a retired envelope key must not be published"
    );
    assert_eq!(published["keys"][2]["kid"], new_key["id"]);
}

#[tokio::test]
async fn the_etag_of_a_key_set_changes_with_its_keys() {
    let world = World::new().await;
    let service = world.service("partner").await;
    let publish = json!({ "publishKeys": true });
    let path = format!("/admin/services/{service}");
    world.admin().put(&path, publish).await.ok();
    world.key(&service, "sig", "P-256").await;
    let jwks = format!("/.well-known/jwks/{service}");
    let read = async |known: &str| {
        let client = world.anonymous().with("if-none-match", known);
        client.get(&jwks).await
    };
    let first = read("\"other\"").await.ok();
    let etag = first.header("etag").to_owned();
    assert_eq!(first.header("cache-control"), "public, max-age=60");
    for known in [etag.clone(), format!("\"a\", W/{etag}"), "*".to_owned()] {
        let answer = read(&known).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (304, ""));
        assert_eq!(answer.header("etag"), etag);
        assert_eq!(answer.header("cache-control"), "public, max-age=60");
    }

    world.key(&service, "enc", "P-256").await;
    let second = read(&etag).await.ok();
    assert_ne!(second.header("etag"), etag);
    assert_eq!(second.json()["keys"].as_array().unwrap().len(), 2);
}
