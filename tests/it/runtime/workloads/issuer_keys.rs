//! The published keys of an issuer: refresh, withdrawal, outage and faults.

use std::pin::pin;
use std::time::Duration;

use aws_lc_rs::hmac;
use formats::clock::Clock;
use futures_util::future::join_all;
use serde_json::json;

use testkit::{Behavior, PATIENCE, SigningKey, TokenIssuer, World, encode, unsigned, within};

use super::{CALLER, Site, identity};

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
    site.world.clock.advance(Duration::from_secs(24 * 60 * 60 - 1));
    assert_eq!(site.status(&token).await, 200);
    site.world.clock.advance(Duration::from_secs(1));
    assert_eq!(site.status(&token).await, 401);
    site.issuer.behave(Behavior::Correct);
    site.world.clock.advance(Duration::from_secs(30));
    within(PATIENCE, async || site.status(&token).await == 200).await;
}

#[tokio::test]
async fn faulty_publications_of_keys_are_not_accepted() {
    for behavior in [Behavior::Redirecting, Behavior::Huge, Behavior::Broken, Behavior::Misnamed] {
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
    assert_eq!(site.status(&site.token()).await, 200);
    site.issuer.behave(Behavior::Silent);
    site.world.clock.advance(Duration::from_secs(30));
    let unknown = ["two", "three", "four"].map(SigningKey::ec);
    let unknown = unknown.map(|key| key.token(&site.claims(json!({}))));
    let mut slow = pin!(join_all(unknown.iter().map(|token| site.status(token))));
    // No instance has seen the key.
    let key = site.world.application("other").await;
    let meanwhile = async {
        key.get(CALLER).await.ok();
        // A token of a known key needs no refresh either.
        assert_eq!(site.status(&site.token()).await, 200);
    };
    tokio::select! {
        biased;
        _ = &mut slow => panic!("the key waits for the issuer"),
        () = meanwhile => {}
    }
    assert_eq!(slow.await, [401; 3]);
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
    within(PATIENCE, async || site.status(&rsa.token(&claims)).await == 200).await;
    for key in [&twin, &rsa, &site.key] {
        assert_eq!(site.status(&key.token(&claims)).await, 200);
    }
    assert_eq!(site.status(&SigningKey::ec("one").token(&claims)).await, 401);
    let signed = unsigned(&json!({ "alg": "HS256", "kid": "secret" }), &claims);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"secret"), signed.as_bytes());
    let token = format!("{signed}.{}", encode(tag.as_ref()));
    assert_eq!(site.status(&token).await, 401);
}
