//! `PATCH` on the resources of the management API.

use axum::http::Method;
use serde_json::{Value, json};

use testkit::World;

/// A resource of each type: its path and the names that it accepts.
async fn resources(world: &World) -> [String; 4] {
    let admin = world.admin();
    let service = world.service("billing").await;
    let policy = world.policy(&service).await;
    let key = json!({ "serviceId": service, "algorithm": "P-256", "generate": true });
    let key = admin.post("/admin/keys", key).await.created();
    let api_key = json!({ "name": "till", "type": "live", "serviceId": service });
    let api_key = admin.post("/admin/api-keys", api_key).await.created();
    [
        format!("/admin/services/{service}"),
        format!("/admin/policies/{policy}"),
        key.header("location").to_owned(),
        api_key.header("location").to_owned(),
    ]
}

#[tokio::test]
async fn a_patch_changes_the_members_that_it_contains() {
    let world = World::new().await;
    let admin = world.admin();
    for path in resources(&world).await {
        let mut expected = admin.get(&path).await.ok().json();
        let patched = admin.patch(&path, json!({ "name": "renamed" })).await.ok();
        expected["name"] = json!("renamed");
        expected["updatedAt"] = patched.json()["updatedAt"].clone();
        assert_eq!(patched.json(), expected, "{path}");
        let read = admin.get(&path).await.ok();
        assert_eq!(read.json(), expected, "{path}");
        assert_eq!(read.header("etag"), patched.header("etag"));
        // The whole resource can be sent back, and the empty patch changes nothing.
        let whole = admin.patch(&path, expected.clone()).await.ok();
        assert_eq!(whole.json(), expected, "{path}");
        let empty = admin.patch(&path, json!({})).await.ok();
        assert_eq!(empty.header("etag"), read.header("etag"));
        let outdated = admin.clone().with("if-match", "\"1\"");
        let outdated = outdated.patch(&path, json!({ "name": "again" })).await;
        outdated.refused(412, "PRECONDITION_FAILED");
    }
}

#[tokio::test]
async fn null_removes_nullable_members_only() {
    let world = World::new().await;
    let admin = world.admin();
    let [service, policy, key, api_key] = resources(&world).await;
    let later = "2099-01-01T00:00:00.000Z";
    for (path, member, value) in [
        (&service, "description", json!("words")),
        (&policy, "description", json!("words")),
        (&key, "expiresAt", json!(later)),
        (&api_key, "expiresAt", json!(later)),
        (&api_key, "allowedOperations", json!(["sign"])),
        (&api_key, "policyNumber", json!("POL-000001")),
    ] {
        let set = admin.patch(path, json!({ member: value })).await.ok();
        assert_eq!(set.json()[member], value, "{path}");
        let removed = admin.patch(path, json!({ member: null })).await.ok();
        assert_eq!(removed.json()[member], Value::Null, "{path}");
    }
    for (path, members) in [
        (&service, &["name", "tier", "rateLimit", "publishKeys", "id"][..]),
        (
            &policy,
            &[
                "policyNumber",
                "name",
                "destinationServiceId",
                "keyOwnership",
                "alg",
                "enc",
                "status",
                "failureMode",
                "allowedServiceIds",
                "allowedOperations",
                "contextRequired",
                "requireBinding",
                "createdAt",
            ],
        ),
        (&key, &["name", "status", "serviceId"]),
        (&api_key, &["name", "type", "hint"]),
    ] {
        let nulls = members.iter().map(|member| ((*member).to_owned(), Value::Null));
        let nulls = Value::Object(nulls.collect());
        let problems: Vec<_> = members.iter().map(|member| (*member, "type")).collect();
        admin.patch(path, nulls.clone()).await.invalid(&problems);
        // In PUT, null keeps the value.
        let before = admin.get(path).await.ok();
        let kept = admin.put(path, nulls).await.ok();
        assert_eq!(kept.json(), before.json(), "{path}");
        assert_eq!(kept.header("etag"), before.header("etag"));
    }
}

#[tokio::test]
async fn an_object_is_replaced_and_not_merged() {
    let world = World::new().await;
    let admin = world.admin();
    let limit = json!({ "requestsPerSecond": 7, "burst": 9 });
    let body = json!({ "name": "settlement", "tier": "enterprise", "rateLimit": limit });
    let made = admin.post("/admin/services", body).await.created();
    let path = made.header("location");
    let part = json!({ "rateLimit": { "burst": 10 } });
    let refused = admin.patch(path, part).await;
    refused.invalid(&[("rateLimit.requestsPerSecond", "required")]);
}

#[tokio::test]
async fn a_patch_takes_only_a_merge_patch() {
    let world = World::new().await;
    let admin = world.admin();
    let body = r#"{"name": "renamed"}"#;
    for path in resources(&world).await {
        for media in ["application/json", "application/json-patch+json", "text/plain"] {
            let refused = admin.send_as(media, Method::PATCH, &path, body).await;
            refused.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        let media = "application/merge-patch+json; charset=utf-8";
        admin.send_as(media, Method::PATCH, &path, body).await.ok();
        let refused = admin.send_as(media, Method::PUT, &path, body).await;
        refused.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        let list = admin.send_text(Method::PATCH, &path, "[]").await;
        list.invalid(&[("", "type")]);
        let fixed = admin.patch(&path, json!({ "id": "x", "nmae": 1 })).await;
        fixed.invalid(&[("id", "conflict"), ("nmae", "unknown")]);
    }
}
