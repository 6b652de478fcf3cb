//! The database is rolled back, and its rows with it: applications are refused until an operator has found out why.

use serde_json::{Value, json};

use super::fixture::Kept;
use testkit::{Answer, OPERATIONS, PATIENCE, Process, Site, within};

const ANCHOR: &str = "SEALWARD_AUDIT_SEAL_ANCHOR";

/// A site whose logs are sealed and have an anchor.
struct Anchored {
    kept: Kept,
    site: Site,
}

impl Anchored {
    async fn new() -> Self {
        let site = Site::new().await;
        let keys = site.run(&["audit", "init"]).success().stdout;
        Self { kept: Kept::of_site(&site, &keys), site }
    }

    fn anchor(&self) -> String {
        self.kept.anchor().to_str().expect("a path of text").to_owned()
    }

    async fn start(&self) -> Process {
        Process::start_with(&self.site, &[(ANCHOR, &self.anchor())]).await
    }

    /// Runs an instance until a checkpoint covers a record. Returns the API key of its application.
    async fn sealed_once(&self) -> String {
        let process = self.start().await;
        let key = api_key(&process, "billing").await;
        hash(&process, &key).await.ok();
        self.kept.covered(1).await;
        process.terminate();
        key
    }

    fn renew_origin(&self) {
        let arguments = ["audit", "init", "--new-origin"];
        self.site.run_with(&arguments, ANCHOR, &self.anchor()).success();
    }
}

async fn api_key(process: &Process, service: &str) -> String {
    process.application(service).await.key.expect("a key")
}

async fn hash(process: &Process, key: &str) -> Answer {
    let payload = json!({ "data": 1, "algorithm": "SHA-256" });
    process.client(key).post(OPERATIONS, json!({ "operation": "hash", "payload": payload })).await
}

async fn is_ready(process: &Process) -> bool {
    process.anonymous().get("/readyz").await.status == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_are_refused_until_the_origin_is_new() {
    let anchored = Anchored::new().await;
    let process = anchored.start().await;
    let key = api_key(&process, "billing").await;
    hash(&process, &key).await.ok();
    anchored.kept.covered(1).await;
    anchored.kept.keep_heads().await;
    let lost = api_key(&process, "orders").await;
    hash(&process, &key).await.ok();
    anchored.kept.covered(2).await;
    process.terminate();
    anchored.kept.roll_back().await;
    let newest = "SELECT id FROM api_keys ORDER BY id DESC LIMIT 1";
    anchored.kept.execute(&format!("DELETE FROM api_keys WHERE id = ({newest})")).await;

    let process = anchored.start().await;
    assert!(!is_ready(&process).await);
    for key in [key.as_str(), lost.as_str()] {
        let refused = hash(&process, key).await;
        assert!(!refused.header("retry-after").is_empty());
        refused.refused(503, "SERVICE_UNAVAILABLE");
    }
    let health: Value = process.client(&key).get("/api/v1/health").await.json();
    assert_eq!(health["status"], "unavailable");
    assert_eq!(health["checks"]["records"]["status"], "unavailable");
    // Administrators find out why.
    process.admin().get("/admin/services").await.ok();
    process.admin().get("/admin/audit").await.ok();

    anchored.renew_origin();
    within(PATIENCE, async || is_ready(&process).await).await;
    hash(&process, &key).await.ok();
    hash(&process, &lost).await.refused(401, "AUTHENTICATION_FAILED");
}

/// The owner of the schema removes what the anchor would be compared with.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_not_disguised() {
    for change in [
        "UPDATE audit_log_heads SET origin = 'example.com/other' WHERE log = 1",
        "DELETE FROM audit_log_keys",
        "DELETE FROM audit_log_heads WHERE log = 2",
        "DELETE FROM audit_log_heads",
    ] {
        let anchored = Anchored::new().await;
        let key = anchored.sealed_once().await;
        anchored.kept.execute(change).await;

        let process = anchored.start().await;
        assert!(!is_ready(&process).await, "{change}");
        let is_stopped = async || process.log().contains("audit records are not sealed");
        within(PATIENCE, is_stopped).await;
        assert!(!is_ready(&process).await, "{change}");
        hash(&process, &key).await.refused(503, "SERVICE_UNAVAILABLE");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_from_before_the_logs_is_used_after_the_origin_is_new() {
    let anchored = Anchored::new().await;
    let key = anchored.sealed_once().await;
    let logs = "TRUNCATE audit_log_heads, audit_log_positions, audit_log_nodes";
    anchored.kept.execute(logs).await;

    let process = anchored.start().await;
    assert!(!is_ready(&process).await);
    anchored.renew_origin();
    within(PATIENCE, async || is_ready(&process).await).await;
    hash(&process, &key).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_under_a_running_instance_stops_it() {
    let Anchored { kept, site } = Anchored::new().await;
    let process = Process::start(&site).await;
    let key = api_key(&process, "billing").await;
    hash(&process, &key).await.ok();
    kept.covered(1).await;
    kept.keep_heads().await;
    hash(&process, &key).await.ok();
    kept.covered(2).await;
    kept.roll_back().await;
    within(PATIENCE, async || !is_ready(&process).await).await;
    hash(&process, &key).await.refused(503, "SERVICE_UNAVAILABLE");
}
