//! Credentials, policies and keys that are taken away, and services that are frozen, during long requests.

use std::time::Duration;

use faulty_token::Fault;
use serde_json::{Value, json};

use super::fixture::{Fixture, create};
use testkit::{Answer, PATIENCE, Site, UNPROTECT_BATCH, within};

/// The token takes longer than the freeze.
#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_waits_for_the_token_does_not_open_after_a_freeze() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let faults = fixture.site().faults();
    faults.rules(&[Fault::Delay(Duration::from_secs(3)).on("C_DeriveKey")]);
    let before = faults.calls("C_DeriveKey");
    let application = fixture.application();
    let opening = application.unprotect(&fixture.client.envelope);
    let freeze = async {
        within(PATIENCE, async || faults.calls("C_DeriveKey") > before).await;
        let reason = json!({ "reason": "a stolen laptop" });
        fixture.process().admin().post("/admin/emergency/freeze", reason).await.ok();
    };
    let (answer, ()) = tokio::join!(opening, freeze);
    answer.refused(403, "SERVICE_FROZEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_waits_for_the_token_does_not_open_after_its_api_key_is_revoked() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    for change in [None, Some(json!({ "allowedOperations": ["hash"] }))] {
        let body = json!({ "type": "live", "serviceId": fixture.client.service,
            "policyNumber": policy(&fixture).await });
        let key = create(fixture.process(), "/admin/api-keys", body).await;
        let path = format!("/admin/api-keys/{}", key["id"].as_str().unwrap());
        let faults = fixture.site().faults();
        faults.rules(&[Fault::Delay(Duration::from_secs(3)).on("C_DeriveKey")]);
        let before = faults.calls("C_DeriveKey");
        let client = fixture.process().client(key["secret"].as_str().unwrap());
        let opening = client.unprotect(&fixture.client.envelope);
        let admin = fixture.process().admin();
        let revocation = async {
            within(PATIENCE, async || faults.calls("C_DeriveKey") > before).await;
            match &change {
                None => admin.delete(&path).await.gone(),
                Some(change) => drop(admin.patch(&path, change.clone()).await.ok()),
            }
        };
        let (answer, ()) = tokio::join!(opening, revocation);
        match change {
            None => answer.refused(401, "AUTHENTICATION_FAILED"),
            Some(_) => answer.refused(403, "OPERATION_NOT_ALLOWED"),
        };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_waits_for_the_token_does_not_open_without_its_policy_or_key() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let admin = fixture.process().admin();
    let path = format!("/admin/policies/{}", policy(&fixture).await.as_str().unwrap());
    let narrow = json!({ "allowedOperations": ["protect"] });
    let answer = opened_during(&fixture, async || drop(admin.patch(&path, narrow).await.ok()));
    answer.await.refused(403, "OPERATION_NOT_ALLOWED");
    let wide = json!({ "allowedOperations": ["protect", "unprotect"] });
    admin.patch(&path, wide).await.ok();

    let keys = admin.get("/admin/keys?use=enc&status=active").await.ok().json();
    let path = format!("/admin/keys/{}", keys["items"][0]["id"].as_str().unwrap());
    let disable = json!({ "status": "disabled" });
    let answer = opened_during(&fixture, async || drop(admin.patch(&path, disable).await.ok()));
    answer.await.refused(500, "DESTINATION_KEY_NOT_FOUND");
    let sql = "SELECT count(*) FROM crypto_operations_audit
                WHERE operation_type = 'decrypt' AND outcome = 'done'";
    let opened: i64 =
        sqlx::query_scalar(sql).fetch_one(&mut fixture.site().connect().await).await.expect("rows");
    assert_eq!(opened, 0);
}

/// The answer to a request that waits for the token until `change` is made.
async fn opened_during(fixture: &Fixture, change: impl AsyncFnOnce()) -> Answer {
    let faults = fixture.site().faults();
    faults.rules(&[Fault::Delay(Duration::from_secs(3)).on("C_DeriveKey")]);
    let before = faults.calls("C_DeriveKey");
    let application = fixture.application();
    let changing = async {
        within(PATIENCE, async || faults.calls("C_DeriveKey") > before).await;
        change().await;
    };
    tokio::join!(application.unprotect(&fixture.client.envelope), changing).0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ciphertext_that_waits_for_the_token_does_not_open_after_its_key_is_disabled() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let (application, admin) = (fixture.application(), fixture.process().admin());
    let key = fixture.process().key(&fixture.client.service, "data", "AES-256").await;
    let encrypt = json!({ "algorithm": "AES-256-GCM", "keyId": key, "data": 1 });
    let sealed = application.operate("encrypt", encrypt).await.ok().json()["result"].clone();
    let faults = fixture.site().faults();
    faults.rules(&[Fault::Delay(Duration::from_secs(3)).on("C_DecryptInit")]);
    let before = faults.calls("C_DecryptInit");
    let decrypt = json!({ "algorithm": "AES-256-GCM", "keyId": key, "iv": sealed["iv"],
        "ciphertext": sealed["ciphertext"], "tag": sealed["tag"] });
    let opening = application.operate("decrypt", decrypt);
    let disabling = async {
        within(PATIENCE, async || faults.calls("C_DecryptInit") > before).await;
        let disable = json!({ "status": "disabled" });
        admin.patch(&format!("/admin/keys/{key}"), disable).await.ok();
    };
    let (answer, ()) = tokio::join!(opening, disabling);
    answer.refused(403, "OPERATION_NOT_ALLOWED");
}

/// Without the check, a batch goes on until it ends.
#[tokio::test(flavor = "multi_thread")]
async fn no_item_of_a_batch_begins_after_its_api_key_is_revoked() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let body = json!({ "type": "live", "serviceId": fixture.client.service,
        "policyNumber": policy(&fixture).await });
    let key = create(fixture.process(), "/admin/api-keys", body).await;
    let (secret, id) = (key["secret"].as_str().unwrap(), key["id"].as_str().unwrap());
    let faults = fixture.site().faults();
    // The batch takes several seconds.
    faults.rules(&[Fault::Delay(Duration::from_millis(100)).on("C_DeriveKey")]);
    let before = faults.calls("C_DeriveKey");
    let client = fixture.process().client(secret);
    let items = vec![json!({ "jwe": fixture.client.envelope }); 1_000];
    let batch = client.post(UNPROTECT_BATCH, json!({ "items": items }));
    let revocation = async {
        within(PATIENCE, async || faults.calls("C_DeriveKey") > before).await;
        fixture.process().admin().delete(&format!("/admin/api-keys/{id}")).await.gone();
    };
    let (answer, ()) = tokio::join!(batch, revocation);

    let answer = answer.ok().json();
    let items = answer["items"].as_array().expect("items");
    let opened = items.iter().filter(|item| item["status"] == 200).count();
    let refused = items.iter().filter(|item| is_unauthenticated(item)).count();
    assert_eq!(opened + refused, 1_000, "{answer}");
    assert!(opened > 0 && is_unauthenticated(&items[999]), "{opened} were opened");
    let sql = "SELECT count(*) FROM crypto_operations_audit
                WHERE error_code = 'AUTHENTICATION_FAILED' AND response_status = 401
                  AND outcome = 'refused' AND item IS NOT NULL AND api_key_id IS NOT NULL";
    let recorded: i64 =
        sqlx::query_scalar(sql).fetch_one(&mut fixture.site().connect().await).await.expect("rows");
    assert_eq!(usize::try_from(recorded), Ok(refused));
}

fn is_unauthenticated(item: &Value) -> bool {
    item["status"] == 401 && item["error"]["code"] == "AUTHENTICATION_FAILED"
}

/// The policy of the envelope of the fixture.
async fn policy(fixture: &Fixture) -> Value {
    let policies = fixture.process().admin().get("/admin/policies").await.ok().json();
    policies["items"][0]["policyNumber"].clone()
}
