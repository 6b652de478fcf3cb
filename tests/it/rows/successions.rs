//! Keys that take over from each other, whose records are hidden for a moment.

use engine::change_kind::ChangeKind;
use engine::ids::KeyId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Intruder;
use testkit::{Client, PATIENCE, World, within};

fn uuid(key: &str) -> Uuid {
    key.parse::<KeyId>().expect("a key").uuid()
}

/// Makes an active key of a service; its identifier.
async fn key(client: &Client<'_>, service: &str, members: Value) -> String {
    let mut body = json!({ "serviceId": service, "generate": true });
    body.as_object_mut().expect("members").extend(members.as_object().expect("members").clone());
    client.post("/admin/keys", body).await.created().text("id")
}

/// An entry that says that the first key was activated after the second.
fn forged(first: &str, second: &str) -> String {
    format!(
        "INSERT INTO revisions (table_name, id, revision, what, member)
         SELECT table_name, id, revision + 1, 'made', '{}' FROM revisions
          WHERE member = '{}' AND table_name = 'keys that take over from each other'",
        uuid(first),
        uuid(second)
    )
}

/// A key that was replaced because it is compromised must not come back.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_away_while_another_took_its_place_protects_nothing() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let (admin, intruder) = (world.admin(), Intruder::of(&world));
    admin
        .patch(&format!("/admin/services/{}", destination.service), json!({ "publishKeys": true }))
        .await
        .ok();
    let first = admin.get(&format!("/admin/keys/{}", destination.key)).await.ok();
    intruder.keep(&world, "keys").await;
    intruder.run("UPDATE keys SET status = 'retired'").await;
    let algorithm = json!({ "algorithm": first.text("algorithm") });
    let second = key(&admin, &destination.service, algorithm).await;
    application.protect(json!(1)).await.ok();
    let hide = format!("UPDATE keys SET status = 'retired' WHERE id = '{}'", uuid(&second));
    intruder.run(&hide).await;
    intruder.put_back("keys").await;
    let refused = async || {
        let answer = application.protect(json!(1)).await;
        answer.status == 500 && answer.body.contains("DESTINATION_KEY_NOT_FOUND")
    };
    within(PATIENCE, refused).await;
    // Partners do not get it either.
    let path = format!("/.well-known/jwks/{}", destination.service);
    assert_eq!(admin.get(&path).await.ok().json()["keys"], json!([]));
    intruder.run(&forged(&destination.key, &second)).await;
    let other = world.another().await;
    let elsewhere = other.client(application.key.as_ref().expect("a key"));
    elsewhere.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
}

/// A service with two keys for data, of which the second is the default.
async fn two_keys(world: &World) -> (Client<'_>, String, String) {
    let client = world.application("shop").await;
    let service = client.service.clone().expect("a service");
    let first = key(&world.admin(), &service, json!({ "algorithm": "AES-256" })).await;
    let second = key(&world.admin(), &service, json!({ "algorithm": "AES-256" })).await;
    (client, first, second)
}

async fn encrypt(client: &Client<'_>) -> testkit::Answer {
    client.operate("encrypt", json!({ "data": 1, "algorithm": "AES-256-GCM" })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_key_does_not_take_the_place_of_a_default_key_that_is_hidden() {
    let world = World::new().await;
    let (client, first, second) = two_keys(&world).await;
    assert_eq!(encrypt(&client).await.ok().json()["result"]["keyId"], second);
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "keys").await;
    let by_second = format!("WHERE id = '{}'", uuid(&second));
    for hide in [
        format!("UPDATE keys SET seal = NULL {by_second}"),
        format!("UPDATE keys SET status = 'retired' {by_second}"),
    ] {
        intruder.run(&hide).await;
        within(PATIENCE, async || encrypt(&client).await.status == 404).await;
        encrypt(&client).await.refused(404, "KEY_NOT_FOUND");
        // A request that names the first one has it.
        let named = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": first });
        client.operate("encrypt", named).await.ok();
        intruder.put_back("keys").await;
    }
    // An entry gives the first one no place before the second.
    intruder.run(&forged(&first, &second)).await;
    let elsewhere =
        async || encrypt(&world.another().await.client(client.key.as_ref().expect("a key"))).await;
    assert_eq!(elsewhere().await.ok().json()["result"]["keyId"], second);
    intruder.run(&format!("UPDATE keys SET seal = NULL {by_second}")).await;
    elsewhere().await.refused(404, "KEY_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_key_takes_the_place_of_a_default_key_that_an_administrator_retires() {
    let world = World::new().await;
    let (client, first, second) = two_keys(&world).await;
    let admin = world.admin();
    let set = async |key: &str, status: &str| {
        admin.patch(&format!("/admin/keys/{key}"), json!({ "status": status })).await.ok();
    };
    let default = async || encrypt(&client).await.ok().json()["result"]["keyId"].clone();
    set(&second, "retired").await;
    assert_eq!(default().await, first);
    set(&second, "active").await;
    assert_eq!(default().await, second);
    set(&first, "disabled").await;
    set(&first, "active").await;
    assert_eq!(default().await, first);
    set(&first, "disabled").await;
    assert_eq!(default().await, second);
}

/// Whether another key becomes the default needs the records of all of them.
#[tokio::test]
async fn a_change_of_the_default_key_is_proposed_while_a_record_does_not_count() {
    let world = World::new().await;
    let (_, first, second) = two_keys(&world).await;
    let strict = world.requiring(&[ChangeKind::KeyActivate], 1).await;
    let body = json!({ "name": "n", "type": "admin", "person": "ada" });
    let ada = world.admin().post("/admin/api-keys", body).await.created().text("secret");
    let path = format!("/admin/keys/{second}");
    let disabled = json!({ "status": "disabled" });
    let proposed = strict.client(&ada).patch(&path, disabled.clone()).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
    let hide = format!("UPDATE keys SET status = 'disabled' WHERE id = '{}'", uuid(&first));
    Intruder::of(&world).run(&hide).await;
    let proposed = strict.client(&ada).patch(&path, disabled).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
}
