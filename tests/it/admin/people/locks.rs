//! The effects of a lock, on the instance that made it and on another one.

use std::time::Duration;

use formats::clock::{Clock, Timestamp};
use serde_json::json;

use super::{PEOPLE, key_of, lock, lock_by_entry, path, person, unlock};
use crate::dashboard::Browser;
use testkit::{OidcProvider, PATIENCE, World, within};

const ADDRESS: &str = "http://127.0.0.1:8080";

/// Two instances where people sign in at a provider.
struct Pair {
    provider: OidcProvider,
    one: World,
    other: World,
}

impl Pair {
    async fn new() -> Self {
        let provider = OidcProvider::start();
        let one = World::with_admin(Clock::system(), provider.admin(ADDRESS)).await;
        let other = one.another_admitting(provider.admin(ADDRESS)).await;
        Self { provider, one, other }
    }

    /// Locks Carla with an entry of this time.
    async fn lock_carla_at(&self, at: Timestamp) {
        let sql =
            "INSERT INTO revisions SELECT 'people', id, revision + 1, 'locked', $1 FROM people
                    WHERE subject = 'carla'";
        sqlx::query(sql).bind(at).execute(&self.one.pool).await.expect("an entry");
    }

    /// Locks Carla with a request or with an entry alone.
    async fn lock_carla(&self, by_entry: bool) {
        if by_entry {
            lock_by_entry(&self.one, "carla").await;
        } else {
            let admin = self.one.admin();
            lock(&admin, &person(&admin, "carla").await).await.ok();
        }
    }
}

#[tokio::test]
async fn a_lock_ends_sessions_on_all_instances() {
    for by_entry in [false, true] {
        let pair = Pair::new().await;
        let mut browsers = [Browser::new(&pair.one), Browser::new(&pair.other)];
        let mut unused = Browser::new(&pair.one);
        for browser in browsers.iter_mut().chain([&mut unused]) {
            browser.sign_in_at(&pair.provider, "carla").await;
            browser.get("/dashboard/keys").await.ok();
        }
        pair.lock_carla(by_entry).await;
        for browser in &mut browsers {
            within(PATIENCE, async || browser.get("/dashboard/keys").await.status == 303).await;
            let refused = browser.sign_in_at(&pair.provider, "carla").await;
            assert_eq!(refused.status, 403, "{}", refused.body);
            assert!(refused.body.contains("Your account is locked"), "{}", refused.body);
        }
        // Sessions stay ended, also those that nobody used in the meantime.
        let admin = pair.one.admin();
        unlock(&admin, &person(&admin, "carla").await).await.ok();
        for browser in browsers.iter_mut().chain([&mut unused]) {
            assert_eq!(browser.get("/dashboard/keys").await.status, 303);
        }
    }
}

#[tokio::test]
async fn a_lock_refuses_access_tokens_on_all_instances() {
    for by_entry in [false, true] {
        let pair = Pair::new().await;
        let [used, unused] =
            [pair.provider.tokens("carla").await, pair.provider.tokens("carla").await];
        for world in [&pair.one, &pair.other] {
            world.client(&used.access_token).get("/admin/keys").await.ok();
        }
        pair.lock_carla(by_entry).await;
        for world in [&pair.one, &pair.other] {
            let client = world.client(&used.access_token);
            within(PATIENCE, async || client.get("/admin/keys").await.status == 401).await;
            let refused = world.client(&unused.access_token).get("/admin/keys").await;
            refused.refused(401, "AUTHENTICATION_FAILED");
        }
    }
}

#[tokio::test]
async fn access_tokens_from_before_a_lock_stay_refused() {
    let mut pair = Pair::new().await;
    let [used, unused] = [pair.provider.tokens("carla").await, pair.provider.tokens("carla").await];
    pair.one.client(&used.access_token).get("/admin/keys").await.ok();
    // Times of tokens are whole seconds.
    pair.lock_carla_at(pair.one.clock.now().plus(Duration::from_secs(2))).await;
    let admin = pair.one.admin();
    unlock(&admin, &person(&admin, "carla").await).await.ok();
    for world in [&pair.one, &pair.other] {
        for token in [&used, &unused] {
            let refused = world.client(&token.access_token).get("/admin/keys").await;
            refused.refused(401, "AUTHENTICATION_FAILED");
        }
    }
    pair.provider.advance(Duration::from_secs(5));
    let later = pair.provider.tokens("carla").await.access_token;
    pair.one.client(&later).get("/admin/keys").await.ok();
}

#[tokio::test]
async fn a_lock_with_a_forged_time_ends_what_is_older() {
    let pair = Pair::new().await;
    let token = pair.provider.tokens("carla").await.access_token;
    pair.one.client(&token).get("/admin/keys").await.ok();
    pair.lock_carla_at(Timestamp::from_millis(0)).await;
    let before = pair.one.clock.now();
    let admin = pair.one.admin();
    unlock(&admin, &person(&admin, "carla").await).await.ok();
    // Sessions and tokens from before this time are refused, tokens by the second.
    let sql = "SELECT tokens_from FROM people WHERE subject = 'carla'";
    let ended: Timestamp = sqlx::query_scalar(sql).fetch_one(&pair.one.pool).await.expect("a time");
    assert!(ended >= before, "{ended:?}");
}

#[tokio::test]
async fn keys_that_a_locked_person_created_do_not_unlock_them() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    let bot = json!({ "name": "bot", "type": "admin", "roles": ["owner"] });
    let created = ada.post("/admin/api-keys", bot.clone()).await.created();
    let first = world.client(&created.text("secret"));
    let second = first.post("/admin/api-keys", bot).await.created().text("secret");
    let admin = world.admin();
    let of_ada = person(&admin, "ada").await;
    lock(&admin, &of_ada).await.ok();
    let page = format!("/dashboard/people/{}", of_ada["id"].as_str().unwrap());
    let page = Browser::signed_in(&world).await.get(&page).await.ok().body;
    assert!(page.contains(&created.text("id")), "{page}");
    for client in [first, world.client(&second)] {
        let refused = unlock(&client, &of_ada).await.refused(409, "CONFLICT");
        assert!(refused.message().starts_with("The person created your API key"), "{refused:?}");
    }
    unlock(&admin, &of_ada).await.ok();
}

#[tokio::test]
async fn a_lock_refuses_admin_keys_on_all_instances_until_its_end() {
    for by_entry in [false, true] {
        let world = World::new().await;
        let other = world.another().await;
        let ada = key_of(&world, "ada", &["owner"]).await;
        let clients = [ada.clone(), other.client(ada.key.as_ref().expect("a key"))];
        for client in &clients {
            client.get(PEOPLE).await.ok();
        }
        let of_ada = person(&world.admin(), "ada").await;
        if by_entry {
            lock_by_entry(&world, "ada").await;
        } else {
            lock(&world.admin(), &of_ada).await.ok();
            clients[0].get(PEOPLE).await.refused(401, "AUTHENTICATION_FAILED");
        }
        for client in &clients {
            within(PATIENCE, async || client.get(PEOPLE).await.status == 401).await;
        }
        let shown = world.admin().get(&path(&of_ada)).await.ok().json();
        assert_eq!(shown["status"], "locked");
        assert!(shown["lockedAt"].is_string(), "{shown}");
        unlock(&world.admin(), &of_ada).await.ok();
        for client in &clients {
            within(PATIENCE, async || client.get(PEOPLE).await.status == 200).await;
        }
    }
}

/// The key signs in to the dashboard, and the session depends on it.
#[tokio::test]
async fn a_lock_ends_the_sessions_of_admin_keys() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    let mut browser = Browser::new(&world);
    browser.sign_in(ada.key.as_ref().expect("a key")).await;
    browser.get("/dashboard/keys").await.ok();
    lock(&world.admin(), &person(&world.admin(), "ada").await).await.ok();
    assert_eq!(browser.get("/dashboard/keys").await.status, 303);
}

#[tokio::test]
async fn a_new_key_of_a_locked_person_is_refused() {
    let world = World::new().await;
    key_of(&world, "ada", &["owner"]).await;
    lock(&world.admin(), &person(&world.admin(), "ada").await).await.ok();
    let another = key_of(&world, "ada", &["owner"]).await;
    another.get(PEOPLE).await.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn tokens_change_nothing_of_a_locked_person() {
    let pair = Pair::new().await;
    pair.one
        .client(&pair.provider.tokens("carla").await.access_token)
        .get("/admin/keys")
        .await
        .ok();
    pair.lock_carla(true).await;
    let token = pair.provider.tokens("carla").await.access_token;
    pair.one.client(&token).get("/admin/keys").await.refused(401, "AUTHENTICATION_FAILED");
    let newest: String = sqlx::query_scalar(
        "SELECT what FROM revisions WHERE table_name = 'people' ORDER BY revision DESC LIMIT 1",
    )
    .fetch_one(&pair.one.pool)
    .await
    .expect("an entry");
    assert_eq!(newest, "locked");
}

#[tokio::test]
async fn a_change_in_progress_of_a_locked_person_is_refused() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    let service = format!("/admin/services/{}", world.service("billing").await);
    let mut holder = world.pool.begin().await.expect("a transaction");
    sqlx::query("SELECT FROM services FOR UPDATE").execute(&mut *holder).await.expect("a lock");
    let renamed = ada.put(&service, json!({ "name": "renamed" }));
    let (answer, ()) = tokio::join!(renamed, async {
        let waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock')";
        within(PATIENCE, async || {
            sqlx::query_scalar(waiting).fetch_one(&world.pool).await.expect("the activity")
        })
        .await;
        lock(&world.admin(), &person(&world.admin(), "ada").await).await.ok();
        holder.commit().await.expect("release the lock");
    });
    answer.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(world.admin().get(&service).await.ok().text("name"), "billing");
}
