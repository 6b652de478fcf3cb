//! `sealward person`, the way out if no owner remains who could unlock a person.

use serde_json::json;

use testkit::{PATIENCE, Process, Site, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_unlocked_by_their_id_or_their_subject() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let admin = process.admin();
    let body = json!({ "subject": "ada", "reason": "r" });
    let created = admin.post("/admin/people", body).await.created();
    let (id, path) = (created.text("id"), created.header("location").to_owned());
    let key = ["api-key", "create", "--type", "admin", "--name", "n", "--person", "ada"];
    let key = site.run(&key).success().stdout.trim().to_owned();
    let client = process.client(&key);
    client.get("/admin/people").await.refused(401, "AUTHENTICATION_FAILED");
    for name in [id.as_str(), "ada"] {
        let unlocked = site.run(&["person", "unlock", name, "--json"]).success().json();
        assert_eq!(
            (&unlocked["status"], &unlocked["lockReason"]),
            (&json!("active"), &json!(null))
        );
        within(PATIENCE, async || client.get("/admin/people").await.status == 200).await;
        assert_eq!(admin.get(&path).await.ok().json()["status"], "active");
        let lock = json!({ "reason": "again" });
        admin.post(&format!("{path}/lock"), lock).await.ok();
        within(PATIENCE, async || client.get("/admin/people").await.status == 401).await;
    }
    let events = admin.get("/admin/audit/management?action=unlock").await.ok().json();
    assert_eq!(events["items"][0]["actor"], "cli");
    site.run(&["person", "unlock", "nobody"]).failure(1, &["there is no such person"]);
}
