//! Entries of rows that never existed. They block what depends on such a row, until an operator accepts that it is
//! missing.

use engine::ids::KeyId;
use engine::ledger::{self, Log, Renewal};
use engine::rows::{NotSealed, examine_all, missing_rows, seal_and_record};
use engine::seals::{Flaw, RowName};
use formats::clock::{Clock, Entropy};
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::Intruder;
use super::forms::sealed_tables;
use crate::admin::reports::{register, reporting_world};
use crate::ledger::{covered, initialize};
use testkit::{PATIENCE, Process, SigningKey, Site, TokenIssuer, World, pool, token, within};

/// The people with the subject `ada`.
const ADAS: &str = "encode(substr(sha256(sha256('ada'::bytea)), 1, 16), 'hex')::uuid";

/// What an operator accepts: every row that is missing.
async fn accept(world: &World) -> Vec<RowName> {
    let mut transaction = world.pool.begin().await.expect("a transaction");
    let missing = missing_rows(&mut transaction, &[]).await.expect("the rows");
    let at = (&Clock::system(), &Entropy::system());
    let rows = world.pool.rows_on(&mut transaction);
    seal_and_record(rows, &[], &missing, at).await.expect("events");
    transaction.commit().await.expect("a commit");
    missing
}

/// The missing rows that an examination finds, by their tables.
async fn missing(world: &World) -> Vec<&'static str> {
    examine_all(&world.pool).await.expect("an examination");
    let found = world.pool.seals().findings();
    assert!(found.iter().all(|finding| finding.flaw == Flaw::Missing), "{found:?}");
    found.iter().map(|finding| finding.row.table).collect()
}

/// An admin key of Ada, and an application with an envelope key: its row.
struct Fixture {
    world: World,
    ada: String,
    application: String,
    key: uuid::Uuid,
}

impl Fixture {
    async fn new() -> Self {
        let world = World::new().await;
        let (destination, application) = world.bound_application().await;
        let application = application.key.clone().expect("a key");
        let body = json!({ "name": "laptop", "type": "admin", "person": "ada" });
        let ada = world.admin().post("/admin/api-keys", body).await.created().text("secret");
        let key = destination.key.parse::<KeyId>().expect("a key").uuid();
        Self { world, ada, application, key }
    }

    /// The status of a request of Ada, and of one that protects, on an instance that has read nothing.
    async fn statuses(&self) -> (u16, u16) {
        let other = self.world.another().await;
        let ada = other.client(&self.ada).get("/admin/keys").await;
        let body = json!({ "payload": 1 });
        let protected = other.client(&self.application).post("/api/v1/protect", body).await;
        (ada.status.into(), protected.status.into())
    }

    /// Entries that name a row as a member of the groups of Ada and of the key.
    fn joining(&self, person: &str, key: &str) -> String {
        format!(
            "INSERT INTO revisions (table_name, id, revision, what, member)
             VALUES ('people of a subject', {ADAS}, 1000, 'made', {person});
             INSERT INTO revisions (table_name, id, revision, what, member)
             SELECT table_name, id, max(revision) + 1000, 'made', {key} FROM revisions
              WHERE member = '{}' GROUP BY table_name, id",
            self.key
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_without_an_entry_of_its_own_blocks_nobody_and_is_reported() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.statuses().await, (200, 200));
    let never = "'00000000-0000-4000-8000-00000000000f'";
    Intruder::of(&fixture.world).run(&fixture.joining(never, never)).await;
    assert_eq!(fixture.statuses().await, (200, 200));
    assert_eq!(missing(&fixture.world).await, ["keys", "people"]);
    assert_eq!(accept(&fixture.world).await.len(), 2);
    assert_eq!(missing(&fixture.world).await, [""; 0]);
    assert_eq!(fixture.statuses().await, (200, 200));
}

/// The row of each such member shows its group. The row of a key also shows its number, whatever an entry says.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_of_another_group_blocks_nobody() {
    let fixture = Fixture::new().await;
    let (world, admin) = (&fixture.world, fixture.world.admin());
    let body = json!({ "name": "phone", "type": "admin", "person": "bob" });
    admin.post("/admin/api-keys", body).await.created();
    let body = json!({ "serviceId": world.service("other").await, "algorithm": "P-256", "generate": true });
    let other = admin.post("/admin/keys", body).await.created().text("id");
    let other = format!("'{}'", other.parse::<KeyId>().expect("a key").uuid());
    let bob = "(SELECT id FROM people WHERE subject = 'bob')";
    let intruder = Intruder::of(world);
    intruder.run(&fixture.joining(bob, &other)).await;
    assert_eq!(fixture.statuses().await, (200, 200));
    let itself = "INSERT INTO revisions (table_name, id, revision, what, member)
         SELECT table_name, id,
                max(max(revision)) OVER (PARTITION BY table_name, id)
                + row_number() OVER (PARTITION BY table_name, id ORDER BY member), 'made', member
           FROM revisions WHERE member IS NOT NULL GROUP BY table_name, id, member ORDER BY 3";
    intruder.run(itself).await;
    assert_eq!(fixture.statuses().await, (200, 200));
}

/// A member with an entry of its own could be a row that somebody hides.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_member_blocks_its_group_until_an_operator_accepts_its_absence() {
    let fixture = Fixture::new().await;
    let one = "'00000000-0000-4000-8000-00000000000f'";
    let made = format!(
        "INSERT INTO revisions (table_name, id, revision, what)
         VALUES ('people', {one}, 1, 'made'), ('keys', {one}, 1, 'made'); {}",
        fixture.joining(one, one)
    );
    Intruder::of(&fixture.world).run(&made).await;
    assert_eq!(fixture.statuses().await, (401, 500));
    let instance = fixture.world.another().await;
    instance.client(&fixture.ada).get("/admin/keys").await.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(missing(&fixture.world).await, ["keys", "people"]);
    accept(&fixture.world).await;
    assert_eq!(fixture.statuses().await, (200, 200));
    // Running instances read it again.
    let ada = async || instance.client(&fixture.ada).get("/admin/keys").await.status == 200;
    within(PATIENCE, ada).await;
    assert_eq!(missing(&fixture.world).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_a_row_that_never_existed_blocks_until_an_operator_accepts_its_absence() {
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let world = World::with_auth(Clock::system(), issuer.auth()).await;
    let service = world.service("workloads").await;
    let matching = json!({ "issuer": issuer.name(), "subject": "job" });
    let body = json!({ "name": "job", "serviceId": service, "match": matching });
    world.admin().post("/admin/identities", body).await.created();
    let workload = key.token(&issuer.claims("job", world.clock.now()));
    let workload_status =
        async || u16::from(world.client(&workload).get("/api/v1/caller").await.status);
    within(PATIENCE, async || workload_status().await == 200).await;

    let initialized = async || {
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let pool = pool(world.as_application());
        let at = (&clock, &entropy);
        ledger::initialize(&pool, &token().await, at, "example.com/a", Renewal::default()).await
    };
    let intruder = Intruder::of(&world);
    let tables = sealed_tables(&world.pool).await;
    // Entries of all tables, also of the rows that the first `sealward audit init` makes.
    for what in ["made", "frozen"] {
        for table in &tables {
            intruder
                .run(&format!(
                    "INSERT INTO revisions (table_name, id, revision, what)
                     SELECT '{table}', gen_random_uuid(), 1, '{what}'"
                ))
                .await;
        }
    }
    intruder
        .run(
            "INSERT INTO revisions (table_name, id, revision, what)
             SELECT 'audit_log_origins', ('00000000-0000-0000-0000-00000000000' || log)::uuid, 1, 'made'
               FROM (VALUES (1), (2)) AS logs (log)",
        )
        .await;
    within(PATIENCE, async || workload_status().await == 401).await;
    initialized().await.expect_err("a log without keys");
    // An entry that freezes everything names no missing row. The two origins do.
    let expected = 2 * tables.len() - 1 + 2;
    assert_eq!(missing(&world).await.len(), expected);
    assert_eq!(accept(&world).await.len(), expected);
    assert_eq!(missing(&world).await, [""; 0]);
    within(PATIENCE, async || workload_status().await == 200).await;
    initialized().await.expect("keys and origins");
    covered(&world, Log::Management, 1).await;
    assert_eq!(missing(&world).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_a_report_key_that_never_existed_stops_reports_until_it_is_accepted() {
    let world = reporting_world().await;
    let add = "INSERT INTO revisions (table_name, id, revision, what)
               SELECT 'report_keys', gen_random_uuid(), 1, 'made'";
    Intruder::of(&world).run(add).await;
    world.admin().get("/admin/reports/keys").await.refused(409, "CONFLICT");
    accept(&world).await;
    register(&world, "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_absence_was_accepted_does_not_come_back() {
    let world = World::new().await;
    initialize(&world, Renewal::default()).await;
    initialize(&world, Renewal { key: true, ..Renewal::default() }).await;
    let newest = "(SELECT id FROM audit_log_keys ORDER BY created_at DESC, id DESC LIMIT 1)";
    let owner = async |sql: &str| {
        let run = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&world.pool);
        run.await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    owner(&format!(
        "CREATE TABLE kept AS SELECT * FROM audit_log_keys WHERE id = {newest};
         DELETE FROM audit_log_keys WHERE id IN (SELECT id FROM kept)"
    ))
    .await;
    assert_eq!(missing(&world).await, ["audit_log_keys"]);
    accept(&world).await;
    assert_eq!(missing(&world).await, [""; 0]);
    owner("INSERT INTO audit_log_keys SELECT * FROM kept").await;
    examine_all(&world.pool).await.expect("an examination");
    let flaws: Vec<Flaw> = world.pool.seals().findings().iter().map(|it| it.flaw).collect();
    assert_eq!(flaws, [Flaw::Superseded]);
}

/// An operator sees which rows are missing, and what events say about them, and is asked.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_missing_rows_before_their_absence_is_accepted() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    let hidden = process.service("hidden").await;
    let event = "/admin/audit/management?action=create";
    within(PATIENCE, async || {
        let page = process.admin().get(event).await.ok().json();
        !page["items"][0]["log_index"].is_null()
    })
    .await;
    process.terminate();
    let mut database = site.connect().await;
    let hide = "DELETE FROM services WHERE name = 'hidden';
        INSERT INTO revisions (table_name, id, revision, what)
        VALUES ('services', gen_random_uuid(), 1, 'made'), ('report_keys', gen_random_uuid(), 1, 'made')";
    sqlx::raw_sql(hide).execute(&mut database).await.expect("a change");
    let sealed = site.run(&["rows", "reseal", "--yes"]).success().stdout;
    assert!(sealed.contains("no row can be sealed, and 3 are missing"), "{sealed}");
    let refused = site.run(&["rows", "reseal", "--accept-missing"]);
    let lines = &refused.stdout;
    let line = |end: &str| lines.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!(line("missing  removed"), 1, "{lines}");
    assert_eq!(line("missing  no sealed event says that it exists"), 1, "{lines}");
    assert_eq!(line("missing  no event says whether it existed"), 1, "{lines}");
    refused.failure(1, &["no row was sealed"]);
    let doctor = site.run(&["doctor", "--skip-trials"]);
    assert_eq!(doctor.stdout.matches("missing").count(), 3, "{}", doctor.stdout);
    let accepted = site.run(&["rows", "reseal", "--accept-missing", "--yes"]).success().stdout;
    assert!(accepted.ends_with("3 rows are recorded as removed\n"), "{accepted}");
    let process = Process::start(&site).await;
    let path = format!("/admin/services/{hidden}");
    process.admin().get(&path).await.refused(404, "SERVICE_NOT_FOUND");
    process.terminate();
    let again = site.run(&["rows", "reseal"]).success().stdout;
    assert!(again.ends_with("every row counts\n"), "{again}");
}

/// Otherwise whoever makes a row unreadable and deletes it while the operator reads gets its absence accepted.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_read_is_not_accepted_as_removed() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    let policy = process.destination("destination", "P-256", "ECDH-ES+A256KW").await.policy_id;
    let covered =
        "SELECT count(*) FROM audit_log_index i JOIN management_events e ON e.id = i.record_id
                    WHERE e.resource_type = 'policy'";
    let mut database = site.connect().await;
    within(PATIENCE, async || {
        let events: i64 =
            sqlx::query_scalar(covered).fetch_one(&mut database).await.expect("events");
        events > 0
    })
    .await;
    process.terminate();
    let unreadable =
        "UPDATE policies SET deleted_at = now(), allowed_operations = '{{protect,unprotect}}'";
    sqlx::raw_sql(unreadable).execute(&mut database).await.expect("a change");
    let left = site.run(&["rows", "reseal", "--yes"]).success().stdout;
    assert!(left.contains("forged  removed\nno row can be sealed"), "{left}");
    sqlx::raw_sql("DELETE FROM policies").execute(&mut database).await.expect("a change");
    // The events still say that it exists.
    let missing = site.run(&["rows", "reseal", "--yes"]).success().stdout;
    assert!(
        missing.contains("missing  removed\nno row can be sealed, and 1 are missing"),
        "{missing}"
    );
    let process = Process::start(&site).await;
    process
        .admin()
        .get(&format!("/admin/policies/{policy}"))
        .await
        .refused(404, "POLICY_NOT_FOUND");
}

/// A row that came back while the operator read is not accepted as missing.
#[tokio::test]
async fn a_row_that_is_there_is_not_accepted_as_missing() {
    let world = World::new().await;
    world.service("billing").await;
    let id: uuid::Uuid = sqlx::query_scalar("SELECT id FROM services")
        .fetch_one(&world.pool)
        .await
        .expect("a service");
    let mut transaction = world.pool.begin().await.expect("a transaction");
    let rows = world.pool.rows_on(&mut transaction);
    let row = RowName { table: "services", id };
    let accepted = seal_and_record(rows, &[], &[row], (&Clock::system(), &Entropy::system())).await;
    assert!(matches!(accepted, Err(NotSealed::Changed(changed)) if changed == [row]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_freeze_by_command_leaves_no_missing_row() {
    let site = Site::new().await;
    Process::start(&site).await.terminate();
    site.run(&["emergency", "freeze", "--all"]).success();
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}
