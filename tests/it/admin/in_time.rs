//! What an administrator takes away is refused on three instances within a second, while all of them are under load.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::Instant;

use testkit::{Answer, PATIENCE, World, within};

/// The time after which no instance serves what was taken away.
const LIMIT: Duration = Duration::from_secs(1);

/// The number of clients of each instance, which send requests without a pause.
const CLIENTS: usize = 4;

/// The number of requests after the limit, of each client.
const AFTER: usize = 10;

/// Sends requests to all instances while something is taken away. Those that begin a second later are all refused with
/// the status.
async fn assert_refused_in_time(
    instances: &[&World],
    send: impl AsyncFn(&World) -> Answer,
    take: impl Future<Output = ()>,
    refused: u16,
) {
    const OVER_LIMIT: u16 = 429;
    let (served, taken_at) = (Cell::new(0), OnceCell::new());
    let client = async |world| {
        let mut after = 0;
        while after < AFTER {
            let began = Instant::now();
            let status = send(world).await.status.as_u16();
            let is_late = taken_at.get().is_some_and(|taken: &Instant| began >= *taken + LIMIT);
            match status {
                // Such an answer waits for nothing, so the other clients would not run.
                OVER_LIMIT => yield_now().await,
                _ if is_late => {
                    assert_eq!(status, refused);
                    after += 1;
                }
                200 => served.set(served.get() + 1),
                _ => assert_eq!(status, refused),
            }
        }
    };
    let clients = instances.iter().flat_map(|world| (0..CLIENTS).map(|_| client(*world)));
    let enough = instances.len() * CLIENTS * 3;
    let taking = async {
        within(PATIENCE, async || served.get() > enough).await;
        take.await;
        taken_at.set(Instant::now()).expect("the first time");
    };
    join(taking, join_all(clients)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn freezes_locks_and_revocations_hold_on_three_instances_under_load() {
    let world = World::new().await;
    let (second, third) = (world.another().await, world.another().await);
    let instances = [&world, &second, &third];
    let (destination, application) = world.bound_application().await;
    let admin = world.admin();
    let key = application.key.clone().expect("an API key");
    let protect = async |world: &World| world.client(&key).protect(json!(1)).await;

    let freeze = async {
        let reason = json!({ "reason": "a stolen laptop" });
        admin.post("/admin/emergency/freeze", reason).await.ok();
    };
    assert_refused_in_time(&instances, protect, freeze, 403).await;
    admin.post_nothing("/admin/emergency/unfreeze").await.ok();
    let is_served = async || {
        let mut all = true;
        for world in instances {
            all &= protect(world).await.status == 200;
        }
        all
    };
    within(PATIENCE, is_served).await;

    let service = format!("/admin/services/{}", application.service.as_ref().expect("a service"));
    let freeze = async {
        admin.patch(&service, json!({ "status": "frozen" })).await.ok();
    };
    assert_refused_in_time(&instances, protect, freeze, 403).await;
    admin.patch(&service, json!({ "status": "active" })).await.ok();
    within(PATIENCE, is_served).await;

    let disable = world.change_key(&destination.key, json!({ "status": "disabled" }));
    assert_refused_in_time(&instances, protect, disable, 500).await;
    world.change_key(&destination.key, json!({ "status": "active" })).await;
    within(PATIENCE, is_served).await;

    let revoke = async {
        admin.delete(&application.key_path()).await.gone();
    };
    assert_refused_in_time(&instances, protect, revoke, 401).await;

    let ada = json!({ "name": "n", "type": "admin", "roles": ["custodian"], "person": "ada" });
    let ada = admin.post("/admin/api-keys", ada).await.created().text("secret");
    let read = async |world: &World| world.client(&ada).get("/admin/services").await;
    let people = admin.get("/admin/people").await.ok().json();
    let person = people["items"][0]["id"].as_str().expect("a person").to_owned();
    let lock = async {
        let reason = json!({ "reason": "a stolen laptop" });
        admin.post(&format!("/admin/people/{person}/lock"), reason).await.ok();
    };
    assert_refused_in_time(&instances, read, lock, 401).await;
}
