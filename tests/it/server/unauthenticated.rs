//! Unauthenticated requests and the database: a proxy in front of it counts the statements.

use std::time::Duration;

use engine::auth::{ApiKeySecret, ApiKeyType};
use engine::ids::ServiceId;
use engine::settings::Stage;
use formats::clock::{Clock, Entropy, Timestamp};
use secrecy::ExposeSecret as _;

use testkit::{PATIENCE, Proxy, World, within};

/// The statements of the three kinds of look-ups: API keys, sessions and published keys.
const LOOK_UPS: [&str; 3] = [
    "AS api_keys_entries WHERE digest",
    "AS dashboard_sessions_entries WHERE digest",
    "AS services_entries WHERE id = $1",
];

const MANY: u64 = 400;

/// The number of look-ups so far.
fn look_ups(proxy: &Proxy) -> u64 {
    LOOK_UPS.map(|kind| proxy.executed(kind)).iter().sum()
}

fn unknown_key() -> String {
    let key = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Admin);
    key.expose_secret().to_owned()
}

fn unknown_service() -> String {
    ServiceId::new(&Clock::system(), &Entropy::system()).to_string()
}

/// An instance whose queries the proxy counts.
async fn counted() -> (World, World, Proxy) {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let first = World::at(clock, Stage::Development).await;
    let (options, proxy) = Proxy::for_server(first.database()).await;
    let world = first.another_by(options).await;
    // Until it hears of changes, it caches nothing.
    let is_cached = async || {
        let before = look_ups(&proxy);
        for _ in 0..20 {
            world.admin().get("/api/v1/health").await;
        }
        look_ups(&proxy) == before
    };
    within(PATIENCE, is_cached).await;
    (first, world, proxy)
}

#[tokio::test]
async fn probes_and_repeated_unknown_credentials_cost_no_queries() {
    let (_first, world, proxy) = counted().await;
    let (key, service) = (unknown_key(), unknown_service());
    let jwks = format!("/.well-known/jwks/{service}");
    let cookie = format!("sealward={}", "A".repeat(43));
    let before = proxy.executed("");
    for _ in 0..MANY {
        world.anonymous().get("/readyz").await.ok();
    }
    // Background jobs execute a few statements a second.
    let statements = proxy.executed("") - before;
    assert!(statements < MANY, "{statements}");

    let before = look_ups(&proxy);
    for _ in 0..MANY {
        let refused = world.client(&key).get("/admin/services").await;
        refused.refused(401, "AUTHENTICATION_FAILED");
        world.anonymous().get(&jwks).await.refused(404, "NOT_FOUND");
        let page = world.anonymous().with("cookie", &cookie);
        let page = page.get("/dashboard/keys").await;
        assert_eq!(page.status, 303);
    }
    for kind in LOOK_UPS {
        assert!(proxy.executed(kind) > 0, "{kind}");
    }
    // Each is looked up again after a second.
    let repeated = look_ups(&proxy) - before;
    assert!(repeated < MANY / 2, "{repeated}");
}

#[tokio::test]
async fn a_new_service_publishes_its_keys_at_once_on_all_instances() {
    let (first, world, _proxy) = counted().await;
    let service = first.service("billing").await;
    let jwks = format!("/.well-known/jwks/{service}");
    world.anonymous().get(&jwks).await.refused(404, "NOT_FOUND");
    let publish = serde_json::json!({ "publishKeys": true });
    let path = format!("/admin/services/{service}");
    first.admin().put(&path, publish).await.ok();
    let is_published = async || world.anonymous().get(&jwks).await.status == 200;
    within(Duration::from_secs(1), is_published).await;
}

#[tokio::test]
async fn an_address_with_many_unknown_credentials_queues_but_its_known_keys_pass() {
    let (first, world, proxy) = counted().await;
    let billing = first.application("billing").await;
    let billing = world.client(billing.key.as_deref().unwrap());
    billing.get("/api/v1/health").await.ok();
    let before = look_ups(&proxy);
    for number in 0..1_000 {
        // Credentials, ids and sessions share the limit.
        match number % 3 {
            0 => world.client(&unknown_key()).get("/admin/services").await,
            1 => {
                let jwks = format!("/.well-known/jwks/{}", unknown_service());
                world.anonymous().get(&jwks).await
            }
            _ => {
                let cookie = format!("sealward={number:A>42}A");
                let page = world.anonymous().with("cookie", &cookie);
                page.get("/dashboard/keys").await
            }
        };
    }
    // The clock stands still, so the queue does not advance: 50 wait, the others are refused.
    let asked = async |()| world.client(&unknown_key()).get("/admin/services").await;
    let answers = futures_util::future::join_all((0..100).map(|_| asked(()))).await;
    let crowded = answers.iter().filter(|answer| answer.status == 429).count();
    assert_eq!(crowded, 50);
    assert_eq!(look_ups(&proxy) - before, 1_050);
    for _ in 0..MANY {
        let refused = world.client(&unknown_key()).get("/admin/services").await;
        refused.refused(429, "RATE_LIMIT_EXCEEDED");
        let jwks = format!("/.well-known/jwks/{}", unknown_service());
        let refused = world.anonymous().get(&jwks).await;
        refused.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    assert_eq!(look_ups(&proxy) - before, 1_050);

    billing.get("/api/v1/health").await.ok();
    // A notice clears the cache, but not the knowledge that the key is valid.
    first.service("other").await;
    first.policy(&first.service("third").await).await;
    billing.get("/api/v1/health").await.ok();
    let new = first.application("new").await;
    let new = world.client(new.key.as_deref().unwrap());
    new.get("/api/v1/health").await.refused(429, "RATE_LIMIT_EXCEEDED");
}
