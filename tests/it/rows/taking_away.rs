//! Entries of `revisions` that take something away, and what the login can do with them.

use engine::catalog::Catalog;
use engine::keys::Vault;
use engine::management::System;
use engine::management::keys::destroy_due;
use engine::management::taking_away::{TakingAway, people_named, take_away};
use engine::seals::{What, entries_of};
use formats::clock::{Clock, Entropy};
use serde_json::json;
use sqlx::{AssertSqlSafe, Row as _};

use super::Intruder;
use testkit::{PATIENCE, World, jwe, pool, token, within};

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_revokes_an_api_key_whose_row_was_not_written() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    application.protect(json!(1)).await.ok();
    Intruder::of(&world)
        .run(
            "INSERT INTO revisions SELECT 'api_keys', id, revision + 1, 'revoked' FROM api_keys
              WHERE type = 'live'",
        )
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 401).await;
    let shown = world.admin().get(&application.key_path()).await.ok();
    assert_eq!(shown.text("status"), "revoked");
    // The next change of the row keeps the effect.
    let refused = world.admin().put(&application.key_path(), json!({ "name": "again" })).await;
    refused.refused(409, "CONFLICT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_disables_a_key_until_an_administrator_enables_it() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let path = format!("/admin/keys/{}", destination.key);
    Intruder::of(&world)
        .run("INSERT INTO revisions SELECT 'keys', id, revision + 1, 'disabled' FROM keys")
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 500).await;
    assert_eq!(world.admin().get(&path).await.ok().text("status"), "disabled");
    world.admin().put(&path, json!({ "status": "active" })).await.ok();
    application.protect(json!(1)).await.ok();
}

/// Such an entry would say that the row was taken away, and end when an operator seals the row.
#[tokio::test]
async fn an_entry_of_a_member_takes_nothing_away() {
    let world = World::new().await;
    world.service("one").await;
    let intruder = Intruder::of(&world);
    for what in ["changed", "gone", "frozen", "disabled", "locked", "revoked"] {
        let add = format!(
            "INSERT INTO revisions (table_name, id, revision, what, member)
             SELECT 'services', id, revision + 1, '{what}', gen_random_uuid() FROM services"
        );
        let refused = sqlx::raw_sql(AssertSqlSafe(add)).execute(&intruder.pool).await;
        let refused = refused.expect_err(what).to_string();
        assert!(refused.contains("revisions_of_members_only_join"), "{refused}");
    }
}

#[tokio::test]
async fn the_login_only_adds_entries() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    world.service("one").await;
    for sql in [
        "UPDATE revisions SET what = 'made'",
        "DELETE FROM revisions",
        "TRUNCATE revisions",
        "INSERT INTO revisions (table_name, id, revision, what, accepted)
         VALUES ('services', gen_random_uuid(), 1, 'gone', true)",
    ] {
        let refused = sqlx::query(sql).execute(&intruder.pool).await;
        let refused = refused.expect_err(sql).to_string();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
    }
    intruder.run("INSERT INTO revisions SELECT 'services', gen_random_uuid(), 1, 'made'").await;
}

/// What such an entry ends would begin again only at that time.
#[tokio::test]
async fn no_entry_has_a_time_in_the_future() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    world.service("one").await;
    let add = |at: &str| {
        format!(
            "INSERT INTO revisions SELECT 'services', id, revision + 1, 'frozen', {at} FROM services"
        )
    };
    let refused = sqlx::query(AssertSqlSafe(add("now() + interval '1 hour'")));
    let refused = refused.execute(&intruder.pool).await.expect_err("a time in the future");
    assert!(refused.to_string().contains("is in the future"), "{refused}");
    // Nor is it older than the entry before it.
    intruder.run(&add("'2001-01-01'")).await;
    let times = "SELECT count(DISTINCT at) FROM revisions WHERE table_name = 'services'";
    let times: i64 = sqlx::query_scalar(times).fetch_one(&world.pool).await.expect("the times");
    assert_eq!(times, 1);
}

/// An attacker who adds many entries does not slow down the reads of a row.
#[tokio::test]
async fn a_row_is_read_with_the_entries_that_decide() {
    const ADDED: i64 = 20_000;
    let world = World::new().await;
    let path = format!("/admin/services/{}", world.service("one").await);
    let add = format!(
        "INSERT INTO revisions SELECT 'services', id, revision + added, 'frozen'
           FROM services, generate_series(1, {ADDED}) AS added"
    );
    Intruder::of(&world).run(&add).await;
    let entries = entries_of("services", Some(What::Frozen));
    let plan = format!(
        "SET enable_seqscan = off; EXPLAIN (ANALYZE, TIMING off, COSTS off, SUMMARY off)
         SELECT entry_revisions FROM services {entries}"
    );
    let plan = sqlx::raw_sql(AssertSqlSafe(plan)).fetch_all(&world.pool).await.expect("a plan");
    let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
    let read = plan.iter().filter_map(|line| {
        let (_, rows) = line.split_once("(actual rows=")?;
        rows.split_once(' ')?.0.parse::<f64>().ok()
    });
    assert!(read.clone().count() > 5 && read.clone().all(|rows| rows < 5.0), "{plan:#?}");
    assert!(!plan.iter().any(|line| line.contains("Rows Removed")), "{plan:#?}");
    assert_eq!(world.admin().get(&path).await.ok().text("status"), "frozen");
    world.admin().patch(&path, json!({ "status": "active" })).await.ok();
    assert_eq!(world.admin().get(&path).await.ok().text("status"), "active");
}

/// Otherwise no later entry would have a place.
#[tokio::test]
async fn no_entry_has_the_last_revision() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let service = world.service("one").await;
    let add = "INSERT INTO public.revisions
               SELECT 'services', id, 9223372036854775807, 'changed' FROM services";
    let shadowed = format!(
        "CREATE TEMP TABLE revisions ON COMMIT DROP AS
                SELECT 'services' AS table_name, id, 9223372036854775806 AS revision FROM services;
         {add}"
    );
    for add in [add.to_owned(), shadowed] {
        let refused = sqlx::raw_sql(AssertSqlSafe(add)).execute(&intruder.pool).await;
        let refused = refused.expect_err("a bound").to_string();
        assert!(refused.contains("is more than 2^24 higher"), "{refused}");
    }
    let path = format!("/admin/services/{service}");
    world.admin().put(&path, json!({ "name": "two" })).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_gives_back_makes_the_row_unusable() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    Intruder::of(&world)
        .run(
            "INSERT INTO revisions SELECT 'api_keys', id, revision + 1, 'changed' FROM api_keys
              WHERE type = 'live'",
        )
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 401).await;
}

/// What the token destroys does not come back.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_record_destroys_no_key() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    let envelope = jwe(&application.protect(json!(1)).await);
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "keys").await;
    for tampering in [
        "UPDATE keys SET status = 'destroyed', destroy_at = now()",
        "UPDATE keys SET status = 'pending_destruction', destroy_at = now() - interval '1 day'",
        "UPDATE keys SET status = 'pending_destruction', destroy_at = now(), destroying_at = now()",
    ] {
        intruder.run(tampering).await;
        let system = System::new(
            "test",
            world.clock.clone(),
            Entropy::system(),
            Catalog::new(),
            pool(world.as_application()),
        );
        let vault = Vault::new(
            token().await,
            pool(world.as_application()),
            world.clock.clone(),
            Entropy::system(),
        );
        assert_eq!(destroy_due(&system, &vault).await.expect("no due key"), 0, "{tampering}");
        vault.compare().await.expect("a comparison");
        intruder.put_back("keys").await;
        within(PATIENCE, async || application.unprotect(&envelope).await.status == 200).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_locked_whose_row_has_another_name() {
    let world = World::new().await;
    let body = json!({ "name": "laptop", "type": "admin", "person": "ada" });
    let secret = world.admin().post("/admin/api-keys", body).await.created().text("secret");
    let intruder = Intruder::of(&world);
    intruder.run("UPDATE people SET subject = 'bob' WHERE subject = 'ada'").await;
    intruder
        .run(
            "INSERT INTO people
             SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'subject', 'ada'))).*
               FROM people p;
             INSERT INTO revisions SELECT 'people', id, 1, 'made' FROM people WHERE subject = 'ada'",
        )
        .await;
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let system = System::new("cli", clock, entropy, Catalog::new(), world.pool.clone());
    let people = people_named(&system, "ada").await.expect("people");
    assert_eq!(people.len(), 2);
    for person in people {
        take_away(&system, TakingAway::Person(person)).await.expect("a lock");
    }
    intruder.run("UPDATE people SET subject = 'eve' WHERE subject = 'ada'").await;
    intruder.run("UPDATE people SET subject = 'ada' WHERE subject = 'bob'").await;
    let another = world.another().await;
    another.client(&secret).get("/admin/keys").await.refused(401, "AUTHENTICATION_FAILED");
}
