//! The tamper-evident logs in the dashboard.

use axum::body::Body;
use axum::http::Request;
use engine::ledger::{Log, Renewal};
use engine::settings::{Seal, SealWitness};
use formats::tlog::{Checkpoint, ProofText};
use tower::ServiceExt as _;

use super::Browser;
use crate::ledger::{WitnessServer, covered, hash, initialize, key, sealed_world};
use testkit::{Answer, Exposition, PATIENCE, World, within};

async fn overview(world: &World) -> String {
    let mut browser = Browser::signed_in(world).await;
    browser.get("/dashboard").await.ok().body
}

#[tokio::test]
async fn records_and_events_show_their_index_and_have_a_proof() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    covered(&world, Log::Management, 1).await;
    let mut browser = Browser::signed_in(&world).await;
    for (list, log) in [("audit", Log::Operations), ("audit/management", Log::Management)] {
        let listed = world.admin().get(&format!("/admin/{list}")).await.ok();
        let items = listed.json()["items"].as_array().unwrap().clone();
        let oldest = items.last().unwrap();
        let (id, index) = (oldest["id"].as_str().unwrap(), &oldest["log_index"]);
        let section = list.replace("audit/management", "events");
        let page = format!("/dashboard/{section}/{id}");
        let shown = browser.get(&page).await.ok().body;
        assert!(shown.contains("Log index"), "{shown}");
        let place = format!("{page}/proof.txt");
        assert!(shown.contains(&format!("href=\"{place}\"")), "{shown}");
        let file = browser.get(&place).await.ok();
        let name = format!("attachment; filename=\"{id}.tlog-proof\"");
        assert_eq!(file.header("content-disposition"), name);
        let proof: ProofText = file.body.parse().unwrap();
        assert_eq!(Some(proof.index), index.as_u64());
        let note = Checkpoint::open(&proof.checkpoint, &key(&world, log).await);
        assert!(note.is_ok());
    }
    let unknown = "/dashboard/events/evt_01h455vb4pex5vsknk084sn02q/proof.txt";
    assert_eq!(browser.get(unknown).await.status, 404);
}

#[tokio::test]
async fn the_overview_warns_until_the_logs_have_begun() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world).await;
    let mut is_shown = async || {
        let overview = browser.get("/dashboard").await.ok().body;
        overview.contains("sealward audit init")
    };
    within(PATIENCE, &mut is_shown).await;
    initialize(&world, Renewal::default()).await;
    within(PATIENCE, async || !is_shown().await).await;
}

#[tokio::test]
async fn the_overview_says_why_sealing_fails_and_what_to_do() {
    let world = sealed_world().await;
    let execute = async |sql: &'static str| {
        let done = sqlx::raw_sql(sql).execute(&world.pool).await;
        done.expect(sql);
    };
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    execute("CREATE TABLE backup AS TABLE audit_log_heads").await;
    hash(&world, 2).await;
    covered(&world, Log::Operations, 3).await;
    let mut browser = Browser::signed_in(&world).await;
    let page = browser.get("/dashboard").await.ok().body;
    assert!(!page.contains("not sealed"), "{page}");

    // A restored backup lost two records.
    execute(
        "DELETE FROM crypto_operations_audit r USING audit_log_index i
          WHERE i.record_id = r.id AND i.log = 1 AND i.log_index >= 1;
         DELETE FROM audit_log_segments s USING audit_log_positions p
          WHERE s.log = 1 AND p.log = 1 AND s.id = p.segment AND p.base >= 1;
         DELETE FROM audit_log_positions WHERE log = 1 AND base >= 1;
         DELETE FROM audit_log_heads WHERE log = 1;
         INSERT INTO audit_log_heads SELECT * FROM backup WHERE log = 1",
    )
    .await;
    hash(&world, 2).await;
    within(PATIENCE, async || {
        let page = browser.get("/dashboard").await.ok().body;
        page.contains("not sealed")
            && page.contains("does not extend its checkpoint of 3 records in memory")
            && page.contains("sealward audit init --new-origin")
    })
    .await;
}

#[tokio::test]
async fn the_audit_page_and_the_overview_show_the_witnesses() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let log = key(&world, Log::Operations).await;
    let witness = WitnessServer::new("witness.example/w", log).await;
    let away = SealWitness {
        url: "http://127.0.0.1:1".to_owned(),
        ..WitnessServer::new("witness.example/away", witness.key()).await.settings()
    };
    let settings = Seal { witnesses: vec![witness.settings(), away], ..Seal::default() };
    let world = world.sealing(settings).await;
    let mut browser = Browser::signed_in(&world).await;
    within(PATIENCE, async || {
        let page = browser.get("/dashboard/audit").await.ok().body;
        page.contains("<bdi>witness.example/w</bdi>: cosigned this checkpoint")
            && page.contains(
                "<bdi>witness.example/away</bdi>: has not cosigned a checkpoint. Failed: ",
            )
    })
    .await;
    let overview = overview(&world).await;
    assert!(overview.contains("not cosigned"), "{overview}");
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let metrics = world.metrics(None).await.oneshot(request).await.unwrap();
    let metrics = Exposition::parse(&Answer::of(metrics).await.ok().body);
    for (name, up) in [("witness.example/w", 1.0), ("witness.example/away", 0.0)] {
        let labels = [("log", "operations"), ("witness", name)];
        assert_eq!(metrics.sum("sealward_audit_log_witness_up", &labels), up);
        let lag = metrics.sum("sealward_audit_log_witness_lag_records", &labels);
        assert_eq!(lag == 0.0, up > 0.0, "{name}: {lag}");
    }
}
