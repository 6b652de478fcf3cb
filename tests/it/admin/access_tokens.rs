//! Access tokens of people for the management API, and approvals between people.

use std::time::Duration;

use engine::auth::{Person, Profile, Role, Roles, TokenKind};
use engine::ids::PersonId;
use engine::settings::Admin;
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};

use testkit::{OidcProvider, World, rewrite};

const ADDRESS: &str = "http://127.0.0.1:8080";
const SERVICES: &str = "/admin/services";

async fn world(provider: &OidcProvider) -> World {
    World::with_admin(Clock::system(), provider.admin(ADDRESS)).await
}

/// Gives the admin key to Carla, whose subject in ID tokens is "carla".
async fn give_key_to_carla(world: &World) {
    rewrite(&world.pool, "UPDATE api_keys SET person = 'carla'").await;
}

async fn access_token(provider: &OidcProvider, person: &str) -> String {
    provider.tokens(person).await.access_token
}

#[tokio::test]
async fn a_person_has_the_roles_of_their_groups() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let token = access_token(&provider, "carla").await;
    let carla = world.client(&token);
    for _ in 0..2 {
        carla.get("/admin/keys").await.ok();
        let refused = carla.post(SERVICES, json!({ "name": "one" })).await;
        let refused = refused.refused(403, "FORBIDDEN");
        assert_eq!(refused.message(), "Requires the role owner or policy-admin");
    }
    let token = access_token(&provider, "olivia").await;
    let olivia = world.client(&token);
    olivia.post(SERVICES, json!({ "name": "one" })).await.created();
    let events = "/admin/audit/management?resourceType=service";
    let event = olivia.get(events).await.ok().json()["items"][0].clone();
    assert_eq!(event["person"], json!({ "iss": provider.issuer(), "sub": "olivia" }));
    // The access tokens of this provider have no name.
    assert_eq!(event["actor"], "olivia");
    assert_eq!(event["api_key_id"], Value::Null);

    let token = access_token(&provider, "guest").await;
    let refused = world.client(&token).get(SERVICES).await;
    let refused = refused.refused(403, "FORBIDDEN");
    assert_eq!(refused.header("x-ratelimit-limit"), "20");
}

#[tokio::test]
async fn only_current_access_tokens_for_the_api_are_accepted() {
    let provider = OidcProvider::start();
    let clock = Clock::held_at(Clock::system().now());
    let world = World::with_admin(clock.clone(), provider.admin(ADDRESS)).await;
    let tokens = provider.tokens("olivia").await;
    let accepted = world.client(&tokens.access_token);
    accepted.get(SERVICES).await.ok();
    for path in [SERVICES, "/api/v1/caller", "/api/v1/health"] {
        let id_token = world.client(&tokens.id_token).get(path).await;
        id_token.refused(401, "AUTHENTICATION_FAILED");
    }
    let (signed, _) = tokens.access_token.rsplit_once('.').expect("a token");
    let forged = world.client(&format!("{signed}.{}", "A".repeat(342)));
    forged.get(SERVICES).await.refused(401, "AUTHENTICATION_FAILED");
    clock.advance(Duration::from_secs(12 * 60));
    let expired = accepted.get(SERVICES).await;
    expired.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn without_an_audience_no_access_token_is_accepted() {
    let provider = OidcProvider::start();
    let mut admin: Admin = provider.admin(ADDRESS);
    admin.oidc.api_audience = None;
    let world = World::with_admin(Clock::system(), admin).await;
    let token = access_token(&provider, "olivia").await;
    let refused = world.client(&token).get(SERVICES).await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

/// Also of tokens with the type `at+jwt`, which those of this provider have.
#[tokio::test]
async fn an_access_token_needs_the_scope_of_the_settings() {
    let provider = OidcProvider::start();
    let token = access_token(&provider, "olivia").await;
    let answer = async |scope: &str| {
        let mut admin: Admin = provider.admin(ADDRESS);
        admin.oidc.api_scope = Some(scope.to_owned());
        let world = World::with_admin(Clock::system(), admin).await;
        world.client(&token).get(SERVICES).await
    };
    answer("sealward").await.ok();
    answer("another").await.refused(401, "AUTHENTICATION_FAILED");
}

/// Otherwise an owner could give a second name to themselves, and approve with it.
#[tokio::test]
async fn the_person_of_a_key_has_signed_in() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let body = json!({ "name": "n", "type": "admin", "person": "olivia" });
    let refused = world.admin().post("/admin/api-keys", body.clone()).await;
    refused.invalid(&[("person", "unknown")]);
    let profile = Profile {
        issuer: provider.issuer().to_owned(),
        subject: "olivia".to_owned(),
        name: None,
        roles: [Role::Owner].into_iter().collect(),
        issued_at: Some(world.clock.now()),
        source: TokenKind::Id,
    };
    let id = PersonId::new(&world.clock, &Entropy::system());
    Person::record(&world.pool, (id, world.clock.now()), &profile).await.expect("a person");
    world.admin().post("/admin/api-keys", body).await.created();
}

#[tokio::test]
async fn the_last_issued_token_of_a_person_states_the_roles() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let used = access_token(&provider, "carla").await;
    let unused = access_token(&provider, "carla").await;
    world.client(&used).get(SERVICES).await.ok();
    // As a later token does when no group has a role any more.
    let later = "UPDATE people SET roles = '{}', issued_at = issued_at + interval '1 minute'";
    rewrite(&world.pool, later).await;
    for token in [used, unused] {
        let refused = world.client(&token).get(SERVICES).await;
        refused.refused(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_token_without_a_time_restores_no_roles() {
    let world = World::new().await;
    let now = world.clock.now();
    let record = async |roles: &[Role], issued_at| {
        let id = PersonId::new(&world.clock, &Entropy::system());
        let profile = Profile {
            issuer: "https://id.example.com".to_owned(),
            subject: "olivia".to_owned(),
            name: None,
            roles: roles.iter().copied().collect(),
            issued_at,
            source: TokenKind::Id,
        };
        let person = Person::record(&world.pool, (id, world.clock.now()), &profile).await;
        person.expect("a row").expect("a person").roles().clone()
    };
    let (owner, none) = ([Role::Owner], []);
    let both = [Role::Owner, Role::Auditor];
    let roles = |roles: &[Role]| roles.iter().copied().collect::<Roles>();
    // The first token gives the roles, and a later one takes them.
    assert_eq!(record(&both, None).await, roles(&both));
    assert_eq!(record(&owner, None).await, roles(&owner));
    assert_eq!(record(&both, None).await, roles(&owner));
    assert_eq!(record(&none, Some(now)).await, roles(&none));
    assert_eq!(record(&owner, None).await, roles(&none));
    assert_eq!(record(&owner, Some(now)).await, roles(&owner));
    assert_eq!(record(&none, None).await, roles(&owner));
}

#[tokio::test]
async fn a_request_that_is_sent_again_can_have_another_token() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let token = access_token(&provider, "olivia").await;
        let client = world.client(&token).with("idempotency-key", "order 4711");
        answers.push(client.post(SERVICES, json!({ "name": "one" })).await.created());
    }
    assert_eq!(answers[1].header("idempotency-replayed"), "true");
    assert_eq!(answers[0].json(), answers[1].json());
    let token = access_token(&provider, "olivia").await;
    let client = world.client(&token).with("idempotency-key", "order 4711");
    let other = client.post(SERVICES, json!({ "name": "two" })).await;
    other.refused(409, "CONFLICT");
}

#[tokio::test]
async fn a_key_and_a_token_of_one_person_do_not_approve_each_other() {
    let provider = OidcProvider::start();
    let admin = provider.admin(ADDRESS);
    let world = World::with_admin_and_approvals(Clock::system(), admin).await;
    give_key_to_carla(&world).await;
    let [carla, carlos, amir] = ["carla", "carlos", "amir"].map(|person| provider.tokens(person));
    let [carla, carlos, amir] = [carla.await, carlos.await, amir.await];
    let [token, other, auditor] =
        [&carla, &carlos, &amir].map(|tokens| world.client(&tokens.access_token));
    let key = world.admin();
    let service = key.post(SERVICES, json!({ "name": "billing" })).await.created().text("id");
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    for (proposer, same) in [(&token, &key), (&key, &token)] {
        let answer = proposer.post("/admin/keys", body.clone()).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        let change = answer.json();
        assert_eq!(change["proposedBy"]["person"], "carla");
        let place = format!("/admin/changes/{}/approve", answer.text("id"));
        for (approver, message) in [
            (same, "Another person than the proposer must decide about the change"),
            (&auditor, "Requires the role owner or custodian"),
        ] {
            let refused = approver.post(&place, json!({})).await;
            assert_eq!(refused.refused(403, "FORBIDDEN").message(), message);
        }
        let applied = other.post(&place, json!({})).await.ok().json();
        assert_eq!(applied["status"], "applied");
        assert_eq!(applied["approvals"][0]["person"], "carlos");
    }
}

/// A provider can announce public subjects and give other subjects in access tokens all the same.
/// A proposal by a key without a person needs one approval more.
#[tokio::test]
async fn two_people_with_access_tokens_approve_one_change() {
    let provider = OidcProvider::start();
    let admin = provider.admin(ADDRESS);
    let world = World::with_admin_and_approvals(Clock::system(), admin).await;
    let key = world.admin();
    let service = key.post(SERVICES, json!({ "name": "billing" })).await.created().text("id");
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let proposed = key.post("/admin/keys", body).await;
    let place = format!("/admin/changes/{}/approve", proposed.text("id"));
    for (person, status) in [("carla", "pending"), ("olivia", "applied")] {
        let token = access_token(&provider, person).await;
        let approved = world.client(&token).post(&place, json!({})).await.ok();
        assert_eq!(approved.text("status"), status);
    }
}

#[tokio::test]
async fn people_of_different_kinds_of_token_do_not_approve_each_other() {
    let provider = OidcProvider::start();
    let admin = provider.admin(ADDRESS);
    let world = World::with_admin_and_approvals(Clock::system(), admin).await;
    give_key_to_carla(&world).await;
    let id = PersonId::new(&world.clock, &Entropy::system());
    let signed_in = Profile {
        issuer: provider.issuer().to_owned(),
        subject: "carla".to_owned(),
        name: None,
        roles: [Role::Owner].into_iter().collect(),
        issued_at: Some(world.clock.now()),
        source: TokenKind::Id,
    };
    let known = Person::record(&world.pool, (id, world.clock.now()), &signed_in).await;
    known.expect("a person");
    let body = json!({ "name": "billing", "type": "admin" });
    let proposed = world.admin().post("/admin/api-keys", body).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
    let place = format!("/admin/changes/{}/approve", proposed.text("id"));
    let olivia = access_token(&provider, "olivia").await;
    let olivia = world.client(&olivia);
    let refused = olivia.post(&place, json!({})).await;
    let message = refused.refused(403, "FORBIDDEN").message();
    assert!(message.contains("different subjects"), "{message}");
    // An access token shows that both kinds of token have this subject of Carla.
    let carla = access_token(&provider, "carla").await;
    world.client(&carla).get(SERVICES).await.ok();
    let applied = olivia.post(&place, json!({})).await.ok().json();
    assert_eq!(applied["status"], "applied");
}

/// As Microsoft Entra ID does, the provider gives a person another subject in access tokens.
#[tokio::test]
async fn a_token_with_another_subject_is_no_second_person() {
    let mut provider = OidcProvider::start();
    provider.use_pairwise_subjects();
    let admin = provider.admin(ADDRESS);
    let world = World::with_admin_and_approvals(Clock::system(), admin).await;
    give_key_to_carla(&world).await;
    let [carla, carlos] = ["carla", "carlos"].map(|person| provider.tokens(person));
    let [carla, carlos] = [carla.await, carlos.await];
    let [token, other] = [&carla, &carlos].map(|tokens| world.client(&tokens.access_token));
    let key = world.admin();
    let service = key.post(SERVICES, json!({ "name": "billing" })).await.created().text("id");
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let proposed = key.post("/admin/keys", body.clone()).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
    let place = format!("/admin/changes/{}/approve", proposed.text("id"));
    let refused = token.post(&place, json!({})).await;
    let refused = refused.refused(403, "FORBIDDEN");
    let reason = "Only a credential with a person can decide about changes";
    assert_eq!(refused.message(), reason);
    // Such a token proposes as a credential without a person does.
    let proposed = token.post("/admin/keys", body).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
    let change = proposed.json();
    assert_eq!(change["proposedBy"]["person"], Value::Null);
    assert_eq!(change["required"], 2);
    // After an ID token with this subject, the person is confirmed.
    let subject = "carlos of https://sealward.test/admin";
    let profile = Profile {
        issuer: provider.issuer().to_owned(),
        subject: subject.to_owned(),
        name: None,
        roles: [Role::Custodian].into_iter().collect(),
        issued_at: Some(world.clock.now()),
        source: TokenKind::Id,
    };
    let id = PersonId::new(&world.clock, &Entropy::system());
    let confirmed = Person::record(&world.pool, (id, world.clock.now()), &profile).await;
    confirmed.expect("a person");
    let applied = other.post(&place, json!({})).await.ok().json();
    assert_eq!(applied["status"], "applied");
    assert_eq!(applied["approvals"][0]["person"], subject);
}
