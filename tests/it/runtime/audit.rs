//! The audit records of requests.

use serde_json::{Value, json};
use sqlx::Row as _;

use testkit::{OPERATIONS, PROTECT, UNPROTECT, World, jwe};

/// The only record of the request with this ID of the client.
async fn recorded(world: &World, request_id: &str) -> Value {
    let row: Value = sqlx::query(
        "SELECT to_jsonb(audit) - 'ts' AS record FROM crypto_operations_audit AS audit WHERE request_id = $1",
    )
    .bind(request_id)
    .fetch_one(&world.pool)
    .await
    .unwrap()
    .get("record");
    let count: i64 =
        sqlx::query_scalar("SELECT count(*) FROM crypto_operations_audit WHERE request_id = $1")
            .bind(request_id)
            .fetch_one(&world.pool)
            .await
            .unwrap();
    assert_eq!(count, 1);
    row
}

/// The UUID of an identifier in the format of the database.
fn uuid(id: &str) -> String {
    let id: engine::ids::ServiceId =
        id.replacen(id.split('_').next().unwrap(), "svc", 1).parse().unwrap();
    id.uuid().to_string()
}

#[tokio::test]
async fn each_outcome_is_recorded_and_found() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let named = |name| alice.clone().with("x-request-id", name);
    let payload = json!({ "payload": 1 });
    let mut envelope = jwe(&named("done").post(PROTECT, payload.clone()).await);
    envelope["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    named("failed").unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
    for (name, change) in [
        ("refused", json!({ "status": "inactive" })),
        ("passed_through", json!({ "failureMode": "passthrough" })),
        ("dropped", json!({ "failureMode": "drop" })),
    ] {
        world.change_policy(&destination, change).await;
        named(name).post(PROTECT, payload.clone()).await;
    }
    for outcome in ["done", "failed", "refused", "passed_through", "dropped"] {
        assert_eq!(recorded(&world, outcome).await["outcome"], outcome);
        let path = format!("/admin/audit?outcome={outcome}");
        let found = world.admin().get(&path).await.ok().json();
        let found = found["items"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{outcome}");
        assert_eq!(found[0]["request_id"], outcome);
        assert_eq!(found[0]["outcome"], outcome);
    }
}

#[tokio::test]
async fn a_ciphertext_that_is_not_authentic_is_recorded_as_failed() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM" });
    let sealed = alice.operate("encrypt", payload).await.ok().json();
    let mut damaged = sealed["result"].clone();
    damaged["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA==");
    let named = alice.clone().with("x-request-id", "damaged");
    named.operate("decrypt", damaged).await.refused(400, "DECRYPTION_FAILED");
    let record = recorded(&world, "damaged").await;
    assert_eq!((&record["response_status"], &record["outcome"]), (&json!(400), &json!("failed")));
}

#[tokio::test]
async fn a_success_is_recorded_with_all_its_fields() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let named = |name| alice.clone().with("x-request-id", name);
    let protected = named("one").post(PROTECT, json!({ "payload": [1, 2, 3] })).await;
    let jwe = jwe(&protected);
    named("two").unprotect(&jwe).await.ok();
    let record = recorded(&world, "one").await;
    assert_eq!(record["application_id"], uuid(alice.service.as_ref().unwrap()));
    assert!(record["api_key_id"].is_string());
    assert_eq!(record["operation_type"], "encrypt");
    assert_eq!(record["endpoint"], PROTECT);
    assert_eq!(record["policy_number"], destination.policy);
    assert_eq!(record["key_id"], uuid(&destination.key));
    assert_eq!(record["payload_size_bytes"], "[1,2,3]".len());
    assert_eq!(record["response_status"], 200);
    let took = record["response_time_ms"].as_f64().unwrap();
    assert!(took > 0.0 && took < 30_000.0, "{took}");
    assert_eq!((&record["error_code"], &record["error_message"]), (&Value::Null, &Value::Null));
    assert_eq!(record["client_address"], "127.0.0.1");

    let record = recorded(&world, "two").await;
    assert_eq!(record["operation_type"], "decrypt");
    assert_eq!(record["endpoint"], UNPROTECT);
    assert_eq!(record["payload_size_bytes"], jwe.to_string().len());
    assert_eq!(record["key_id"], uuid(&destination.key));
}

#[tokio::test]
async fn every_outcome_of_an_authenticated_request_is_recorded() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let limited = world
        .application("limited")
        .with("allowedOperations", json!(["hash"]))
        .bound_to(&destination.policy)
        .await;
    let long = "x".repeat(2 * 1024 * 1024);
    let requests = [
        (&alice, PROTECT, "{", 400, "encrypt", Value::Null),
        (&alice, PROTECT, "{}", 400, "encrypt", Value::Null),
        (&alice, UNPROTECT, "{}", 400, "decrypt", Value::Null),
        (&alice, PROTECT, long.as_str(), 413, "encrypt", Value::Null),
        (&alice, PROTECT, r#"{"payload":1,"policyNumber":"NONE"}"#, 404, "encrypt", json!("NONE")),
        (&limited, PROTECT, r#"{"payload":1}"#, 403, "encrypt", json!(destination.policy)),
        (&world.admin(), PROTECT, r#"{"payload":1}"#, 403, "encrypt", Value::Null),
        (&alice, UNPROTECT, r#"{"protectedPayload":"x"}"#, 400, "decrypt", Value::Null),
        (
            &alice,
            OPERATIONS,
            r#"{"operation":"sign","payload":{"data":1,"algorithm":"Ed25519"}}"#,
            404,
            "sign",
            Value::Null,
        ),
        (&alice, OPERATIONS, r#"{"operation":"verify","payload":{}}"#, 400, "verify", Value::Null),
        (
            &alice,
            OPERATIONS,
            r#"{"operation":"hash","payload":{"data":"abc","algorithm":"SHA-256"}}"#,
            200,
            "hash",
            Value::Null,
        ),
    ];
    for (number, (person, path, body, status, operation, policy)) in
        requests.into_iter().enumerate()
    {
        let name = format!("request {number}");
        let person = person.clone().with("x-request-id", &name);
        let answer = person.send_text(axum::http::Method::POST, path, body).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.body);
        let record = recorded(&world, &name).await;
        assert_eq!(record["response_status"], status);
        assert_eq!(record["operation_type"], operation);
        assert_eq!(record["endpoint"], path);
        assert_eq!(record["policy_number"], policy);
        assert_eq!(record["error_code"], answer.json()["error"]["code"]);
        assert_eq!(record["error_message"].is_string(), status != 200, "{record}");
        if operation == "hash" {
            assert_eq!(record["payload_size_bytes"], "\"abc\"".len());
        }
    }
}

#[tokio::test]
async fn an_unusable_key_of_the_caller_is_recorded() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let key = world.key(&service, "data", "AES-256").await;
    let other_service = world.service("other").await;
    let other_key = world.key(&other_service, "data", "AES-256").await;
    world.change_key(&key, json!({ "status": "disabled" })).await;
    for (name, key, algorithm, status, recorded_key) in [
        ("disabled", &key, "AES-256-GCM", 403, json!(uuid(&key))),
        ("unfit", &key, "AES-128-GCM", 400, json!(uuid(&key))),
        ("another's", &other_key, "AES-256-GCM", 404, Value::Null),
    ] {
        let payload = json!({ "data": 1, "algorithm": algorithm, "keyId": key });
        let named = alice.clone().with("x-request-id", name);
        let answer = named.operate("encrypt", payload).await;
        assert_eq!(answer.status.as_u16(), status, "{name}");
        assert_eq!(recorded(&world, name).await["key_id"], recorded_key);
    }
}

#[tokio::test]
async fn passthrough_and_drop_are_recorded() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for mode in ["passthrough", "drop"] {
        let change = json!({ "status": "inactive", "failureMode": mode });
        world.change_policy(&destination, change).await;
        alice.clone().with("x-request-id", mode).protect(json!("abc")).await.ok();
        let record = recorded(&world, mode).await;
        assert_eq!(record["operation_type"], "encrypt");
        assert_eq!(record["response_status"], 200);
        assert_eq!(record["payload_size_bytes"], 5);
        assert_eq!(record["key_id"], Value::Null);
    }
}

#[tokio::test]
async fn unauthenticated_requests_are_recorded_asynchronously() {
    let world = World::new().await;
    let anonymous = world.anonymous().with("x-request-id", "anonymous");
    anonymous.post(PROTECT, json!({})).await.refused(401, "AUTHENTICATION_FAILED");
    testkit::within(testkit::PATIENCE, async || {
        let sql = "SELECT count(*) FROM crypto_operations_audit WHERE request_id = 'anonymous'";
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&world.pool).await.unwrap();
        count == 1
    })
    .await;
    let record = recorded(&world, "anonymous").await;
    assert_eq!(record["application_id"], Value::Null);
    assert_eq!(record["response_status"], 401);
    assert_eq!(record["error_code"], "AUTHENTICATION_FAILED");
}
