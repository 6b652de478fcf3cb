//! `Idempotency-Key` on the `POST` requests of the management API.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{fail_commits_of_keys, intents};
use testkit::{Answer, Client, PATIENCE, World, within};

const API_KEYS: &str = "/admin/api-keys";

fn with<'w>(client: Client<'w>, key: &str) -> Client<'w> {
    client.with("idempotency-key", key)
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotency-replayed")
}

/// A request that creates an admin key, whose name can be used many times.
fn admin_key(name: &str) -> Value {
    json!({ "name": name, "type": "admin" })
}

async fn count(world: &World, name: &str) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM api_keys WHERE name = $1").bind(name);
    count.fetch_one(&world.pool).await.unwrap()
}

async fn a_held_world() -> World {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    World::at(clock, Stage::Development).await
}

#[tokio::test]
async fn a_request_that_is_sent_again_gets_the_first_answer() {
    let world = World::new().await;
    let service = world.service("billing").await;
    let policy = json!({ "name": "n", "destinationServiceId": service,
        "allowedServiceIds": ["*"] });
    let key = json!({ "serviceId": service, "algorithm": "AES-256", "generate": true });
    for (path, body) in [
        ("/admin/services", json!({ "name": "payments" })),
        ("/admin/policies", policy),
        ("/admin/keys", key),
        (API_KEYS, admin_key("Ada")),
        ("/admin/keys/import-parameters", json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" })),
    ] {
        let admin = with(world.admin(), "order 4711");
        let first = admin.post(path, body.clone()).await;
        assert_eq!(first.status, 201, "{path}: {}", first.body);
        assert!(!is_replayed(&first), "{path}");
        let mut expected = first.body.clone();
        if path == API_KEYS {
            let secret = format!("{:?}", first.text("secret"));
            assert!(expected.contains(&secret));
            expected = expected.replace(&secret, "null");
        }
        for _ in 0..2 {
            let again = admin.post(path, body.clone()).await;
            assert_eq!(again.status, 201, "{path}: {}", again.body);
            assert_eq!(again.header("idempotency-replayed"), "true");
            // To the letter: the members have the same order.
            assert_eq!(again.body, expected, "{path}");
            for header in ["location", "etag", "content-type"] {
                assert_eq!(again.headers.get(header), first.headers.get(header), "{path}");
            }
        }
    }
    assert_eq!(count(&world, "Ada").await, 1);
}

#[tokio::test]
async fn a_key_belongs_to_a_caller_a_path_and_a_body() {
    let world = World::new().await;
    let admin = with(world.admin(), "k");
    let first = admin.post(API_KEYS, admin_key("Ada")).await.created();
    let refused = admin.post(API_KEYS, admin_key("Eve")).await;
    let refused = refused.refused(409, "CONFLICT");
    assert!(!refused.headers.contains_key("retry-after"));
    let elsewhere = admin.post("/admin/services", json!({ "name": "Ada" })).await;
    assert!(!is_replayed(&elsewhere.created()));
    let ada = with(world.client(&first.text("secret")), "k");
    let other = ada.post(API_KEYS, admin_key("Ada")).await.created();
    assert!(!is_replayed(&other));
    assert_eq!(count(&world, "Ada").await, 2);
    // Other methods do not take the header.
    let path = other.header("location");
    admin.patch(path, json!({ "name": "A" })).await.ok();
    admin.patch(path, json!({ "name": "B" })).await.ok();
}

#[tokio::test]
async fn an_idempotency_key_has_a_form() {
    let world = World::new().await;
    let post = async |client: Client<'_>| client.post(API_KEYS, admin_key("Ada")).await;
    for (key, code) in
        [("", "length"), (&*"x".repeat(129), "length"), ("grün", "format"), ("a\tb", "format")]
    {
        let refused = post(with(world.admin(), key)).await;
        refused.invalid(&[("Idempotency-Key", code)]);
    }
    let twice = with(with(world.admin(), "a"), "b");
    post(twice).await.invalid(&[("Idempotency-Key", "format")]);
    post(with(world.admin(), &"~".repeat(128))).await.created();
}

#[tokio::test]
async fn a_path_that_is_longer_than_those_of_resources_is_unknown() {
    let world = World::new().await;
    let segment: String = (0..3_000).map(|_| char::from(rand::random_range(b'a'..=b'z'))).collect();
    let admin = with(world.admin(), "k");
    let path = format!("/admin/changes/{segment}/approve");
    let refused = admin.post(&path, json!({})).await;
    refused.refused(404, "CHANGE_NOT_FOUND");
}

#[tokio::test]
async fn failures_are_not_kept() {
    let world = World::new().await;
    let admin = with(world.admin(), "k");
    let wrong = json!({ "name": "" });
    let refused = admin.post("/admin/services", wrong.clone()).await;
    refused.invalid(&[("name", "length")]);
    let refused = admin.post("/admin/services", wrong).await;
    refused.invalid(&[("name", "length")]);
    let named = json!({ "name": "billing" });
    admin.post("/admin/services", named).await.created();
    let anonymous = with(world.anonymous(), "k");
    let refused = anonymous.post("/admin/services", json!({})).await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn answers_are_kept_for_a_day_on_all_instances() {
    let world = a_held_world().await;
    let other = world.another().await;
    let post = async |world: &World| {
        let admin = with(world.admin(), "k");
        admin.post(API_KEYS, admin_key("Ada")).await.created()
    };
    let day = Duration::from_secs(24 * 60 * 60);
    let first = post(&world).await;
    world.clock.advance(day - Duration::from_millis(1));
    let again = post(&other).await;
    assert!(is_replayed(&again));
    assert_eq!(again.text("id"), first.text("id"));
    world.clock.advance(Duration::from_millis(1));
    let new = post(&other).await;
    assert!(!is_replayed(&new));
    assert_ne!(new.text("id"), first.text("id"));
}

#[tokio::test]
async fn a_request_in_progress_is_a_conflict_until_its_instance_must_have_ended() {
    let world = a_held_world().await;
    let admin = with(world.admin(), "k");
    admin.post(API_KEYS, admin_key("Ada")).await.created();
    // As a crash before the change leaves it.
    sqlx::query("UPDATE idempotent_calls SET answer = NULL, resource_type = NULL")
        .execute(&world.pool)
        .await
        .unwrap();
    let refused = admin.post(API_KEYS, admin_key("Ada")).await;
    let refused = refused.refused(409, "CONFLICT");
    assert_eq!(refused.header("retry-after"), "1");
    // The time limit of requests in tests, and a margin.
    world.clock.advance(Duration::from_secs(125));
    let new = admin.post(API_KEYS, admin_key("Ada")).await.created();
    assert!(!is_replayed(&new));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_change_something_once() {
    let world = World::new().await;
    let other = world.another().await;
    let post = async |turn: usize| {
        let world = if turn.is_multiple_of(2) { &world } else { &other };
        let admin = with(world.admin(), "k");
        admin.post(API_KEYS, admin_key("Ada")).await
    };
    let answers = join_all((0..20).map(post)).await;
    let made = answers.iter().filter(|it| it.status == 201 && !is_replayed(it));
    assert_eq!(made.count(), 1);
    for answer in answers {
        assert!(matches!(answer.status.as_u16(), 201 | 409), "{answer:?}");
    }
    assert_eq!(count(&world, "Ada").await, 1);
}

#[tokio::test]
async fn the_change_and_its_answer_are_one_transaction() {
    let world = World::new().await;
    let refuse = "ALTER TABLE idempotent_calls ADD CONSTRAINT no_answer CHECK (answer IS NULL)";
    sqlx::query(refuse).execute(&world.pool).await.unwrap();
    let admin = with(world.admin(), "k");
    let failed = admin.post(API_KEYS, admin_key("Ada")).await;
    failed.refused(500, "INTERNAL_ERROR");
    assert_eq!(count(&world, "Ada").await, 0);
}

#[tokio::test]
async fn a_change_whose_client_left_is_answered_later() {
    let world = World::new().await;
    let mut lock = world.pool.begin().await.unwrap();
    let exclusive = "LOCK TABLE services IN SHARE MODE";
    sqlx::query(exclusive).execute(&mut *lock).await.unwrap();
    let admin = with(world.admin(), "k");
    let body = json!({ "name": "billing" });
    let mut left = Box::pin(admin.post("/admin/services", body.clone()));
    // The request has its key and waits for the table.
    within(PATIENCE, async || {
        poll_fn(|cx| {
            assert!(left.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        let waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted
             AND relation = 'services'::regclass)";
        sqlx::query_scalar(waiting).fetch_one(&world.pool).await.unwrap()
    })
    .await;
    drop(left);
    lock.rollback().await.unwrap();
    within(PATIENCE, async || {
        let again = admin.post("/admin/services", body.clone()).await;
        assert!(is_replayed(&again) || again.status == 409, "{again:?}");
        again.status == 201
    })
    .await;
}

#[tokio::test]
async fn no_secret_is_kept() {
    let world = World::new().await;
    let service = world.service("billing").await;
    let admin = with(world.admin(), "k");
    let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let body = json!({ "serviceId": service, "secretKey": secret });
    admin.post("/admin/keys", body).await.created();
    let made = admin.post(API_KEYS, admin_key("Ada")).await.created();
    let rows: Vec<String> = sqlx::query_scalar("SELECT known::text FROM idempotent_calls known")
        .fetch_all(&world.pool)
        .await
        .unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(!row.contains(secret), "{row}");
        assert!(!row.contains(&made.text("secret")), "{row}");
        assert!(!row.contains(world.admin_key()), "{row}");
    }
}

#[tokio::test]
async fn the_key_of_a_request_that_lost_its_claim_is_destroyed() {
    let world = a_held_world().await;
    let service = world.service("billing").await;
    let body = json!({ "serviceId": service, "algorithm": "AES-256", "generate": true });
    fail_commits_of_keys(&world.pool).await;
    for claimed in ["one", "two"] {
        let admin = with(world.admin(), claimed);
        let failed = admin.post("/admin/keys", body.clone()).await;
        failed.refused(503, "SERVICE_UNAVAILABLE");
    }
    let without_claim = world.admin().post("/admin/keys", body).await;
    without_claim.refused(503, "SERVICE_UNAVAILABLE");
    // One of the requests still has its claim.
    sqlx::query(
        "INSERT INTO idempotent_calls (caller, path, key, fingerprint, attempt, begun_at)
         SELECT gen_random_uuid(), '/admin/keys', 'two', sha256(''), attempt, created_at
           FROM key_intents WHERE attempt IS NOT NULL ORDER BY id LIMIT 1",
    )
    .execute(&world.pool)
    .await
    .expect("a claim");
    assert_eq!(intents(&world.pool).await, 3);
    world.clock.advance(Duration::from_secs(16 * 60));
    let _another = world.another().await;
    within(PATIENCE, async || intents(&world.pool).await == 2).await;
}

/// What was taken away, given back and taken away again is away.
#[tokio::test(flavor = "multi_thread")]
async fn taking_away_is_done_each_time() {
    let world = World::new().await;
    let reason = json!({ "reason": "r" });
    let body = json!({ "name": "n", "type": "admin", "person": "ada" });
    world.admin().post(API_KEYS, body).await.created();
    let people: Value = world.admin().get("/admin/people").await.ok().json();
    let person = format!("/admin/people/{}", people["items"][0]["id"].as_str().expect("an id"));
    let [lock, unlock] = ["lock", "unlock"].map(|end| format!("{person}/{end}"));
    for (take, give, taken) in [
        ("/admin/emergency/freeze", "/admin/emergency/unfreeze", "frozen"),
        (lock.as_str(), unlock.as_str(), "locked"),
    ] {
        for _ in 0..2 {
            let answer = with(world.admin(), "alarm").post(take, reason.clone()).await.ok();
            assert!(!is_replayed(&answer), "{take}");
            assert_eq!(answer.text("status"), taken);
            world.admin().post_nothing(give).await.ok();
        }
        let answer = with(world.admin(), "alarm").post(take, reason.clone()).await.ok();
        assert_eq!(answer.text("status"), taken);
    }
    let shown = world.admin().get(&person).await.ok();
    assert_eq!(shown.text("status"), "locked");
    // A person who has not been seen is known after the first lock.
    let unseen = json!({ "subject": "eve", "reason": "r" });
    let lock = async || with(world.admin(), "alarm").post("/admin/people", unseen.clone()).await;
    let person = lock().await.created().text("id");
    let unlock = format!("/admin/people/{person}/unlock");
    world.admin().post_nothing(&unlock).await.ok();
    let refused = lock().await.refused(409, "CONFLICT");
    assert!(!is_replayed(&refused), "the person is active");
    assert_eq!(world.admin().get("/admin/emergency").await.ok().text("status"), "frozen");
}
