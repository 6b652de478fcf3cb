//! Batches of the Transit API whose items do not all begin in time.

use std::collections::BTreeMap;
use std::time::Duration;

use faulty_token::Fault;
use serde_json::json;

use super::fixture::Fixture;
use testkit::Site;

/// Clients of this API try the whole batch again, so no result is sent.
#[tokio::test(flavor = "multi_thread")]
async fn items_whose_results_are_not_sent_are_recorded_as_failed() {
    let variables = [
        ("SEALWARD_TRANSIT_ENABLED", "true"),
        // Items begin within half of it.
        ("SEALWARD_LIMITS_REQUEST_TIMEOUT", "6s"),
    ];
    let fixture = Fixture::at(Site::with_faults().await, &variables).await;
    let (process, service) = (fixture.process(), &fixture.client.service);
    let signer = json!({ "serviceId": service, "name": "signer", "use": "sig",
        "algorithm": "P-256", "generate": true });
    process.admin().post("/admin/keys", signer).await.created();
    fixture.site().faults().rules(&[Fault::Delay(Duration::from_millis(500)).on("C_Sign")]);
    let items = vec![json!({ "input": "" }); 200];
    let vault = process.anonymous().with("x-vault-token", &fixture.client.key);
    let vault = vault.with("x-request-id", "late");
    let answer = vault.post("/v1/transit/sign/signer", json!({ "batch_input": items })).await;
    assert_eq!(answer.status, 503, "{}", answer.body);

    let sql = "SELECT response_status, outcome, error_message, count(*) \
               FROM crypto_operations_audit WHERE request_id = 'late' GROUP BY 1, 2, 3";
    let rows: Vec<(i16, String, String, i64)> =
        sqlx::query_as(sql).fetch_all(&mut fixture.site().connect().await).await.expect("rows");
    let mut counts = BTreeMap::new();
    for (status, outcome, message, count) in rows {
        assert_eq!((status, outcome.as_str()), (503, "failed"), "{message}");
        counts.insert(message, count);
    }
    let messages: Vec<&str> = counts.keys().map(String::as_str).collect();
    let unsent = "the operation was done; its result was not sent";
    assert_eq!(messages, ["the item was not started in time", unsent]);
    assert_eq!(counts.values().sum::<i64>(), 200);
}
