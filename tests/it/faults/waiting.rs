//! Requests that wait before their operation: what they rely on is checked again, and they are recorded
//! whatever their client does.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::PgConnection;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::fixture::Fixture;
use testkit::{Client, DATA_KEYS, Destination, PATIENCE, PROTECT, Site, UNPROTECT, jwe, within};

/// How long an operation relies on what it has checked.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// Enough connections for the jobs that wait too.
const CONNECTIONS: (&str, &str) = ("SEALWARD_DATABASE_CONNECTIONS", "60");

/// What is taken away from a request while it waits.
#[derive(Clone, Copy, Debug)]
enum Change {
    RevokeApiKey,
    NarrowApiKey,
    FreezeCaller,
    FreezeDestination,
    NarrowPolicy,
    SwitchPolicyOff,
    /// What was sealed without a context would not open any more.
    RequireContext,
}

impl Change {
    const ALL: [Self; 7] = [
        Self::RevokeApiKey,
        Self::NarrowApiKey,
        Self::FreezeCaller,
        Self::FreezeDestination,
        Self::NarrowPolicy,
        Self::SwitchPolicyOff,
        Self::RequireContext,
    ];

    async fn make(self, admin: &Client<'_>, alice: &Client<'_>, destination: &Destination) {
        let service = |id: &str| format!("/admin/services/{id}");
        let policy = format!("/admin/policies/{}", destination.policy_id);
        let (path, change) = match self {
            Self::RevokeApiKey => return admin.delete(&alice.key_path()).await.gone(),
            Self::NarrowApiKey => (alice.key_path(), json!({ "allowedOperations": ["hash"] })),
            Self::FreezeCaller => {
                (service(alice.service.as_ref().unwrap()), json!({ "status": "frozen" }))
            }
            Self::FreezeDestination => {
                (service(&destination.service), json!({ "status": "frozen" }))
            }
            Self::NarrowPolicy => (policy, json!({ "allowedOperations": ["unprotect"] })),
            Self::SwitchPolicyOff => (policy, json!({ "status": "inactive" })),
            Self::RequireContext => (policy, json!({ "contextRequired": true })),
        };
        admin.patch(&path, change).await.ok();
    }

    fn refusal(self) -> (u16, &'static str) {
        match self {
            Self::RevokeApiKey => (401, "AUTHENTICATION_FAILED"),
            Self::NarrowApiKey | Self::NarrowPolicy => (403, "OPERATION_NOT_ALLOWED"),
            Self::FreezeCaller | Self::FreezeDestination => (403, "SERVICE_FROZEN"),
            Self::SwitchPolicyOff => (403, "POLICY_NOT_ACTIVE"),
            // The request can succeed if it is sent again.
            Self::RequireContext => (503, "SERVICE_UNAVAILABLE"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_away_during_a_wait_makes_no_envelope() {
    let fixture = Fixture::at(Site::new().await, &[CONNECTIONS]).await;
    for change in Change::ALL {
        for (path, body) in [(PROTECT, json!({ "payload": 1 })), (DATA_KEYS, json!({}))] {
            let admin = fixture.process().admin();
            // The caches have no key of the new destination.
            let (destination, alice) = newcomer(&fixture, &format!("{change:?} {path}")).await;
            let keys = locked_keys(&fixture).await;
            let meanwhile = async {
                wait_for_a_look_up(&fixture).await;
                let waiting = Instant::now();
                change.make(&admin, &alice, &destination).await;
                within(PATIENCE, async || is_refused(&alice, path, &body).await).await;
                within(PATIENCE, async || waiting.elapsed() > FRESH_FOR).await;
                unlock(keys).await;
            };
            let (answer, ()) = tokio::join!(alice.post(path, body.clone()), meanwhile);
            let (status, code) = change.refusal();
            assert_eq!(answer.status, status, "{change:?} {path}: {}", answer.body);
            answer.refused(status, code);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_waits_is_recorded_after_the_client_disconnects() {
    let fixture = Fixture::at(Site::new().await, &[CONNECTIONS]).await;
    for (path, done) in REQUESTS {
        let (alice, body) = cold(&fixture, path).await;
        let connections = async || fixture.metric("sealward_http_connections");
        let before = connections().await;
        let keys = locked_keys(&fixture).await;
        let connection = send(&fixture, &alice, path, &body).await;
        wait_for_a_look_up(&fixture).await;
        drop(connection);
        within(PATIENCE, async || connections().await <= before).await;
        unlock(keys).await;
        let message = format!(
            "the client closed the connection before the response; the operation was {done}"
        );
        let record = (499, "CLIENT_CLOSED_REQUEST".to_owned(), "failed".to_owned(), message);
        within(PATIENCE, async || recorded(&fixture, path).await == [record.clone()]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_waits_is_recorded_after_the_time_limit() {
    let limit = ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "3s");
    let fixture = Fixture::at(Site::new().await, &[CONNECTIONS, limit]).await;
    for (path, done) in REQUESTS {
        let (alice, body) = cold(&fixture, path).await;
        let keys = locked_keys(&fixture).await;
        alice.post(path, body).await.refused(503, "SERVICE_UNAVAILABLE");
        unlock(keys).await;
        let message = format!("the request exceeded its time limit; the operation was {done}");
        let record = (503, "SERVICE_UNAVAILABLE".to_owned(), "failed".to_owned(), message);
        within(PATIENCE, async || recorded(&fixture, path).await == [record.clone()]).await;
    }
}

/// Requests, and whether they are done without their client: a token begins no operation for nobody.
const REQUESTS: [(&str, &str); 3] =
    [(PROTECT, "done"), (DATA_KEYS, "done"), (UNPROTECT, "not done")];

/// A new destination, and an application whose API key is bound to its policy.
async fn newcomer<'f>(fixture: &'f Fixture, name: &str) -> (Destination, Client<'f>) {
    let process = fixture.process();
    let destination = process.destination(name, "P-256", "ECDH-ES+A256KW").await;
    let application = process.application(&format!("for {name}")).bound_to(&destination.policy);
    (destination, application.await)
}

/// An application whose requests have the path as their ID, and the body of its first request, for which the caches
/// have no key.
async fn cold<'f>(fixture: &'f Fixture, path: &'static str) -> (Client<'f>, Value) {
    let (destination, alice) = newcomer(fixture, path).await;
    let body = match path {
        PROTECT => json!({ "payload": 1 }),
        UNPROTECT => {
            let jwe = jwe(&alice.protect(json!(1)).await);
            // A change of a key clears the caches of keys.
            let rename = json!({ "name": "again" });
            let path = format!("/admin/keys/{}", destination.key);
            fixture.process().admin().patch(&path, rename).await.ok();
            json!({ "jwe": jwe })
        }
        _ => json!({}),
    };
    (alice.with("x-request-id", path), body)
}

/// Sends a request without waiting for its answer.
async fn send(fixture: &Fixture, alice: &Client<'_>, path: &str, body: &Value) -> TcpStream {
    let (key, body) = (alice.key.as_ref().expect("a key"), body.to_string());
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: it\r\nauthorization: Bearer {key}\r\nx-request-id: {path}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection =
        TcpStream::connect(fixture.process().address()).await.expect("a connection");
    connection.write_all(request.as_bytes()).await.expect("the service reads");
    connection
}

/// Keeps look-ups of keys waiting.
async fn locked_keys(fixture: &Fixture) -> PgConnection {
    let mut holder = fixture.site().connect().await;
    run(&mut holder, "BEGIN").await;
    run(&mut holder, "LOCK TABLE keys IN ACCESS EXCLUSIVE MODE").await;
    holder
}

async fn unlock(mut holder: PgConnection) {
    run(&mut holder, "ROLLBACK").await;
}

async fn run(holder: &mut PgConnection, sql: &'static str) {
    sqlx::query(sql).execute(holder).await.expect("the database answers");
}

/// Waits until a request waits for the keys of a service. Postgres shows only the first part of a statement.
async fn wait_for_a_look_up(fixture: &Fixture) {
    let mut connection = fixture.site().connect().await;
    let sql = "SELECT EXISTS (SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                  AND query LIKE 'SELECT %FROM keys%')";
    within(PATIENCE, async || {
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("the database answers")
    })
    .await;
}

/// Whether the service refuses a new request of `client` at once, without a look-up of keys.
async fn is_refused(client: &Client<'_>, path: &str, body: &Value) -> bool {
    let request = client.post(path, body.clone());
    let answer = tokio::time::timeout(Duration::from_millis(100), request).await;
    answer.is_ok_and(|answer| matches!(answer.status.as_u16(), 400 | 401 | 403))
}

/// The status, code, outcome and message of the records of a request.
async fn recorded(fixture: &Fixture, request: &str) -> Vec<(i16, String, String, String)> {
    let sql = "SELECT response_status, error_code, outcome, error_message \
               FROM crypto_operations_audit WHERE request_id = $1 AND response_status <> 200";
    let mut connection = fixture.site().connect().await;
    sqlx::query_as(sql).bind(request).fetch_all(&mut connection).await.expect("the audit log")
}
