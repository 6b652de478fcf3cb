//! Published checkpoints and hashes, without an API key.

use std::pin::pin;

use engine::ledger::{Log, SealState};
use engine::settings::{Seal, Span};
use formats::algorithms::Algorithm;
use formats::tlog::{Checkpoint, Hash, Tree};
use futures_util::future::join_all;
use hsm::{NewKey, Purpose};
use uuid::Uuid;

use super::fixture::{Kept, OwnSealer, covered, hash, key, sealed_world};
use testkit::{PATIENCE, Proxy, World, seal_rows, token, within};

const CHECKPOINT: &str = "/audit/log/operations/checkpoint";

/// A service that publishes its logs in this interval.
async fn publishing(publish_interval: Span) -> World {
    let settings = Seal { publish: true, publish_interval, ..Seal::default() };
    sealed_world().await.sealing(settings).await
}

/// Waits until a published checkpoint covers `size` records.
async fn published(world: &World, size: u64) -> Checkpoint {
    let key = key(world, Log::Operations).await;
    let read = async || {
        let answer = world.anonymous().get(CHECKPOINT).await;
        (answer.status == 200).then(|| Checkpoint::open(&answer.ok().body, &key).unwrap())
    };
    within(PATIENCE, async || read().await.is_some_and(|it| it.size >= size)).await;
    read().await.unwrap()
}

fn tile(rest: &str) -> String {
    format!("/audit/log/operations/tile/{rest}")
}

#[tokio::test]
async fn logs_are_published_only_on_demand() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    for path in [CHECKPOINT, &tile("0/000.p/1")] {
        world.anonymous().get(path).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn the_published_tiles_lead_to_the_published_checkpoint() {
    let world = publishing(Span::seconds(3_600)).await;
    hash(&world, 3).await;
    let checkpoint = published(&world, 1).await;
    let size = checkpoint.size;
    hash(&world, 2).await;
    covered(&world, Log::Operations, size + 2).await;

    // The next checkpoint is published after the interval, and larger tiles with it.
    assert_eq!(published(&world, size).await, checkpoint);
    let anonymous = world.anonymous();
    let hashes = anonymous.get(&tile(&format!("0/000.p/{size}"))).await.ok();
    assert_eq!(hashes.header("content-type"), "application/octet-stream");
    let mut tree = Tree::default();
    for bytes in hashes.bytes.chunks(Hash::LEN) {
        tree.append(Hash::try_from(bytes).unwrap(), |_| ());
    }
    assert_eq!((tree.size(), tree.root()), (size, checkpoint.root));

    let larger = format!("0/000.p/{}", size + 1);
    let sealed = format!("/admin/audit/log/operations/tile/{larger}");
    world.admin().get(&sealed).await.ok();
    let entries = format!("entries/000.p/{size}");
    for missing in [&larger, &entries, "0/000", "1/000.p/1", "x", "%FF"] {
        let answer = anonymous.get(&tile(missing)).await;
        answer.refused(404, "NOT_FOUND");
    }
    let other = anonymous.get("/audit/log/other/checkpoint").await;
    other.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn tiles_can_be_cached_forever_and_checkpoints_for_seconds() {
    let world = publishing(Span::seconds(3_600)).await;
    hash(&world, 1).await;
    published(&world, 1).await;
    let checkpoint = world.anonymous().get(CHECKPOINT).await.ok();
    assert_eq!(checkpoint.header("cache-control"), "public, max-age=5");
    assert_eq!(checkpoint.header("content-type"), "text/plain; charset=utf-8");
    let tile = world.anonymous().get(&tile("0/000.p/1")).await.ok();
    let forever = "public, max-age=31536000, immutable";
    assert_eq!(tile.header("cache-control"), forever);
}

#[tokio::test]
async fn repeated_reads_of_published_logs_cost_no_queries() {
    const READS: u64 = 200;
    let world = publishing(Span::seconds(3_600)).await;
    hash(&world, 1).await;
    let size = published(&world, 1).await.size;
    let (options, proxy) = Proxy::for_server(world.database()).await;
    let counted = world.another_publishing(options).await;
    let path = tile(&format!("0/000.p/{size}"));
    let first = counted.anonymous().get(&path).await.ok().bytes;
    for _ in 0..READS {
        counted.anonymous().get(CHECKPOINT).await.ok();
        let again = counted.anonymous().get(&path).await.ok().bytes;
        assert_eq!(again, first);
    }
    // An instance that does not seal reads hashes once a second, to compare the logs with their checkpoints.
    let hashes = proxy.executed("SELECT p.base, s.id, s.ids");
    assert!((1..READS / 2).contains(&hashes), "{hashes}");
    // The checkpoint is read again after a second.
    let checkpoints = proxy.executed("SELECT published, published_size");
    assert!((1..READS / 2).contains(&checkpoints), "{checkpoints}");
}

#[tokio::test]
async fn reads_of_published_logs_use_two_connections() {
    let world = publishing(Span::millis(10)).await;
    hash(&world, 3).await;
    published(&world, 3).await;
    let waiting = async || -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query LIKE 'SELECT p.base, s.id, s.ids%'";
        let count = sqlx::query_scalar(sql).fetch_one(&world.pool);
        count.await.unwrap()
    };
    let mut slow = world.pool.begin().await.unwrap();
    let lock = "LOCK TABLE audit_log_segments IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *slow).await.unwrap();
    let paths = ["0/000.p/1", "0/000.p/2", "0/000.p/3"].map(tile);
    let anonymous = world.anonymous();
    let mut reads = pin!(join_all(paths.iter().map(|path| anonymous.get(path))));
    let meanwhile = async {
        within(PATIENCE, async || waiting().await >= 2).await;
        for _ in 0..20 {
            world.admin().get("/admin/services").await.ok();
        }
        waiting().await
    };
    tokio::select! {
        _ = &mut reads => panic!("the table is locked"),
        reads = meanwhile => assert_eq!(reads, 2),
    }
    slow.rollback().await.unwrap();
    for read in reads.await {
        read.ok();
    }
}

#[tokio::test]
async fn the_tiles_of_a_checkpoint_of_another_instance_are_served_at_once() {
    let world = publishing(Span::millis(10)).await;
    hash(&world, 1).await;
    published(&world, 1).await;
    let other = world.another_publishing(world.database().clone()).await;
    let missing = tile("0/000.p/2");
    other.anonymous().get(CHECKPOINT).await.ok();
    let answer = other.anonymous().get(&missing).await;
    answer.refused(404, "NOT_FOUND");
    hash(&world, 1).await;
    published(&world, 2).await;
    other.anonymous().get(&missing).await.ok();
}

#[tokio::test]
async fn a_checkpoint_is_published_in_each_interval() {
    let world = publishing(Span::millis(10)).await;
    for size in 1..=3 {
        hash(&world, 1).await;
        published(&world, size).await;
    }
}

#[tokio::test]
async fn publication_needs_an_ed25519_key() {
    let kept = Kept::new().await;
    let id = Uuid::from_u128(rand::random());
    let name = id.as_bytes().to_vec();
    let key = NewKey::internal(name, "audit log", Algorithm::P256, Purpose::Sign);
    let made = token().await.generate(key).await.unwrap();
    let public = formats::material::PublicKey::new(made.public.unwrap()).unwrap();
    sqlx::query("INSERT INTO audit_log_keys (id, public_key, created_at) VALUES ($1, $2, now())")
        .bind(id)
        .bind(public.to_spki())
        .execute(&kept.owner)
        .await
        .unwrap();
    seal_rows(&kept.owner).await;
    let settings = Seal { publish: true, ..Seal::default() };
    let sealer = OwnSealer::with(kept.pool.clone(), settings).await;
    let is_refused = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("need an Ed25519 key"));
    sealer.state(is_refused).await;
    kept.record(2).await;
    kept.covered(2).await;
    assert_eq!(kept.published().await, None);
}
