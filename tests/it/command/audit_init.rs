//! `sealward audit init`: its event in the log.

use serde_json::{Value, json};
use sqlx::PgConnection;

use testkit::Site;

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
