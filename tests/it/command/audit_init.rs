//! `sealward audit init`: its event in the log, and tokens without Ed25519.

use faulty_token::Fault;
use sealward::tlog::{Checkpoint, SignatureKind, VerifierKey};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::process::{Process, Site};
use crate::support::{PATIENCE, within};

/// The return code of a token that does not support a mechanism.
const CKR_MECHANISM_INVALID: u64 = 0x70;

/// Runs `sealward audit init` and returns the public keys of the logs.
fn init(site: &Site, option: Option<&str>) -> Vec<String> {
    let mut words = vec!["audit", "init"];
    words.extend(option);
    let printed = site.run(&words).success().stdout;
    printed.lines().map(str::to_owned).collect()
}

type EventRow = (String, String, Option<Value>, Option<Value>);

async fn events(connection: &mut PgConnection) -> Vec<EventRow> {
    let sql = "SELECT actor, action, before, after FROM management_events
                WHERE resource_type = 'audit_log' ORDER BY id";
    sqlx::query_as(sql).fetch_all(connection).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_of_the_public_keys_is_an_event() {
    let site = Site::new().await;
    let mut database = site.connect().await;
    let first = init(&site, None);
    assert_eq!(init(&site, None), first);
    let second = init(&site, Some("--new-key"));
    let third = init(&site, Some("--new-origin"));
    assert!(first != second && second != third);
    let keys = |keys: &Vec<String>| Some(json!({ "keys": keys }));
    let event = |action: &str, before, after| ("cli".to_owned(), action.to_owned(), before, after);
    let expected = [
        event("create", None, keys(&first)),
        event("update", keys(&first), keys(&second)),
        event("update", keys(&second), keys(&third)),
    ];
    assert_eq!(events(&mut database).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_ed25519_signs_with_p256() {
    let site = Site::with_faults().await;
    init(&site, None);
    // The last call makes the key.
    let last = site.faults().calls("C_GenerateKeyPair") as u64;
    let refusal = Fault::Return(CKR_MECHANISM_INVALID).on("C_GenerateKeyPair");
    site.faults().rules(&[refusal.calls(last..=last)]);
    let printed = init(&site, Some("--new-key"));
    let keys: Vec<VerifierKey> = printed.iter().map(|key| key.parse().unwrap()).collect();
    let kinds: Vec<_> = keys.iter().map(VerifierKey::kind).collect();
    assert_eq!(kinds, [SignatureKind::EcdsaP256; 2]);
    site.faults().rules(&[]);

    let _process = Process::start(&site).await;
    let mut database = site.connect().await;
    let sql = "SELECT checkpoint FROM audit_log_heads WHERE log = 2 AND checkpoint_size > 0";
    let mut note: Option<String> = None;
    within(PATIENCE, async || {
        note = sqlx::query_scalar(sql)
            .fetch_optional(&mut database)
            .await
            .unwrap();
        note.is_some()
    })
    .await;
    Checkpoint::open(&note.unwrap(), &keys[1]).unwrap();
}
