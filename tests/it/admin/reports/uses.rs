//! The uses of a key in the register.

use std::time::Duration;

use engine::audit::traffic::sum_up;
use engine::ids::KeyId;
use engine::settings::Stage;
use formats::clock::Clock;
use serde_json::json;

use super::{entry, generate, register, reporting_world};
use testkit::{World, jwe, pool};

const A_MINUTE: Duration = Duration::from_secs(60);

/// The numbers of protections and openings of a key, of all records so far.
async fn counts(world: &World, key: &str) -> (i64, i64) {
    sum_up(&world.pool, world.clock.now().plus(A_MINUTE)).await.expect("sums");
    let id: KeyId = key.parse().expect("an id");
    let sql = "SELECT coalesce(sum(protections), 0)::bigint, coalesce(sum(openings), 0)::bigint
                 FROM key_use_days WHERE key_id = $1";
    sqlx::query_as(sql).bind(id).fetch_one(&world.pool).await.expect("counts")
}

#[tokio::test]
async fn every_use_of_a_key_counts_as_a_protection_or_as_an_opening() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let service = alice.service.as_ref().expect("a service");
    let data = world.key(service, "data", "AES-256").await;
    let sig = world.key(service, "sig", "P-256").await;

    let envelope = jwe(&alice.protect(json!("card")).await);
    alice.protect(json!("card")).await.ok();
    alice.unprotect(&envelope).await.ok();
    let plain = json!({ "data": "x", "algorithm": "AES-256-GCM" });
    let encrypted = alice.operate("encrypt", plain).await.ok().json()["result"].clone();
    for _ in 0..3 {
        alice.operate("decrypt", encrypted.clone()).await.ok();
    }
    let text = json!({ "data": "x", "algorithm": "ECDSA-SHA256" });
    let mut signed = alice.operate("sign", text).await.ok().json()["result"].clone();
    signed["data"] = json!("x");
    alice.operate("verify", signed.clone()).await.ok();
    signed["data"] = json!("y");
    alice.operate("verify", signed).await.ok();

    assert_eq!(counts(&world, &destination.key).await, (2, 1));
    assert_eq!(counts(&world, &data).await, (1, 3));
    assert_eq!(counts(&world, &sig).await, (1, 2));
}

/// The login of the service can change the time up to which the records are summed.
#[tokio::test]
async fn a_time_that_no_instance_wrote_does_not_end_the_sums() {
    let clock = Clock::held_at(Clock::system().now());
    let world = World::at(clock, Stage::Development).await;
    let destination = world.some_destination().await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let earlier = "summed_up_to - interval '1 hour'";
    for (count, forged) in
        [(1, "'9000-01-01'"), (2, "NULL"), (3, "'9000-01-01'"), (4, earlier), (5, earlier)]
    {
        alice.protect(json!("card")).await.ok();
        assert_eq!(counts(&world, &destination.key).await, (count, 0));
        let forged = format!("UPDATE traffic_progress SET summed_up_to = {forged}");
        let change = sqlx::query(sqlx::AssertSqlSafe(forged));
        change.execute(&pool(world.as_application())).await.expect("a change");
        // The next record is in a later minute.
        world.clock.advance(2 * A_MINUTE);
    }
    assert_eq!(counts(&world, &destination.key).await, (5, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_count_until_the_day_of_the_report() {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let key = generate(&world, &service, "P-256").await;
    let id: KeyId = key.parse().expect("an id");
    let used = "INSERT INTO key_use_days VALUES
        ($1, '2026-01-01', 5, 0, '2026-01-01T10:00:00Z', NULL),
        ($1, '2026-02-09', 3, 4, '2026-02-09T10:00:00Z', '2026-02-09T11:00:00Z'),
        ($1, '2026-02-10', 0, 7, NULL, '2026-02-10T12:00:00Z')";
    sqlx::query(used).bind(id).execute(&world.pool).await.expect("uses");
    let at = async |day: &str| {
        let report = register(&world, &format!("?at={day}")).await;
        assert_eq!(report["at"], day);
        let key = entry(&report, &key);
        json!([key["usesIn30Days"], key["lastProtectedAt"], key["lastOpenedAt"]])
    };
    let [first, second, third] =
        ["2026-01-01T10:00:00.000Z", "2026-02-09T10:00:00.000Z", "2026-02-09T11:00:00.000Z"];
    assert_eq!(at("2025-12-31").await, json!([0, null, null]));
    assert_eq!(at("2026-01-01").await, json!([5, first, null]));
    assert_eq!(at("2026-01-30").await, json!([5, first, null]));
    assert_eq!(at("2026-01-31").await, json!([0, first, null]));
    assert_eq!(at("2026-02-09").await, json!([7, second, third]));
    assert_eq!(at("2026-02-10").await, json!([14, second, "2026-02-10T12:00:00.000Z"]));
}
