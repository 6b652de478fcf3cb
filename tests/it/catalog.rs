//! Caches are current or are not used.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::catalog::{Cache, Catalog, LISTENER, Topic};
use engine::db::{self, Pool};
use engine::floor::Floor;
use formats::clock::Entropy;
use serde_json::json;
use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::Semaphore;

use testkit::{Cluster, Database, PATIENCE, Proxy, World, pool, pulse, within};

/// The time limit of the contract.
const BOUND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_cached_entry_is_loaded_once() {
    let database = Database::new().await;
    let catalog = current(&database.pool()).await;
    let reads = Arc::new(AtomicUsize::new(0));
    let counting = reads.clone();
    let cache = Cache::new(catalog.clone(), &[Topic::Services], 10, move |key: u8| {
        counting.fetch_add(1, Ordering::SeqCst);
        async move { Ok(Some(key)) }
    });
    for _ in 0..10 {
        assert_eq!(cache.get(&7).await.unwrap(), Some(7));
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1);
    catalog.changed(Topic::Policies);
    cache.get(&7).await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 1, "the cache does not depend on policies");
    catalog.changed(Topic::Services);
    cache.get(&7).await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_missing_value_is_cached_until_a_change() {
    let database = Database::new().await;
    let catalog = current(&database.pool()).await;
    let value = Arc::new(Mutex::new(None));
    let read = value.clone();
    let cache = Cache::new(catalog.clone(), &[Topic::Services], 10, move |_: u8| {
        let answer = *read.lock().unwrap();
        async move { Ok(answer) }
    });
    // Without a change, a missing value is cached for a second, and a loaded machine can take longer.
    within(PATIENCE, async || {
        *value.lock().unwrap() = None;
        catalog.changed(Topic::Services);
        let started = Instant::now();
        let missing = cache.get(&0).await.unwrap();
        *value.lock().unwrap() = Some("new");
        let cached = cache.get(&0).await.unwrap();
        catalog.changed(Topic::Services);
        let after_the_change = cache.get(&0).await.unwrap();
        let is_conclusive = started.elapsed() < BOUND;
        if is_conclusive {
            assert_eq!((missing, cached, after_the_change), (None, None, Some("new")));
        }
        is_conclusive
    })
    .await;
}

#[tokio::test]
async fn an_entry_read_before_a_change_is_not_cached_after_it() {
    let database = Database::new().await;
    let catalog = current(&database.pool()).await;
    let value = Arc::new(AtomicUsize::new(1));
    let gate = Arc::new(Semaphore::new(0));
    let (read, permits) = (value.clone(), gate.clone());
    let cache = Cache::new(catalog.clone(), &[Topic::Services], 10, move |_: u8| {
        // The value is read now, and the response arrives after a permit.
        let (answer, permits) = (read.load(Ordering::SeqCst), permits.clone());
        async move {
            permits.acquire().await.unwrap().forget();
            Ok(Some(answer))
        }
    });
    let cache = Arc::new(cache);
    let early = cache.clone();
    let early = tokio::spawn(async move { early.get(&0).await });
    tokio::task::yield_now().await;

    value.store(2, Ordering::SeqCst);
    catalog.changed(Topic::Services);
    gate.add_permits(2);
    assert_eq!(
        cache.get(&0).await.unwrap(),
        Some(2),
        "the second call must not join the older read"
    );
    assert_eq!(early.await.unwrap().unwrap(), Some(1));
    assert_eq!(cache.get(&0).await.unwrap(), Some(2));
}

#[tokio::test]
async fn without_notifications_every_lookup_reads_the_database() {
    let world = World::new().await;
    let service = world.service("billing").await;
    let (options, notifications) = Proxy::for_server(world.database()).await;
    let catalog = current(&pool(options)).await;
    let pool = world.pool.clone();
    let names = Cache::new(catalog.clone(), &[Topic::Services], 10, move |(): ()| {
        let pool = pool.clone();
        async move {
            let name = sqlx::query_scalar::<_, String>("SELECT name FROM services");
            Ok(name.fetch_optional(&pool).await?)
        }
    });
    let name = async || names.get(&()).await.unwrap().unwrap();
    assert_eq!(name().await, "billing");

    notifications.stall();
    let path = format!("/admin/services/{service}");
    let rename = async |name: &str| {
        let body = json!({ "name": name });
        world.admin().put(&path, body).await.ok();
    };
    rename("payments").await;
    within(BOUND, async || name().await == "payments").await;
    assert!(!catalog.is_current());
    rename("invoices").await;
    assert_eq!(name().await, "invoices", "immediately: cached entries are not used");

    // A change without a connection sends no notification, and no lookup happens.
    notifications.resume();
    within(BOUND * 20, async || catalog.is_current()).await;
    name().await;
    notifications.close_connections();
    within(BOUND, async || !catalog.is_current()).await;
    rename("ledgers").await;
    notifications.resume();
    within(BOUND * 20, async || catalog.is_current()).await;
    assert_eq!(name().await, "ledgers");

    rename("receipts").await;
    within(BOUND, async || name().await == "receipts").await;
}

/// A session that listens and ends no transaction can fill the queue, and a full queue fails each transaction that
/// notifies.
#[tokio::test]
async fn a_queue_of_notifications_that_fills_up_fails_no_change_and_no_look_up() {
    let database = Database::new().await;
    let path = [("search_path", "filling,pg_catalog,public")];
    let pool = pool(database.options().clone().options(path));
    let fills_up =
        "CREATE SCHEMA filling; CREATE TABLE filling.usage AS SELECT 0::double precision AS part;
        CREATE FUNCTION filling.pg_notification_queue_usage() RETURNS double precision
            LANGUAGE sql AS 'SELECT part FROM filling.usage'";
    sqlx::raw_sql(fills_up).execute(&pool).await.unwrap();
    let fill = async |part: f64| {
        let fill = sqlx::query("UPDATE filling.usage SET part = $1").bind(part);
        fill.execute(&pool).await.unwrap();
    };
    let catalog = current(&pool).await;
    fill(0.26).await;
    within(BOUND, async || !catalog.is_current()).await;
    fill(0.).await;
    within(BOUND * 5, async || catalog.is_current()).await;

    let own = PgPoolOptions::new().connect_lazy_with(database.options().clone());
    let mut listener = PgListener::connect_with(&own).await.unwrap();
    listener.listen("catalog").await.unwrap();
    let entry = "INSERT INTO revisions (table_name, id, revision, what) VALUES";
    let disabled = format!("{entry} ('keys', gen_random_uuid(), 1, 'disabled')");
    let locked = format!("{entry} ('people', gen_random_uuid(), 1, 'locked')");
    for (change, table) in
        [("DELETE FROM services", "services"), (&disabled, "keys"), (&locked, "people")]
    {
        // Only the second change sends a notification.
        for part in [0.5, 0.49] {
            fill(part).await;
            sqlx::query(AssertSqlSafe(change)).execute(&pool).await.unwrap();
        }
        sqlx::query("NOTIFY catalog, 'the end'").execute(&pool).await.unwrap();
        for expected in [table, "the end"] {
            assert_eq!(listener.recv().await.unwrap().payload(), expected);
        }
    }
}

/// The former server accepts no new connections, but its other connections still work and accept writes.
#[tokio::test(flavor = "multi_thread")]
async fn notifications_come_from_the_server_that_look_ups_read() {
    let [former, later] = [Cluster::start().await, Cluster::start().await];
    let [one, two] = [&former, &later].map(|it| it.through_proxy().options().get_port());
    be_standby(&later, true).await;
    let settings = engine::settings::Database {
        url: format!("postgres://postgres@127.0.0.1:{one},127.0.0.1:{two}/postgres"),
        ..Default::default()
    };
    let primary = db::connect(db::servers(&settings, None).unwrap(), &settings).await.unwrap();
    let pool = primary.pool().clone();
    tokio::spawn(async move { primary.follow(|| {}).await });
    // The connection that watches the primary.
    let watches = "FROM pg_stat_activity WHERE query LIKE '%transaction_read_only%'
                     AND application_name = 'sealward'";
    let watched = format!("SELECT count(*) {watches}");
    within(PATIENCE, async || former.count(&watched).await > 0).await;
    let catalog = current(&pool).await;
    let listeners =
        format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{LISTENER}'");
    assert_eq!((former.count(&listeners).await > 0, later.count(&listeners).await), (true, 0));

    be_standby(&later, false).await;
    let refused = "BEGIN; ALTER ROLE postgres NOLOGIN; COMMIT;";
    former.run(&format!("{refused} SELECT pg_terminate_backend(pid) {watches}")).await;
    within(PATIENCE, async || later.count(&listeners).await == 1).await;
    within(PATIENCE, async || catalog.is_current()).await;
}

/// Lets a server refuse writes on new connections, or accept them.
async fn be_standby(cluster: &Cluster, is_standby: bool) {
    cluster.run(&format!("ALTER SYSTEM SET default_transaction_read_only = {is_standby}")).await;
    cluster.run("SELECT pg_reload_conf()").await;
    let is_set = "SELECT current_setting('transaction_read_only')::bool::int::int8";
    within(PATIENCE, async || cluster.count(is_set).await == i64::from(is_standby)).await;
}

/// A catalog that receives notifications through `pool`.
async fn current(pool: &Pool) -> Catalog {
    let catalog = Catalog::new();
    tokio::spawn(catalog.clone().listen(
        pool.clone(),
        Floor::default(),
        Entropy::system(),
        pulse(),
    ));
    within(BOUND * 5, async || catalog.is_current()).await;
    catalog
}
