//! Two tokens that hold the same key.

use std::fs;

use faulty_token::Fault;
use serde_json::json;

use super::fixture::create;
use testkit::openssl::private;
use testkit::{LABEL, Process, Site};
use testkit::{PATIENCE, within};

const SECOND: &str = "second";

const CKR_DEVICE_REMOVED: u64 = 0x32;

/// The number of objects in all tokens. SoftHSM2 keeps each in a file.
fn objects(site: &Site) -> usize {
    let tokens = fs::read_dir(site.file("token/tokens")).expect("the tokens");
    let files = tokens.flat_map(|token| fs::read_dir(token.expect("a token").path()));
    let files = files.flatten().map(|file| file.expect("a file").path());
    let is_object = |file: &std::path::PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(".object") && name != "token.object")
    };
    files.filter(is_object).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_destroyed_on_a_token_that_was_away_at_its_destruction() {
    let site = Site::with_faults().await;
    site.add_softhsm(SECOND);
    let pem = private("P-256");
    let process = Process::start(&site).await;
    let service = create(&process, "/admin/services", json!({})).await["id"].clone();
    let key = json!({ "serviceId": service, "privateKey": pem });
    let key = create(&process, "/admin/keys", key).await;
    let path = format!("/admin/keys/{}", key["id"].as_str().expect("an id"));
    process.terminate();
    let sql = "SELECT encode(token_id, 'hex') FROM keys";
    let cka_id: String =
        sqlx::query_scalar(sql).fetch_one(&mut site.connect().await).await.expect("the key");
    let both = site.tokens_with(&[LABEL, SECOND]);
    let both = [("SEALWARD_HSM_TOKENS", both.as_str())];
    let process = Process::start_with(&site, &both).await;
    let without_copy = objects(&site);
    site.import(SECOND, &cka_id, &pem);
    let with_copy = objects(&site);
    assert_eq!(with_copy, without_copy + 2, "a private and a public key");
    process.admin().delete(&path).await.gone();
    process.terminate();
    site.rewrite("UPDATE keys SET destroy_at = now()").await;

    let away = ["C_GetTokenInfo", "C_OpenSession", "C_FindObjectsInit"];
    let away = away.map(|function| Fault::Return(CKR_DEVICE_REMOVED).on(function).token(SECOND));
    site.faults().rules(&away);
    // The service destroys due keys when it starts.
    let process = Process::start_with(&site, &both).await;
    let fails = "the token did not destroy a key that is due";
    within(PATIENCE, async || process.log().contains(fails)).await;
    assert_eq!(process.admin().get(&path).await.json()["status"], "pending_destruction");
    assert!(objects(&site) > with_copy - 4);
    process.terminate();

    site.faults().rules(&[]);
    let process = Process::start_with(&site, &both).await;
    let is_destroyed = async || process.admin().get(&path).await.json()["status"] == "destroyed";
    within(PATIENCE, is_destroyed).await;
    assert_eq!(objects(&site), with_copy - 4);
}
