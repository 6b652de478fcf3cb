//! A disabled identity blocks a credential. Without its row, another identity must not take its place.

use formats::clock::Clock;
use serde_json::json;

use super::Intruder;
use testkit::{Client, PATIENCE, SigningKey, TokenIssuer, World, within};

const CALLER: &str = "/api/v1/caller";

struct Fixture {
    world: World,
    issuer: TokenIssuer,
    key: SigningKey,
    token: String,
    disabled: String,
}

impl Fixture {
    /// A token that two identities match, of which one is disabled.
    async fn new() -> Self {
        let key = SigningKey::ec("one");
        let issuer = TokenIssuer::publishing(&[&key]).await;
        let world = World::with_auth(Clock::system(), issuer.auth()).await;
        let (billing, other) = (world.service("billing").await, world.service("other").await);
        let token = key.token(&issuer.claims("job", world.clock.now()));
        let identity = async |name: &str, service: &str, matching: serde_json::Value| {
            let body = json!({ "name": name, "serviceId": service, "match": matching });
            world.admin().post("/admin/identities", body).await.created().text("id")
        };
        let narrow = json!({ "issuer": issuer.name(), "subject": "job" });
        let disabled = identity("blocked", &billing, narrow).await;
        let path = format!("/admin/identities/{disabled}");
        world.admin().put(&path, json!({ "status": "disabled" })).await.ok();
        let wide = json!({ "issuer": issuer.name(), "claims": { "sub": "job" } });
        identity("wide", &other, wide).await;
        Self { token, disabled: path, issuer, key, world }
    }

    fn caller(&self) -> Client<'_> {
        self.world.client(&self.token)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_row_of_a_disabled_identity_no_workload_authenticates() {
    for tampering in [
        "UPDATE identities SET match = '{\"issuer\": \"other\", \"subject\": \"x\"}' WHERE name = 'blocked'",
        "UPDATE identities SET seal = NULL WHERE name = 'blocked'",
        "DELETE FROM identities WHERE name = 'blocked'",
        "UPDATE identities SET deleted_at = now() WHERE name = 'blocked'",
        "INSERT INTO revisions SELECT 'identities', id, revision + 1, 'changed' FROM identities
          WHERE name = 'blocked'",
        "INSERT INTO revisions SELECT 'identities', id, revision + 1, 'gone' FROM identities
          WHERE name = 'blocked'",
    ] {
        let fixture = Fixture::new().await;
        fixture.caller().get(CALLER).await.refused(401, "AUTHENTICATION_FAILED");
        Intruder::of(&fixture.world).run(tampering).await;
        let refused = fixture.caller().get(CALLER).await;
        refused.refused(401, "AUTHENTICATION_FAILED");
        // API keys go on.
        fixture.world.admin().get("/admin/services").await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_away_for_a_moment_lets_no_other_identity_match() {
    let fixture = Fixture::new().await;
    let world = &fixture.world;
    let intruder = Intruder::of(world);
    // A credential without an identity also makes the instance read whether all are there.
    let unknown = fixture.issuer.claims("unknown", world.clock.now());
    let unknown = fixture.key.token(&unknown);
    world.client(&unknown).get(CALLER).await.refused(401, "AUTHENTICATION_FAILED");
    let mut away = intruder.pool.begin().await.expect("a transaction");
    sqlx::raw_sql(
        "LOCK identities IN ACCESS EXCLUSIVE MODE; DELETE FROM identities WHERE name = 'blocked'",
    )
    .execute(&mut *away)
    .await
    .expect("the row is away");
    intruder.run("NOTIFY catalog, 'services'").await;
    let caller = fixture.caller();
    let (response, ()) = tokio::join!(caller.get(CALLER), async {
        // The requests either are answered meanwhile or wait for the lock.
        tokio::select! {
            _ = caller.get(CALLER) => {}
            _ = within(PATIENCE, async || is_waited_for(world).await) => {}
        }
        away.commit().await.expect("a commit");
    });
    response.refused(401, "AUTHENTICATION_FAILED");
}

/// Whether a session waits for a lock of the table of identities.
async fn is_waited_for(world: &World) -> bool {
    let waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'identities'::regclass AND NOT granted)";
    sqlx::query_scalar(waiting).fetch_one(&world.pool).await.expect("the locks")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_identity_whose_service_is_lost_goes_on_matching() {
    let fixture = Fixture::new().await;
    let intruder = Intruder::of(&fixture.world);
    intruder.run("UPDATE services SET seal = NULL WHERE name = 'billing'").await;
    // A new instance has read nothing before.
    let second = fixture.world.another_with_auth(fixture.issuer.auth()).await;
    let refused = second.client(&fixture.token).get(CALLER).await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

/// The tests above could pass because the other identity matches nothing.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_disabled_identity_the_other_one_matches() {
    let fixture = Fixture::new().await;
    fixture.world.admin().delete(&fixture.disabled).await.gone();
    within(PATIENCE, async || fixture.caller().get(CALLER).await.status == 200).await;
}
