//! Requests with tokens of an issuer instead of API keys.

use std::time::Duration;

use aws_lc_rs::hmac;
use sealward::auth::LiveKey;
use sealward::clock::{Clock, Timestamp};
use sealward::settings::Auth;
use serde_json::{Value, json};

use crate::support::{
    Behavior, Client, OPERATIONS, PATIENCE, SigningKey, TokenIssuer, World, encode, unsigned,
    within,
};

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
        Self {
            issuer,
            key,
            service,
            identity: created,
            world,
        }
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
    assert_eq!(
        caller.json()["credential"],
        json!({ "type": "identity", "id": site.identity })
    );
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
    for query in [
        format!("identityId={}", site.identity),
        "tokenSubject=job".to_owned(),
    ] {
        let list = site
            .world
            .admin()
            .get(&format!("/admin/audit?{query}"))
            .await
            .ok();
        let record = list.json()["items"][0].clone();
        assert_eq!(record["identity_id"], json!(site.identity), "{query}");
        assert_eq!(record["token_subject"], "job");
        assert_eq!(record["api_key_id"], Value::Null);
        assert_eq!(record["application_id"], json!(site.service));
    }
    let none = site
        .world
        .admin()
        .get("/admin/audit?tokenSubject=other")
        .await
        .ok();
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
async fn each_signature_algorithm_is_verified() {
    for key in [
        SigningKey::rsa("r"),
        SigningKey::ed("e"),
        SigningKey::ec("c"),
    ] {
        let name = key.algorithm();
        let site = Site::with_key(key).await;
        assert_eq!(site.status(&site.token()).await, 200, "{name}");
        if name == "RS256" {
            let header = json!({ "alg": "PS256", "kid": "r" });
            let token = site.key.signed(&header, &site.claims(json!({})));
            assert_eq!(site.status(&token).await, 200);
            // Its settings do not allow this one.
            let header = json!({ "alg": "RS512", "kid": "r" });
            let token = site.key.signed(&header, &site.claims(json!({})));
            assert_eq!(site.status(&token).await, 401);
        }
        // A token can leave out `kid` and `typ`.
        let token = site
            .key
            .signed(&json!({ "alg": name }), &site.claims(json!({})));
        assert_eq!(site.status(&token).await, 200, "{name}");
    }
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let site = Site::new().await;
    let (good, foreign) = (site.claims(json!({})), SigningKey::ec("one"));
    let unsecured =
        |alg: &str| format!("{}.", unsigned(&json!({ "alg": alg, "kid": "one" }), &good));
    let with_hmac = |secret: &[u8]| {
        let signed = unsigned(&json!({ "alg": "HS256", "kid": "one" }), &good);
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let tag = hmac::sign(&key, signed.as_bytes());
        format!("{signed}.{}", encode(tag.as_ref()))
    };
    let header = |members: Value| {
        let mut header = json!({ "alg": "ES256", "kid": "one" });
        for (name, value) in members.as_object().unwrap() {
            header[name] = value.clone();
        }
        header
    };
    let token = site.token();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let jwk = site.key.jwk().to_string();
    for (attack, forged) in [
        ("alg none", unsecured("none")),
        ("alg NONE", unsecured("NONE")),
        ("no signature", format!("{signed}.")),
        ("HMAC with the public key", with_hmac(jwk.as_bytes())),
        ("HMAC with nothing", with_hmac(b"")),
        ("another key with the same kid", foreign.token(&good)),
        (
            "embedded jwk",
            foreign.signed(&header(json!({ "jwk": foreign.jwk() })), &good),
        ),
        (
            "embedded jwk without kid",
            foreign.signed(&json!({ "alg": "ES256", "jwk": foreign.jwk() }), &good),
        ),
        (
            "jku",
            foreign.signed(&header(json!({ "jku": "https://localhost:1/keys" })), &good),
        ),
        (
            "unknown crit",
            site.key
                .signed(&header(json!({ "crit": ["exp"], "exp": 1 })), &good),
        ),
        (
            "b64",
            site.key
                .signed(&header(json!({ "crit": ["b64"], "b64": false })), &good),
        ),
        (
            "other algorithm of the family",
            site.key.signed(&header(json!({ "alg": "ES384" })), &good),
        ),
        (
            "another purpose",
            site.key
                .signed(&header(json!({ "typ": "logout+jwt" })), &good),
        ),
        ("padded signature", format!("{signed}.{signature}==")),
        ("white space", format!("{signed}.{signature}\t")),
        ("one part more", format!("{token}.e30")),
        ("JWE", "e30.e30.e30.e30.e30".to_owned()),
    ] {
        assert_eq!(site.status(&forged).await, 401, "{attack}");
    }
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn claims_are_checked() {
    let site = Site::new().await;
    let now = site.world.clock.now().as_millis() / 1_000;
    let name = site.issuer.name();
    for (claim, members, expected) in [
        (
            "aud list",
            json!({ "aud": ["other", "https://sealward.example"] }),
            200,
        ),
        ("wrong aud", json!({ "aud": "https://other.example" }), 401),
        (
            "part of aud",
            json!({ "aud": "https://sealward.example/" }),
            401,
        ),
        ("no aud", json!({ "aud": null }), 401),
        ("empty aud", json!({ "aud": [] }), 401),
        ("aud object", json!({ "aud": {} }), 401),
        ("wrong iss", json!({ "iss": "https://other.example" }), 401),
        ("iss with slash", json!({ "iss": format!("{name}/") }), 401),
        ("iss list", json!({ "iss": [name] }), 401),
        ("no sub", json!({ "sub": null }), 401),
        ("empty sub", json!({ "sub": "" }), 401),
        ("other sub", json!({ "sub": "JOB" }), 401),
        ("no exp", json!({ "exp": null }), 401),
        ("exp text", json!({ "exp": "9999999999" }), 401),
        ("expired", json!({ "exp": now - 60 }), 401),
        ("expired within leeway", json!({ "exp": now - 59 }), 200),
        ("exp with fraction", json!({ "exp": now as f64 + 0.5 }), 200),
        ("exp beyond the calendar", json!({ "exp": 1e300 }), 200),
        ("not yet valid", json!({ "nbf": now + 61 }), 401),
        ("valid within leeway", json!({ "nbf": now + 60 }), 200),
        ("issued in the future", json!({ "iat": now + 61 }), 401),
        ("issued within leeway", json!({ "iat": now + 60 }), 200),
        ("nbf text", json!({ "nbf": "0" }), 401),
    ] {
        let token = site.key.token(&site.claims(members));
        assert_eq!(site.status(&token).await, expected, "{claim}");
    }
}

#[tokio::test]
async fn a_token_with_duplicate_claims_is_refused() {
    let site = Site::new().await;
    let claims = site.claims(json!({})).to_string();
    let twice = claims.replacen('{', r#"{"sub":"other","#, 1);
    assert_ne!(claims, twice);
    // A string is signed as it is, because JSON objects cannot have duplicates.
    let header = json!({ "alg": "ES256", "kid": "one" });
    let token = site.key.signed_text(&header, &twice);
    assert_eq!(site.status(&token).await, 401);
    let token = site.key.signed_text(&header, &claims);
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn a_long_token_is_refused() {
    let site = Site::new().await;
    for (length, expected) in [(8_000, 200), (100_000, 401)] {
        let token = site
            .key
            .token(&site.claims(json!({ "more": "x".repeat(length) })));
        assert_eq!(site.status(&token).await, expected, "{length}");
    }
}

#[tokio::test]
async fn a_key_authenticates_only_tokens_of_its_issuer() {
    let keys = [SigningKey::ec("a"), SigningKey::ec("b")];
    let one = TokenIssuer::publishing(&[&keys[0]]).await;
    let other = TokenIssuer::publishing(&[&keys[1]]).await;
    let issuers = vec![one.settings(), other.settings()];
    let world = World::with_auth(Clock::system(), Auth { issuers }).await;
    let service = world.service("billing").await;
    for issuer in [&one, &other] {
        let matching = json!({ "issuer": issuer.name(), "subject": "job" });
        identity(&world, &service, matching).await;
    }
    let now = world.clock.now();
    for (issuer, key, expected) in [
        (&one, &keys[0], 200),
        (&other, &keys[1], 200),
        (&one, &keys[1], 401),
        (&other, &keys[0], 401),
    ] {
        let token = key.token(&issuer.claims("job", now));
        let answer = world.client(&token).get(CALLER).await;
        assert_eq!(answer.status, expected, "{}", issuer.name());
    }
}

/// The claims of a bound service account token of Kubernetes.
#[tokio::test]
async fn a_kubernetes_token_matches_by_json_pointer() {
    let site = Site::with_key(SigningKey::rsa("k8s")).await;
    let matching = json!({ "issuer": site.issuer.name(), "claims": {
        "/kubernetes.io/namespace": "shop",
        "/kubernetes.io/serviceaccount/name": "cart",
    } });
    let id = identity(&site.world, &site.service, matching).await;
    let claims = |namespace: &str| {
        site.claims(json!({
            "sub": format!("system:serviceaccount:{namespace}:cart"),
            "aud": ["https://kubernetes.default.svc", "https://sealward.example"],
            "nbf": 1_700_000_000,
            "jti": "1b1b8e0c",
            "kubernetes.io": {
                "namespace": namespace,
                "pod": { "name": "cart-0", "uid": "7f6b" },
                "serviceaccount": { "name": "cart", "uid": "9ad2" },
            },
        }))
    };
    let header = json!({ "alg": "RS256", "kid": "k8s" });
    let token = site.key.signed(&header, &claims("shop"));
    let caller = site.world.client(&token).get(CALLER).await.ok();
    assert_eq!(caller.json()["credential"]["id"], json!(id));
    let other = site.key.signed(&header, &claims("shop2"));
    assert_eq!(site.status(&other).await, 401);
}

#[tokio::test]
async fn a_spiffe_token_matches_by_subject() {
    let site = Site::new().await;
    let subject = "spiffe://example.org/ns/shop/sa/cart";
    let matching = json!({ "issuer": site.issuer.name(), "subject": subject });
    identity(&site.world, &site.service, matching).await;
    let claims = site.claims(json!({ "sub": subject, "aud": ["https://sealward.example"] }));
    assert_eq!(site.status(&site.key.token(&claims)).await, 200);
    let claims = site.claims(json!({ "sub": format!("{subject}2") }));
    assert_eq!(site.status(&site.key.token(&claims)).await, 401);
}

#[tokio::test]
async fn claims_match_exactly() {
    let site = Site::new().await;
    let issuer = site.issuer.name();
    let matching = json!({ "issuer": issuer, "claims": {
        "groups": "b", "level": 3, "internal": true, "/a~1b/~0c": "d", "plain/name": "e"
    } });
    identity(&site.world, &site.service, matching).await;
    let good = json!({ "sub": "someone", "groups": ["a", "b"], "level": 3, "internal": true,
        "a/b": { "~c": "d" }, "plain/name": "e" });
    let status = async |members: Value| {
        let mut all = good.clone();
        for (name, value) in members.as_object().unwrap() {
            all[name] = value.clone();
        }
        site.status(&site.key.token(&site.claims(all))).await
    };
    assert_eq!(status(json!({})).await, 200);
    for wrong in [
        json!({ "groups": ["a", "B"] }),
        json!({ "groups": "a b" }),
        json!({ "groups": [["b"]] }),
        json!({ "level": "3" }),
        json!({ "internal": "true" }),
        json!({ "a/b": "d" }),
        json!({ "plain/name": null }),
    ] {
        assert_eq!(status(wrong.clone()).await, 401, "{wrong}");
    }
}

#[tokio::test]
async fn a_token_that_several_identities_match_is_refused() {
    let site = Site::new().await;
    let token = site.token();
    assert_eq!(site.status(&token).await, 200);
    let matching = json!({ "issuer": site.issuer.name(), "claims": { "sub": "job" } });
    let second = identity(&site.world, &site.service, matching).await;
    assert_eq!(site.status(&token).await, 401);
    let path = format!("/admin/identities/{second}");
    // A disabled identity still matches.
    let admin = site.world.admin();
    admin
        .patch(&path, json!({ "status": "disabled" }))
        .await
        .ok();
    assert_eq!(site.status(&token).await, 401);
    admin.delete(&path).await.gone();
    assert_eq!(site.status(&token).await, 200);
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
async fn a_new_key_is_found_at_most_every_30_seconds() {
    let site = Site::new().await;
    assert_eq!(site.status(&site.token()).await, 200);
    let [two, three] = ["two", "three"].map(SigningKey::ec);
    site.issuer.publish(&[&site.key, &two]);
    let claims = site.claims(json!({}));
    let fetches = site.issuer.fetches();
    // The keys were fetched a moment ago.
    assert_eq!(site.status(&two.token(&claims)).await, 401);
    site.world.clock.advance(Duration::from_secs(30));
    assert_eq!(site.status(&two.token(&claims)).await, 200);
    assert_eq!(site.issuer.fetches(), fetches + 1);
    for _ in 0..10 {
        assert_eq!(site.status(&three.token(&claims)).await, 401);
    }
    assert_eq!(site.issuer.fetches(), fetches + 1);
}

#[tokio::test]
async fn a_withdrawn_key_is_refused_from_the_refresh_on() {
    let site = Site::new().await;
    let token = site.token();
    assert_eq!(site.status(&token).await, 200);
    let next = SigningKey::ec("next");
    site.issuer.publish(&[&next]);
    assert_eq!(site.status(&token).await, 200);
    site.world.clock.advance(Duration::from_secs(5 * 60));
    within(PATIENCE, async || site.status(&token).await == 401).await;
    // The requests until then count in the rate limit.
    site.world.clock.advance(Duration::from_secs(10));
    let claims = site.claims(json!({}));
    assert_eq!(site.status(&next.token(&claims)).await, 200);
}

#[tokio::test]
async fn keys_are_kept_for_a_day_while_the_issuer_is_away() {
    let site = Site::new().await;
    let claims = site.claims(json!({ "exp": 4_000_000_000_u64 }));
    let token = site.key.token(&claims);
    assert_eq!(site.status(&token).await, 200);
    site.issuer.behave(Behavior::Broken);
    site.world
        .clock
        .advance(Duration::from_secs(24 * 60 * 60 - 1));
    assert_eq!(site.status(&token).await, 200);
    site.world.clock.advance(Duration::from_secs(1));
    assert_eq!(site.status(&token).await, 401);
    site.issuer.behave(Behavior::Correct);
    site.world.clock.advance(Duration::from_secs(30));
    within(PATIENCE, async || site.status(&token).await == 200).await;
}

#[tokio::test]
async fn faulty_publications_of_keys_are_not_accepted() {
    for behavior in [
        Behavior::Redirecting,
        Behavior::Huge,
        Behavior::Broken,
        Behavior::Misnamed,
    ] {
        let key = SigningKey::ec("one");
        let issuer = TokenIssuer::publishing(&[&key]).await;
        issuer.behave(behavior);
        let world = World::with_auth(Clock::system(), issuer.auth()).await;
        let service = world.service("billing").await;
        let matching = json!({ "issuer": issuer.name(), "subject": "job" });
        identity(&world, &service, matching).await;
        let token = key.token(&issuer.claims("job", world.clock.now()));
        let refused = world.client(&token).get(CALLER).await;
        refused.refused(401, "AUTHENTICATION_FAILED");
    }
}

#[tokio::test]
async fn a_slow_publication_of_keys_delays_no_api_key() {
    let site = Site::new().await;
    site.issuer.behave(Behavior::Silent);
    site.world.clock.advance(Duration::from_secs(30));
    let unknown = SigningKey::ec("unknown").token(&site.claims(json!({})));
    let key = site.world.application("other").await;
    let (slow, ()) = tokio::join!(site.status(&unknown), async {
        key.get(CALLER).await.ok();
        // A token of a known key needs no refresh either.
        assert_eq!(site.status(&site.token()).await, 200);
    });
    assert_eq!(slow, 401);
}

#[tokio::test]
async fn keys_with_one_kid_and_unusable_keys_do_no_harm() {
    let site = Site::new().await;
    let [twin, rsa] = [SigningKey::ec("one"), SigningKey::rsa("one")];
    let mut for_encryption = SigningKey::ec("enc").jwk();
    for_encryption["use"] = json!("enc");
    let mut for_another = SigningKey::rsa("alg").jwk();
    for_another["alg"] = json!("RSA-OAEP");
    let mut private = site.key.jwk();
    private["d"] = json!("AAAA");
    private["kid"] = json!("private");
    let symmetric = json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "secret" });
    site.issuer.publish_jwks(vec![
        json!(7),
        json!({ "kty": "RSA", "n": "AQ", "e": "AQAB", "kid": "one" }),
        symmetric,
        private,
        for_encryption,
        for_another,
        twin.jwk(),
        rsa.jwk(),
        site.key.jwk(),
    ]);
    site.world.clock.advance(Duration::from_secs(5 * 60));
    let claims = site.claims(json!({}));
    within(PATIENCE, async || {
        site.status(&rsa.token(&claims)).await == 200
    })
    .await;
    for key in [&twin, &rsa, &site.key] {
        assert_eq!(site.status(&key.token(&claims)).await, 200);
    }
    assert_eq!(
        site.status(&SigningKey::ec("one").token(&claims)).await,
        401
    );
    let signed = unsigned(&json!({ "alg": "HS256", "kid": "secret" }), &claims);
    let tag = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, b"secret"),
        signed.as_bytes(),
    );
    let token = format!("{signed}.{}", encode(tag.as_ref()));
    assert_eq!(site.status(&token).await, 401);
}

#[tokio::test]
async fn without_issuers_no_token_is_accepted() {
    let world = World::new().await;
    let issuer = TokenIssuer::publishing(&[]).await;
    let token = SigningKey::ec("one").token(&issuer.claims("job", world.clock.now()));
    assert!(LiveKey::parse(&token).is_err());
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
