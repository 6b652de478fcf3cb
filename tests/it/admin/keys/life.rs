//! The states of a key in the API.

use serde_json::{Value, json};

use super::{generate, id, path, read, send, set};
use testkit::World;

/// Creates a key in this state.
async fn in_state(world: &World, service: &str, state: &str) -> String {
    let key = generate(world, service, "AES-128").await;
    let id = id(&key).to_owned();
    match state {
        "active" => {}
        "pending_destruction" => world.admin().delete(&path(&id)).await.gone(),
        other => {
            set(world, &id, other).await.ok();
        }
    }
    assert_eq!(read(world, &id).await["status"], state);
    id
}

#[tokio::test]
async fn every_status_change_matches_the_contract() {
    let world = World::new().await;
    let service = world.service("life").await;
    let states = ["active", "retired", "disabled", "pending_destruction"];
    let reachable = [
        ("active", "retired"),
        ("active", "disabled"),
        ("retired", "active"),
        ("retired", "disabled"),
        ("disabled", "active"),
        ("disabled", "retired"),
        ("pending_destruction", "disabled"),
    ];
    for from in states {
        for to in states.into_iter().chain(["destroyed"]) {
            let id = in_state(&world, &service, from).await;
            let answer = set(&world, &id, to).await;
            if from == to || reachable.contains(&(from, to)) {
                assert_eq!(answer.ok().json()["status"], to, "{from} {to}");
            } else {
                answer.refused(409, "CONFLICT");
                assert_eq!(read(&world, &id).await["status"], from);
            }
        }
    }
}

#[tokio::test]
async fn a_key_is_created_with_the_requested_or_default_values() {
    let world = World::new().await;
    let service = world.service("defaults").await;
    let cases = [
        (json!({}), "RSA-3072", "enc"),
        (json!({"use": "data"}), "AES-256", "data"),
        (json!({"algorithm": "P-521"}), "P-521", "enc"),
        (json!({"algorithm": "P-256", "use": "sig"}), "P-256", "sig"),
        (json!({"algorithm": "Ed25519"}), "Ed25519", "sig"),
        (json!({"algorithm": "HMAC-SHA256"}), "HMAC-SHA256", "sig"),
        (json!({"algorithm": "AES-128"}), "AES-128", "data"),
    ];
    for (mut body, algorithm, usage) in cases {
        body["generate"] = json!(true);
        let key = send(&world, &service, body).await.created().json();
        assert_eq!(
            (&key["algorithm"], &key["use"], &key["origin"], &key["status"]),
            (&json!(algorithm), &json!(usage), &json!("generated"), &json!("active"))
        );
        let is_secret = usage == "data" || algorithm.starts_with("HMAC");
        assert_eq!(key["publicKey"] == Value::Null, is_secret, "{key}");
        assert_eq!(key["thumbprint"] == Value::Null, is_secret, "{key}");
        assert_eq!(key["hasPrivate"], true);
        assert_eq!(read(&world, id(&key)).await, key);
    }
    let key = send(&world, &service, json!({"generate": true, "activate": false})).await;
    let key = key.created().json();
    assert_eq!((&key["status"], &key["activatedAt"]), (&json!("retired"), &Value::Null));
}

#[tokio::test]
async fn all_errors_of_a_request_are_reported_at_once() {
    let world = World::new().await;
    let service = world.service("wrong").await;
    let body = json!({
        "generate": true, "secretKey": "AAAA", "use": "data", "algorithm": "P-256", "name": "",
        "expiresAt": "2001-01-01T00:00:00Z", "colour": "red",
    });
    send(&world, &service, body).await.invalid(&[
        ("colour", "unknown"),
        ("name", "length"),
        ("expiresAt", "range"),
        ("use", "conflict"),
        ("secretKey", "conflict"),
    ]);
    send(&world, &service, json!({})).await.invalid(&[("", "required")]);
    send(&world, &service, json!({"generate": false})).await.invalid(&[("", "required")]);
    send(&world, "svc_01h455vb4pex5vsknk084sn02q", json!({"generate": true}))
        .await
        .invalid(&[("serviceId", "unknown")]);
    let body = json!({"generate": true, "algorithm": "RSA-1024"});
    send(&world, &service, body).await.invalid(&[("algorithm", "unsupported")]);
}

#[tokio::test]
async fn a_response_is_a_valid_request() {
    let world = World::new().await;
    let service = world.service("round").await;
    let mut key = generate(&world, &service, "P-256").await;
    let path = path(id(&key));
    let same = world.admin().put(&path, key.clone()).await.ok();
    assert_eq!(same.json(), key);
    key["name"] = json!("renamed");
    key["expiresAt"] = json!("2099-01-01T00:00:00.000Z");
    let changed = world.admin().put(&path, key.clone()).await.ok().json();
    assert_eq!((&changed["name"], &changed["expiresAt"]), (&key["name"], &key["expiresAt"]));
    let other = json!({"algorithm": "P-384", "serviceId": "svc_01h455vb4pex5vsknk084sn02q"});
    world
        .admin()
        .put(&path, other)
        .await
        .invalid(&[("algorithm", "conflict"), ("serviceId", "conflict")]);
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = World::new().await;
    let (one, other) = (world.service("one").await, world.service("other").await);
    for algorithm in ["AES-128", "HMAC-SHA256", "AES-256"] {
        generate(&world, &one, algorithm).await;
    }
    generate(&world, &other, "AES-128").await;
    let count = async |query: &str| {
        let listed = world.admin().get(&format!("/admin/keys?{query}")).await;
        listed.ok().json()["items"].as_array().expect("items").len()
    };
    assert_eq!(count("").await, 4);
    assert_eq!(count(&format!("serviceId={one}")).await, 3);
    assert_eq!(count(&format!("serviceId={one}&use=data")).await, 2);
    assert_eq!(count("status=retired").await, 0);
    let first = world.admin().get("/admin/keys?limit=3").await.ok();
    assert_eq!(count(&format!("limit=3&cursor={}", first.text("nextCursor"))).await, 1);
    world
        .admin()
        .get("/admin/keys?use=none&stauts=active")
        .await
        .invalid(&[("use", "unsupported"), ("stauts", "unknown")]);
}

#[tokio::test]
async fn a_service_with_keys_is_not_deleted() {
    let world = World::new().await;
    let service = world.service("kept").await;
    let key = generate(&world, &service, "AES-128").await;
    let refused = world.admin().delete(&format!("/admin/services/{service}")).await;
    assert!(refused.refused(409, "CONFLICT").message().contains(id(&key)));
}

#[tokio::test]
async fn an_invalid_key_is_not_found() {
    let world = World::new().await;
    for id in ["key_01h455vb4pex5vsknk084sn02q", "svc_01h455vb4pex5vsknk084sn02q", "x"] {
        world.admin().get(&path(id)).await.refused(404, "KEY_NOT_FOUND");
        set(&world, id, "active").await.refused(404, "KEY_NOT_FOUND");
        world.admin().delete(&path(id)).await.refused(404, "KEY_NOT_FOUND");
    }
}
