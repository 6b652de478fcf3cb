//! The process is killed between a change and its answer.

use engine::web_client::client;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// Status, `Idempotency-Replayed` and body.
type Answer = (u16, bool, Value);

/// The commit of a new service waits for the advisory lock 1.
const WAIT_AT_COMMIT: &str = "
    CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1);
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON services
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();";

/// Creates a service; the same request each time.
fn create(url: &str, admin_key: &str) -> Result<Answer, ureq::Error> {
    let request = client(None, PATIENCE)
        .post(url)
        .header("Authorization", format!("Bearer {admin_key}"))
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "order 4711");
    let mut answer = request.send(json!({ "name": "billing" }).to_string())?;
    let is_replayed = answer.headers().contains_key("idempotency-replayed");
    let body = answer.body_mut().read_to_string()?;
    let body = serde_json::from_str(&body).expect("JSON");
    Ok((answer.status().as_u16(), is_replayed, body))
}

async fn waits(database: &mut PgConnection) -> bool {
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
    let waits = sqlx::query_scalar(waits).fetch_one(database).await;
    waits.expect("the locks")
}

async fn services(database: &mut PgConnection) -> Vec<uuid::Uuid> {
    let services = sqlx::query_scalar("SELECT id FROM services WHERE name = 'billing'");
    services.fetch_all(database).await.expect("the services")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_instance_was_killed_before_its_answer_is_made_once() {
    let site = Site::new().await;
    let admin_key = site.admin_key().to_owned();
    let killed = Process::start(&site).await;
    let mut database = site.connect().await;
    let made = sqlx::raw_sql(WAIT_AT_COMMIT).execute(&mut database).await;
    made.expect("a trigger");
    let mut holder = site.connect().await;
    let lock = sqlx::query("SELECT pg_advisory_lock(1)");
    lock.execute(&mut holder).await.expect("a lock");

    let (url, key) = (killed.url("/admin/services"), admin_key.clone());
    let client = std::thread::spawn(move || create(&url, &key));
    within(PATIENCE, async || waits(&mut database).await).await;
    killed.kill();
    let unanswered = client.join().expect("the client ends");
    assert!(unanswered.is_err(), "{unanswered:?}");
    assert!(services(&mut database).await.is_empty());

    // Postgres completes the commit without the instance.
    holder.close().await.expect("release the lock");
    within(PATIENCE, async || !services(&mut database).await.is_empty()).await;
    let [made] = services(&mut database).await[..] else {
        panic!("one service");
    };
    let made = engine::ids::ServiceId::from_uuid(made).to_string();

    // The restarted instance and another one give the first answer.
    let restarted = Process::start(&site).await;
    let other = Process::start(&site).await;
    for instance in [&restarted, &other] {
        let url = instance.url("/admin/services");
        let (status, is_replayed, body) = create(&url, &admin_key).expect("an answer");
        assert_eq!((status, is_replayed), (201, true), "{body}");
        assert_eq!((&body["id"], &body["name"]), (&json!(made), &json!("billing")));
    }
    assert_eq!(services(&mut database).await.len(), 1);
    let path = format!("/admin/audit/management?resourceId={made}");
    let events = restarted.admin().get(&path).await.ok().json();
    assert_eq!(events["items"].as_array().map(Vec::len), Some(1), "{events}");
}
