//! The successor of a key in the register.

use engine::rows::{invalid_rows, seal_and_record};
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};

use super::{entry, generate, register, reporting_world};
use crate::admin::keys::schedule::rotate;
use testkit::{PATIENCE, World, within};

/// Generates a key of this name for data.
async fn named(world: &World, service: &str, name: &str) -> String {
    let body = json!({ "serviceId": service, "name": name, "generate": true,
        "algorithm": "AES-256" });
    world.admin().post("/admin/keys", body).await.created().text("id")
}

/// Changes rows as an operator does: the new state is recorded.
async fn by_operator(world: &World, sql: &'static str) {
    sqlx::query(sql).execute(&world.pool).await.expect("a change");
    let mut transaction = world.pool.begin().await.expect("a transaction");
    let seen = invalid_rows(world.pool.rows_on(&mut transaction), &[]).await.expect("the rows");
    let at = (&Clock::system(), &Entropy::system());
    let sealed = seal_and_record(world.pool.rows_on(&mut transaction), &seen, &[], at).await;
    sealed.expect("sealed rows");
    transaction.commit().await.expect("a commit");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_successor_of_a_key_is_the_one_that_was_activated_next() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let mut keys = Vec::new();
    for algorithm in ["RSA-2048", "P-256", "RSA-3072", "RSA-4096"] {
        keys.push(generate(&world, &service, algorithm).await);
    }
    let [first, other_family, second, third] = &keys[..] else { panic!("{keys:?}") };
    let report = register(&world, "").await;
    assert_eq!(entry(&report, first)["successor"], **second);
    assert_eq!(entry(&report, second)["successor"], **third);
    for key in [third, other_family] {
        assert_eq!(entry(&report, key)["successor"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_succeeded_by_the_next_of_its_name_that_acts() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let first = named(&world, &service, "ours").await;
    named(&world, &service, "theirs").await;
    assert_eq!(entry(&register(&world, "").await, &first)["successor"], Value::Null);
    let second = named(&world, &service, "ours").await;
    assert_eq!(entry(&register(&world, "").await, &first)["successor"], *second);
    let disabled = json!({ "status": "disabled" });
    world.admin().patch(&format!("/admin/keys/{second}"), disabled).await.ok();
    assert_eq!(entry(&register(&world, "").await, &first)["successor"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_waits_for_its_activation_is_the_successor() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "Ed25519",
        "rotationDays": 2 });
    let key = world.admin().post("/admin/keys", body).await.created().text("id");
    // A signing key is published a day before it signs.
    by_operator(&world, "UPDATE keys SET activated_at = activated_at - interval '25 hours'").await;
    let waiting = async || {
        let query = format!("/admin/keys?serviceId={service}&status=retired");
        world.admin().get(&query).await.ok().json()["items"][0]["id"].clone()
    };
    within(PATIENCE, async || {
        rotate(&world).await;
        !waiting().await.is_null()
    })
    .await;
    assert_eq!(entry(&register(&world, "").await, &key)["successor"], waiting().await);
}
