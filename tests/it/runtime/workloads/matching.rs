//! The identity that a token matches.

use std::time::Duration;

use serde_json::{Value, json};

use testkit::{PATIENCE, PROTECT, Proxy, SigningKey, within};

use super::{CALLER, Site, identity};

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
    admin.patch(&path, json!({ "status": "disabled" })).await.ok();
    assert_eq!(site.status(&token).await, 401);
    admin.delete(&path).await.gone();
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn new_tokens_share_a_read_of_the_identities_for_any_subject() {
    let site = Site::new().await;
    let matching =
        |group: &str| json!({ "issuer": site.issuer.name(), "claims": { "group": group } });
    identity(&site.world, &site.service, matching("a")).await;
    let (options, proxy) = Proxy::for_server(site.world.database()).await;
    let world = site.world.another_by_with_auth(options, site.issuer.auth());
    let world = world.await;
    let status = async |subject: &str, group: &str| {
        let claims = site.claims(json!({ "sub": subject, "group": group }));
        let client = world.client(&site.key.token(&claims));
        client.get(CALLER).await.status.as_u16()
    };
    let reads = || proxy.executed("i.match->>'subject' IS NULL");
    // Until it hears of changes, it caches nothing.
    let is_cached = async || {
        let before = reads();
        assert_eq!(status(&format!("first {before}"), "a").await, 200);
        assert_eq!(status(&format!("second {before}"), "a").await, 200);
        reads() == before
    };
    within(PATIENCE, is_cached).await;
    identity(&site.world, &site.service, matching("b")).await;
    let is_known = async || status("new", "b").await == 200;
    within(PATIENCE, is_known).await;
}

/// The token of a workload can match an identity of another service while an operation waits.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_does_not_end_as_that_of_another_identity() {
    let site = Site::new().await;
    let (world, caller) = (&site.world, site.caller());
    let destination = world.some_destination().await;
    let mut keys = world.pool.begin().await.expect("a transaction");
    sqlx::raw_sql("LOCK TABLE keys IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *keys)
        .await
        .expect("a lock");
    let body = json!({ "payload": 1, "policyNumber": destination.policy });
    let moving = async {
        let waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock')";
        within(PATIENCE, async || {
            sqlx::query_scalar(waiting).fetch_one(&world.pool).await.expect("the activity")
        })
        .await;
        world.admin().delete(&format!("/admin/identities/{}", site.identity)).await.gone();
        let other = world.service("shipping").await;
        let matching = json!({ "issuer": site.issuer.name(), "subject": "job" });
        identity(world, &other, matching).await;
        within(PATIENCE, async || {
            let known = caller.get(CALLER).await;
            known.status == 200 && known.text("serviceId") == other
        })
        .await;
        world.clock.advance(Duration::from_secs(1));
        keys.rollback().await.expect("an end");
    };
    let (answer, ()) = tokio::join!(caller.post(PROTECT, body), moving);
    answer.refused(401, "AUTHENTICATION_FAILED");
}
