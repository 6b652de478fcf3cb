//! `/protect/batch`, `/unprotect/batch` and `/rewrap/batch`.

mod limits;
mod records;

use axum::http::Method;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{Answer, Client, PROTECT_BATCH, REWRAP_BATCH, UNPROTECT_BATCH, World, header_of};

async fn batch(client: &Client<'_>, path: &str, items: Value) -> Answer {
    client.post(path, json!({ "items": items })).await
}

fn items(answer: &Answer) -> Vec<Value> {
    answer.json()["items"].as_array().unwrap().clone()
}

/// The statuses and codes of the items.
fn outcomes(answer: &Answer) -> Vec<(u64, Option<String>)> {
    let outcome = |item: &Value| {
        let code = item["error"]["code"].as_str().map(str::to_owned);
        (item["status"].as_u64().unwrap(), code)
    };
    items(answer).iter().map(outcome).collect()
}

fn refused(status: u64, code: &str) -> (u64, Option<String>) {
    (status, Some(code.to_owned()))
}

/// A world with a clock that the test moves.
async fn still() -> (World, Clock) {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    (World::at(clock.clone(), Stage::Development).await, clock)
}

#[tokio::test]
async fn the_items_of_a_response_are_in_the_order_of_the_request() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let payloads: Vec<Value> = (0..50).map(|n| json!({ "payload": { "n": n } })).collect();
    let sealed = batch(&alice, PROTECT_BATCH, json!(payloads)).await.ok();
    assert_eq!(sealed.json()["requestId"].as_str(), Some(sealed.header("x-request-id")));
    assert_eq!(sealed.json().as_object().unwrap().len(), 2);
    for item in items(&sealed) {
        let names: Vec<_> = item.as_object().unwrap().keys().collect();
        assert_eq!(names, ["jwe", "messageType", "operations", "status"]);
        assert_eq!(item["status"], 200);
    }
    let newer = world.key(&destination.service, "enc", "P-256").await;
    // The response of one batch is the body of the next.
    let rewrapped = alice.post(REWRAP_BATCH, sealed.json()).await.ok();
    for item in items(&rewrapped) {
        assert_eq!(item["operations"], json!(["decrypt", "encrypt"]));
        assert_eq!(header_of(&item["jwe"])["kid"], newer);
    }
    let opened = alice.post(UNPROTECT_BATCH, rewrapped.json()).await.ok();
    for (n, item) in items(&opened).iter().enumerate() {
        let expected = json!({ "status": 200, "operations": ["decrypt"], "payload": { "n": n } });
        assert_eq!(*item, expected);
    }
}

#[tokio::test]
async fn payloads_in_a_batch_keep_their_text() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let body = r#" {"items" : [ {"payload":{"z": 1.0,"a":"]}, {"}} , {"payload":null}]}"#;
    let sealed = alice.send_text(Method::POST, PROTECT_BATCH, body).await;
    let opened = alice.post(UNPROTECT_BATCH, sealed.json()).await.ok();
    let expected = concat!(
        r#""items":[{"status":200,"operations":["decrypt"],"payload":{"z": 1.0,"a":"]}, {"}},"#,
        r#"{"status":200,"operations":["decrypt"],"payload":null}]}"#
    );
    assert!(opened.body.ends_with(expected), "{}", opened.body);
}

#[tokio::test]
async fn an_item_that_fails_does_not_fail_others() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let large = "x".repeat(1024 * 1024);
    let payloads = json!([
        { "payload": 1 },
        { "payload": 1 },
        7,
        {},
        { "payload": 1, "policyNumber": "POL-404" },
        { "payload": large },
        { "payload": 1, "context": { "a": 1 } },
        { "payload": 1, "status": 200 },
    ]);
    let answer = batch(&alice, PROTECT_BATCH, payloads).await.ok();
    let invalid = || refused(400, "INVALID_REQUEST");
    let expected = [
        (200, None),
        (200, None),
        invalid(),
        invalid(),
        refused(404, "POLICY_NOT_FOUND"),
        refused(413, "PAYLOAD_TOO_LARGE"),
        invalid(),
        invalid(),
    ];
    assert_eq!(outcomes(&answer), expected);
    let field = |item: &Value| {
        let field = item["error"]["details"][0]["field"].as_str();
        field.map(str::to_owned)
    };
    let fields: Vec<_> = items(&answer).iter().filter_map(field).collect();
    assert_eq!(fields, ["", "payload", "context.a", "status"]);

    let sealed = items(&answer)[0]["jwe"].clone();
    let mut damaged = sealed.clone();
    damaged["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let opening = json!([
        { "jwe": sealed },
        { "jwe": sealed },
        { "jwe": damaged },
        { "protectedPayload": "e30" },
        [],
    ]);
    for (path, last) in [(UNPROTECT_BATCH, "payload"), (REWRAP_BATCH, "jwe")] {
        let answer = batch(&alice, path, opening.clone()).await.ok();
        let expected = [
            (200, None),
            (200, None),
            refused(500, "INTERNAL_ERROR"),
            refused(400, "INVALID_PROTECTED_PAYLOAD"),
            invalid(),
        ];
        assert_eq!(outcomes(&answer), expected);
        assert!(!items(&answer)[1][last].is_null());
    }
}

#[tokio::test]
async fn each_item_has_its_own_context() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let [acme, other] = ["acme", "other"].map(|tenant| json!({ "tenant": tenant }));
    let payloads = json!([
        { "payload": 1, "context": acme },
        { "payload": 2, "context": other },
        { "payload": 3 },
    ]);
    let sealed = batch(&alice, PROTECT_BATCH, payloads).await.ok();
    let [first, second, third] = items(&sealed)
        .try_into()
        .map(|items: [Value; 3]| items.map(|item| item["jwe"].clone()))
        .unwrap();
    for envelope in [&first, &second] {
        assert!(header_of(envelope)["ctx"].is_string());
    }
    assert!(header_of(&third)["ctx"].is_null());
    let failed = || refused(500, "INTERNAL_ERROR");
    let opening = json!([
        { "jwe": first, "context": acme },
        { "jwe": second, "context": acme },
        { "jwe": second, "context": other },
        { "jwe": second },
        { "jwe": third, "context": other },
        { "jwe": third },
    ]);
    let expected = [(200, None), failed(), (200, None), failed(), failed(), (200, None)];
    for path in [UNPROTECT_BATCH, REWRAP_BATCH] {
        let answer = batch(&alice, path, opening.clone()).await.ok();
        assert_eq!(outcomes(&answer), expected, "{path}");
    }
}

#[tokio::test]
async fn a_failure_mode_applies_to_each_item() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for (failure_mode, member) in [("passthrough", "payload"), ("drop", "dropped")] {
        let change = json!({ "status": "inactive", "failureMode": failure_mode });
        world.change_policy(&destination, change).await;
        let answer = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }])).await.ok();
        let item = &items(&answer)[0];
        assert_eq!(item["operations"], json!([]));
        assert!(!item[member].is_null(), "{item}");
    }
}
