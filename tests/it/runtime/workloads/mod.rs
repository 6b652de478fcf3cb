//! Requests with tokens of an issuer instead of API keys.

mod forged;
mod issuer_keys;
mod matching;

use std::time::Duration;

use engine::auth::ApiKeySecret;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{Client, OPERATIONS, PATIENCE, SigningKey, TokenIssuer, World, within};

const CALLER: &str = "/api/v1/caller";

/// A world with an identity for the subject `job` of an issuer.
struct Site {
    world: World,
    issuer: TokenIssuer,
    key: SigningKey,
    service: String,
    identity: String,
}

impl Site {
    async fn new() -> Self {
        Self::with_key(SigningKey::ec("one")).await
    }

    async fn with_key(key: SigningKey) -> Self {
        let issuer = TokenIssuer::publishing(&[&key]).await;
        let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
        let world = World::with_auth(clock, issuer.auth()).await;
        let service = world.service("billing").await;
        let matching = json!({ "issuer": issuer.name(), "subject": "job" });
        let created = identity(&world, &service, matching).await;
        Self { issuer, key, service, identity: created, world }
    }

    /// Valid claims with these members instead.
    fn claims(&self, members: Value) -> Value {
        let mut claims = self.issuer.claims("job", self.world.clock.now());
        let Value::Object(members) = members else {
            panic!("no object: {members}");
        };
        for (name, value) in members {
            claims[name] = value;
        }
        claims
    }

    fn token(&self) -> String {
        self.key.token(&self.claims(json!({})))
    }

    fn caller(&self) -> Client<'_> {
        self.world.client(&self.token())
    }

    /// The status of a request with this token.
    async fn status(&self, token: &str) -> u16 {
        let answer = self.world.client(token).get(CALLER).await;
        let status = answer.status.as_u16();
        if status == 401 {
            let refused = answer.refused(401, "AUTHENTICATION_FAILED");
            assert_eq!(refused.header("www-authenticate"), "Bearer");
        }
        status
    }
}

/// Creates an identity and returns its id.
async fn identity(world: &World, service: &str, matching: Value) -> String {
    let body = json!({ "name": "job", "serviceId": service, "match": matching });
    let created = world.admin().post("/admin/identities", body).await;
    created.created().text("id")
}

#[tokio::test]
async fn a_token_authenticates_as_the_service_of_its_identity() {
    let site = Site::new().await;
    let caller = site.caller().get(CALLER).await.ok();
    assert_eq!(caller.text("serviceId"), site.service);
    assert_eq!(caller.json()["credential"], json!({ "type": "identity", "id": site.identity }));
    assert_eq!(caller.header("x-ratelimit-limit"), "200");
    // Requests of API keys of the same service count together.
    let remaining = caller.header("x-ratelimit-remaining").to_owned();
    assert_eq!(remaining, "199");
    // It is no administrator, but health takes any credential.
    let forbidden = site.caller().get("/admin/services").await;
    forbidden.refused(403, "FORBIDDEN");
    site.caller().get("/api/v1/health").await.ok();
}

#[tokio::test]
async fn the_audit_record_names_the_identity_and_the_subject() {
    let site = Site::new().await;
    let hash = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    site.caller().post(OPERATIONS, hash).await.ok();
    for query in [format!("identityId={}", site.identity), "tokenSubject=job".to_owned()] {
        let list = site.world.admin().get(&format!("/admin/audit?{query}")).await.ok();
        let record = list.json()["items"][0].clone();
        assert_eq!(record["identity_id"], json!(site.identity), "{query}");
        assert_eq!(record["token_subject"], "job");
        assert_eq!(record["api_key_id"], Value::Null);
        assert_eq!(record["application_id"], json!(site.service));
    }
    let none = site.world.admin().get("/admin/audit?tokenSubject=other").await.ok();
    assert_eq!(none.json()["items"], json!([]));
    // A key names no identity. Records of one millisecond have no order.
    site.world.clock.advance(Duration::from_secs(1));
    let key = site.world.application("other").await;
    let hash = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    key.post(OPERATIONS, hash).await.ok();
    let list = site.world.admin().get("/admin/audit").await.ok();
    assert_eq!(list.json()["items"][0]["identity_id"], Value::Null);
    assert_eq!(list.json()["items"][0]["token_subject"], Value::Null);
}

#[tokio::test]
async fn a_long_subject_is_kept_to_256_characters() {
    let site = Site::new().await;
    let subject = "ü".repeat(300);
    let matching = json!({ "issuer": site.issuer.name(), "subject": subject });
    identity(&site.world, &site.service, matching).await;
    let token = site.key.token(&site.claims(json!({ "sub": subject })));
    let hash = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    site.world.client(&token).post(OPERATIONS, hash).await.ok();
    let list = site.world.admin().get("/admin/audit").await.ok();
    assert_eq!(list.json()["items"][0]["token_subject"], "ü".repeat(256));
}

#[tokio::test]
async fn a_disabled_identity_is_refused_on_all_instances_within_a_second() {
    let site = Site::new().await;
    let second = site.world.another_with_auth(site.issuer.auth()).await;
    let token = site.token();
    let elsewhere = second.client(&token);
    elsewhere.get(CALLER).await.ok();
    assert_eq!(site.status(&token).await, 200);
    let path = format!("/admin/identities/{}", site.identity);
    let admin = site.world.admin();
    admin.put(&path, json!({ "status": "disabled" })).await.ok();
    assert_eq!(site.status(&token).await, 401);
    let refused = async || elsewhere.get(CALLER).await.status == 401;
    within(PATIENCE, refused).await;
    admin.put(&path, json!({ "status": "active" })).await.ok();
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn an_identity_limits_operations_and_binds_a_policy() {
    let site = Site::new().await;
    let policy = site.world.policy(&site.service).await;
    let path = format!("/admin/identities/{}", site.identity);
    let changes = json!({ "policyNumber": policy, "allowedOperations": ["protect"] });
    site.world.admin().patch(&path, changes).await.ok();
    let caller = site.caller().get(CALLER).await.ok();
    assert_eq!(caller.text("policyNumber"), policy);
    assert_eq!(caller.json()["allowedOperations"], json!(["protect"]));
    let hash = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    let refused = site.caller().post(OPERATIONS, hash).await;
    refused.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test]
async fn a_cached_token_is_refused_once_it_expires() {
    let site = Site::new().await;
    let now = site.world.clock.now().as_millis() / 1_000;
    let token = site.key.token(&site.claims(json!({ "exp": now + 60 })));
    assert_eq!(site.status(&token).await, 200);
    site.world.clock.advance(Duration::from_secs(119));
    assert_eq!(site.status(&token).await, 200);
    site.world.clock.advance(Duration::from_secs(1));
    assert_eq!(site.status(&token).await, 401);
}

#[tokio::test]
async fn a_cached_token_is_verified_again_after_ten_minutes() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let site = Site::new().await;
    let clock = &site.world.clock;
    let now = clock.now().as_millis() / 1_000;
    let token = site.key.token(&site.claims(json!({ "exp": now + 3_600, "iat": now })));
    assert_eq!(site.status(&token).await, 200);
    // Only a verification notices that the token is issued in the future.
    clock.set_back(HOUR);
    assert_eq!(site.status(&token).await, 200);
    clock.advance(Duration::from_secs(10 * 60 - 1));
    assert_eq!(site.status(&token).await, 200);
    clock.advance(Duration::from_secs(1));
    assert_eq!(site.status(&token).await, 401);
    clock.advance(HOUR);
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn without_issuers_no_token_is_accepted() {
    let world = World::new().await;
    let issuer = TokenIssuer::publishing(&[]).await;
    let token = SigningKey::ec("one").token(&issuer.claims("job", world.clock.now()));
    assert!(ApiKeySecret::parse(&token).is_err());
    let refused = world.client(&token).get(CALLER).await;
    refused.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(issuer.fetches(), 0);
}

#[tokio::test]
async fn the_last_use_of_an_identity_is_kept() {
    let site = Site::new().await;
    site.caller().get(CALLER).await.ok();
    let path = format!("/admin/identities/{}", site.identity);
    within(Duration::from_secs(30), async || {
        let identity = site.world.admin().get(&path).await.ok();
        identity.json()["lastUsedAt"] == json!(site.world.clock.now())
    })
    .await;
}
