//! The kept answers of requests with an `Idempotency-Key`, after an intruder has written to the database.

use serde_json::json;

use super::Intruder;
use testkit::World;

const SERVICES: &str = "/admin/services";

#[tokio::test]
async fn an_answer_that_the_service_did_not_write_is_not_sent() {
    for tampering in [
        "UPDATE idempotent_calls SET answer = replace(answer, 'shop', 'evil')",
        "UPDATE idempotent_calls SET resource_type = 'policy'",
        "UPDATE idempotent_calls SET changed_to = 7",
        "UPDATE idempotent_calls SET mac = NULL",
        // Older than a day, it would be gone.
        "UPDATE idempotent_calls SET begun_at = begun_at + interval '1 hour'",
    ] {
        let world = World::new().await;
        let admin = world.admin();
        let body = json!({ "name": "shop" });
        let send = async |key: &str| {
            admin.clone().with("idempotency-key", key).post(SERVICES, body.clone()).await
        };
        let first = send("one").await.created();
        assert_eq!(send("one").await.created().body, first.body);
        Intruder::of(&world).run(tampering).await;
        send("one").await.refused(409, "CONFLICT");
    }
}

#[tokio::test]
async fn the_answer_to_one_request_is_not_that_to_another() {
    let world = World::new().await;
    let admin = world.admin();
    let send = async |key: &str, name: &str| {
        let client = admin.clone().with("idempotency-key", key);
        client.post(SERVICES, json!({ "name": name })).await
    };
    send("one", "shop").await.created();
    send("two", "bank").await.created();
    Intruder::of(&world)
        .run(
            "UPDATE idempotent_calls AS two SET answer = one.answer, mac = one.mac, attempt = one.attempt,
                    begun_at = one.begun_at
               FROM idempotent_calls AS one WHERE one.key = 'one' AND two.key = 'two'",
        )
        .await;
    send("two", "bank").await.refused(409, "CONFLICT");
}
