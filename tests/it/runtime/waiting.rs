//! Requests that wait before their operation: what they rely on is checked again, and they are recorded
//! whatever their client does.

use std::time::{Duration, Instant};

use engine::settings::Span;
use serde_json::{Value, json};
use sqlx::{Postgres, Transaction};
use testkit::{Client, DATA_KEYS, Destination, PATIENCE, PROTECT, UNPROTECT, World, jwe, within};

/// How long an operation relies on what it has checked.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// What is taken away from a request while it waits.
#[derive(Clone, Copy, Debug)]
enum Change {
    RevokeApiKey,
    NarrowApiKey,
    FreezeCaller,
    FreezeDestination,
    NarrowPolicy,
    SwitchPolicyOff,
}

impl Change {
    const ALL: [Self; 6] = [
        Self::RevokeApiKey,
        Self::NarrowApiKey,
        Self::FreezeCaller,
        Self::FreezeDestination,
        Self::NarrowPolicy,
        Self::SwitchPolicyOff,
    ];

    async fn make(self, world: &World, alice: &Client<'_>, destination: &Destination) {
        let admin = world.admin();
        let service = |id: &str| format!("/admin/services/{id}");
        let policy = format!("/admin/policies/{}", destination.policy_id);
        let (path, change) = match self {
            Self::RevokeApiKey => return world.revoke(alice).await,
            Self::NarrowApiKey => (alice.key_path(), json!({ "allowedOperations": ["hash"] })),
            Self::FreezeCaller => {
                (service(alice.service.as_ref().unwrap()), json!({ "status": "frozen" }))
            }
            Self::FreezeDestination => {
                (service(&destination.service), json!({ "status": "frozen" }))
            }
            Self::NarrowPolicy => (policy, json!({ "allowedOperations": ["unprotect"] })),
            Self::SwitchPolicyOff => (policy, json!({ "status": "inactive" })),
        };
        admin.patch(&path, change).await.ok();
    }

    fn refusal(self) -> (u16, &'static str) {
        match self {
            Self::RevokeApiKey => (401, "AUTHENTICATION_FAILED"),
            Self::NarrowApiKey | Self::NarrowPolicy => (403, "OPERATION_NOT_ALLOWED"),
            Self::FreezeCaller | Self::FreezeDestination => (403, "SERVICE_FROZEN"),
            Self::SwitchPolicyOff => (403, "POLICY_NOT_ACTIVE"),
        }
    }
}

#[tokio::test]
async fn what_was_taken_away_during_a_wait_makes_no_envelope() {
    let world = World::new().await;
    for change in Change::ALL {
        for (path, body) in [(PROTECT, json!({ "payload": 1 })), (DATA_KEYS, json!({}))] {
            let (destination, alice) = world.bound_application().await;
            // It has no keys in its caches.
            let second = world.another().await;
            let elsewhere = second.client(alice.key.as_ref().unwrap());
            let keys = locked_keys(&world).await;
            let meanwhile = async {
                wait_for_a_look_up(&world).await;
                let waiting = Instant::now();
                change.make(&world, &alice, &destination).await;
                within(PATIENCE, async || is_refused(&elsewhere, path, &body).await).await;
                within(PATIENCE, async || waiting.elapsed() > FRESH_FOR).await;
                keys.rollback().await.unwrap();
            };
            let (answer, ()) = tokio::join!(elsewhere.post(path, body.clone()), meanwhile);
            let (status, code) = change.refusal();
            assert_eq!(answer.status, status, "{change:?} {path}: {}", answer.body);
            answer.refused(status, code);
        }
    }
}

#[tokio::test]
async fn an_operation_that_waits_is_recorded_after_the_client_disconnects() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    for (path, body, done) in requests(&jwe) {
        let second = world.another().await;
        let client = second.client(alice.key.as_ref().unwrap()).with("x-request-id", path);
        let keys = locked_keys(&world).await;
        tokio::select! {
            answer = client.post(path, body) => panic!("{path}: {}", answer.body),
            () = wait_for_a_look_up(&world) => {}
        }
        keys.rollback().await.unwrap();
        let message = format!(
            "the client closed the connection before the response; the operation was {done}"
        );
        let record = (499, "CLIENT_CLOSED_REQUEST".to_owned(), "failed".to_owned(), message);
        within(PATIENCE, async || recorded(&world, path).await == [record.clone()]).await;
    }
}

#[tokio::test]
async fn an_operation_that_waits_is_recorded_after_the_time_limit() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    for (path, body, done) in requests(&jwe) {
        let second = world.another_within(Span::seconds(1)).await;
        let client = second.client(alice.key.as_ref().unwrap()).with("x-request-id", path);
        let keys = locked_keys(&world).await;
        let answer = client.post(path, body).await;
        answer.refused(503, "SERVICE_UNAVAILABLE");
        keys.rollback().await.unwrap();
        let message = format!("the request exceeded its time limit; the operation was {done}");
        let record = (503, "SERVICE_UNAVAILABLE".to_owned(), "failed".to_owned(), message);
        within(PATIENCE, async || recorded(&world, path).await == [record.clone()]).await;
    }
}

/// Requests, and whether they are done without their client: the token does not begin an operation for nobody.
fn requests(jwe: &Value) -> [(&'static str, Value, &'static str); 3] {
    [
        (PROTECT, json!({ "payload": 1 }), "done"),
        (DATA_KEYS, json!({}), "done"),
        (UNPROTECT, json!({ "jwe": jwe }), "not done"),
    ]
}

/// Keeps look-ups of keys waiting.
async fn locked_keys(world: &World) -> Transaction<'static, Postgres> {
    let mut holder = world.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE keys IN ACCESS EXCLUSIVE MODE").execute(&mut *holder).await.unwrap();
    holder
}

async fn wait_for_a_look_up(world: &World) {
    let waiting = "SELECT EXISTS (SELECT FROM pg_locks
                    WHERE relation = 'keys'::regclass AND NOT granted)";
    within(PATIENCE, async || sqlx::query_scalar(waiting).fetch_one(&world.pool).await.unwrap())
        .await;
}

/// Whether the instance of `client` refuses a new request at once, without a look-up of keys.
async fn is_refused(client: &Client<'_>, path: &str, body: &Value) -> bool {
    let request = client.post(path, body.clone());
    let answer = tokio::time::timeout(Duration::from_millis(100), request).await;
    answer.is_ok_and(|answer| answer.status == 401 || answer.status == 403)
}

/// The status, code, outcome and message of the records of a request.
async fn recorded(world: &World, request: &str) -> Vec<(i16, String, String, String)> {
    let sql = "SELECT response_status, error_code, outcome, error_message \
               FROM crypto_operations_audit WHERE request_id = $1";
    sqlx::query_as(sql).bind(request).fetch_all(&world.pool).await.unwrap()
}
