//! Locks that are refused, because nobody could undo them.

use formats::clock::Clock;
use futures_util::future::join;
use serde_json::json;

use super::{PEOPLE, key_of, lock, person};
use testkit::{Answer, OidcProvider, PATIENCE, World, rewrite, within};

/// The advisory lock that locks of people take one after another.
const OWNERS: i64 = 0x5ea1_3a8d_0026;

#[tokio::test]
async fn nobody_locks_themselves() {
    let provider = OidcProvider::start();
    let admin = provider.admin("http://127.0.0.1:8080");
    let world = World::with_admin(Clock::system(), admin).await;
    let token = provider.tokens("olivia").await.access_token;
    let olivia = world.client(&token);
    let refused = lock(&olivia, &person(&olivia, "olivia").await).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "You cannot lock yourself");

    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    let refused = lock(&ada, &person(&ada, "ada").await).await.refused(409, "CONFLICT");
    assert_eq!(refused.message(), "You cannot lock yourself");
    let unseen = json!({ "subject": "ada", "reason": "r" });
    ada.post(PEOPLE, unseen).await.refused(409, "CONFLICT");
}

/// Ada and Bob lock each other at once, after `arrange`. Returns the answer to the second lock.
async fn second_lock(world: &World, arrange: &'static str) -> Answer {
    let [ada, bob] =
        [key_of(world, "ada", &["owner"]).await, key_of(world, "bob", &["owner"]).await];
    let [of_ada, of_bob] = [person(&ada, "ada").await, person(&ada, "bob").await];
    rewrite(&world.pool, arrange).await;
    let mut holder = world.pool.begin().await.expect("a transaction");
    let hold = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(OWNERS);
    hold.execute(&mut *holder).await.expect("a lock");
    let locks = join(lock(&ada, &of_bob), lock(&bob, &of_ada));
    let ((one, two), ()) = join(locks, async {
        let waiting = "SELECT count(*) >= 2 FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        within(PATIENCE, async || {
            sqlx::query_scalar(waiting).fetch_one(&world.pool).await.expect("the activity")
        })
        .await;
        holder.commit().await.expect("release the lock");
    })
    .await;
    let (first, second) = if one.status == 200 { (one, two) } else { (two, one) };
    first.ok();
    second
}

#[tokio::test]
async fn two_owners_do_not_lock_each_other_at_once() {
    let world = World::new().await;
    // A key without a person remains.
    let refused = second_lock(&world, "UPDATE api_keys SET name = 'other' WHERE name = 'first'");
    refused.await.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn the_last_person_who_can_act_as_an_owner_is_not_locked() {
    for arrange in [
        "UPDATE api_keys SET revoked_at = now() WHERE name = 'first'",
        "UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE name = 'first'",
        "UPDATE api_keys SET roles = '{custodian}' WHERE name = 'first'",
    ] {
        let world = World::new().await;
        let refused = second_lock(&world, arrange).await.refused(409, "CONFLICT");
        let message = "Nobody else could act as an owner: give another person the role first";
        assert_eq!(refused.message(), message);
    }
}

#[tokio::test]
async fn a_person_who_was_an_owner_at_the_last_check_remains() {
    let provider = OidcProvider::start();
    let admin = provider.admin("http://127.0.0.1:8080");
    let world = World::new().await;
    let signing_in = world.another_admitting(admin).await;
    let token = provider.tokens("olivia").await.access_token;
    signing_in.client(&token).get(PEOPLE).await.ok();
    let [ada, bob] =
        [key_of(&world, "ada", &["owner"]).await, key_of(&world, "bob", &["owner"]).await];
    rewrite(&world.pool, "UPDATE api_keys SET revoked_at = now() WHERE name = 'first'").await;
    // Olivia is an owner for the instance where she can sign in.
    let on_other = signing_in.client(bob.key.as_ref().expect("a key"));
    lock(&on_other, &person(&on_other, "ada").await).await.ok();
    within(PATIENCE, async || ada.get(PEOPLE).await.status == 401).await;
    let olivia = signing_in.client(&token);
    lock(&olivia, &person(&olivia, "bob").await).await.ok();
}

/// The key of a locked person is no owner that remains.
#[tokio::test]
async fn the_last_owner_key_of_people_who_are_not_locked_is_not_revoked() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    key_of(&world, "bob", &["owner"]).await;
    rewrite(&world.pool, "UPDATE api_keys SET revoked_at = now() WHERE name = 'first'").await;
    lock(&ada, &person(&ada, "bob").await).await.ok();
    ada.delete(&ada.key_path()).await.refused(409, "CONFLICT");
}
