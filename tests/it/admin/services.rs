//! `/admin/services`.

use formats::clock::Timestamp;
use serde_json::json;

use crate::openapi::{new_resource, operations};
use testkit::World;

#[tokio::test]
async fn a_service_is_created_with_defaults_and_read_back() {
    let world = World::new().await;
    let admin = world.admin();
    let created = admin.post("/admin/services", json!({ "name": "billing" })).await.created();
    let expected = json!({
        "id": created.json()["id"],
        "name": "billing",
        "description": null,
        "status": "active",
        "tier": "standard",
        "rateLimit": { "requestsPerSecond": 100, "burst": 200 },
        "publishKeys": false,
        "createdAt": created.json()["createdAt"],
        "updatedAt": created.json()["createdAt"],
    });
    assert_eq!(created.json(), expected);
    assert!(created.text("id").starts_with("svc_"));
    let time: Timestamp = created.text("createdAt").parse().unwrap();
    assert_eq!(time.to_string(), created.text("createdAt"), "an RFC 3339 time in milliseconds");
    assert_eq!(created.header("etag"), "\"1\"");
    let read = admin.get(created.header("location")).await.ok();
    assert_eq!(read.json(), created.json());
    assert_eq!(read.header("etag"), "\"1\"");
}

#[tokio::test]
async fn all_errors_of_a_body_are_reported_at_once() {
    let world = World::new().await;
    let admin = world.admin();
    let body = json!({ "name": "", "tier": "gold", "publishKeys": 1, "colour": "red" });
    admin.post("/admin/services", body).await.invalid(&[
        ("name", "length"),
        ("tier", "unsupported"),
        ("publishKeys", "type"),
        ("colour", "unknown"),
    ]);
    let refused = admin.post("/admin/services", json!({ "name": "a\0b" }));
    refused.await.invalid(&[("name", "format")]);
    let refused = admin.post("/admin/services", json!({}));
    refused.await.invalid(&[("name", "required")]);
}

#[tokio::test]
async fn a_name_is_unique() {
    let world = World::new().await;
    let billing = world.service("billing").await;
    let again = json!({ "name": "billing" });
    let admin = world.admin();
    let refused = admin.post("/admin/services", again.clone()).await;
    refused.refused(409, "CONFLICT");
    let other = world.service("other").await;
    let other = format!("/admin/services/{other}");
    let refused = admin.put(&other, again.clone()).await;
    refused.refused(409, "CONFLICT");
    admin.delete(&format!("/admin/services/{billing}")).await.gone();
    admin.post("/admin/services", again).await.created();
}

#[tokio::test]
async fn a_response_can_be_put_back_and_absent_members_stay() {
    let world = World::new().await;
    let admin = world.admin();
    let whole = json!({
        "name": "billing", "description": "pays", "tier": "enterprise", "publishKeys": true,
        "rateLimit": { "requestsPerSecond": 7, "burst": 9 },
    });
    let created = admin.post("/admin/services", whole).await.created();
    let path = created.header("location");

    let same = admin.put(path, created.json()).await.ok();
    assert_eq!(same.json(), created.json());
    assert_eq!(same.header("etag"), "\"1\"", "nothing changed");

    let changed = admin.put(path, json!({ "description": null })).await.ok();
    assert_eq!(changed.header("etag"), "\"2\"");
    let mut expected = created.json();
    expected["description"] = json!(null);
    expected["updatedAt"] = changed.json()["updatedAt"].clone();
    assert_eq!(changed.json(), expected);

    let mut lower = changed.json();
    lower["tier"] = json!("standard");
    let lower = admin.put(path, lower).await.ok().json();
    let standard = json!({ "requestsPerSecond": 100, "burst": 200 });
    assert_eq!(lower["rateLimit"], standard);
}

#[tokio::test]
async fn read_only_members_cannot_be_set() {
    let world = World::new().await;
    let admin = world.admin();
    let created = admin.post("/admin/services", json!({ "name": "billing" }));
    let created = created.await.created();
    let body =
        json!({ "id": "svc_01h455vb4pex5vsknk084sn02q", "createdAt": "2020-01-01T00:00:00.000Z" });
    let refused = admin.put(created.header("location"), body).await;
    refused.invalid(&[("id", "conflict"), ("createdAt", "conflict")]);
    let refused = admin.post("/admin/services", created.json()).await;
    refused.invalid(&[("id", "unknown"), ("createdAt", "unknown"), ("updatedAt", "unknown")]);
}

/// Clients write times with another precision or another offset than the response.
#[tokio::test]
async fn a_read_only_time_can_be_written_in_another_way() {
    let world = World::new().await;
    let admin = world.admin();
    let created = admin.post("/admin/services", json!({ "name": "billing" }));
    let created = created.await.created();
    let path = created.header("location");
    let time = created.text("createdAt").to_owned();
    let start = time.strip_suffix('Z').expect("UTC");
    for same in [format!("{start}000Z"), format!("{start}+00:00")] {
        let body = json!({ "createdAt": same });
        admin.put(path, body).await.ok();
    }
    let other = format!("{start}+01:00");
    let refused = admin.put(path, json!({ "createdAt": other })).await;
    refused.invalid(&[("createdAt", "conflict")]);
}

#[tokio::test]
async fn an_outdated_etag_changes_nothing() {
    let world = World::new().await;
    let path = format!("/admin/services/{}", world.service("billing").await);
    let admin = world.admin();
    let stale = admin.clone().with("if-match", "\"7\"");
    let refused = stale.put(&path, json!({ "name": "other" })).await;
    refused.refused(412, "PRECONDITION_FAILED");
    stale.delete(&path).await.refused(412, "PRECONDITION_FAILED");
    let fitting = admin.clone().with("if-match", "\"9\", \"1\"");
    fitting.put(&path, json!({ "name": "other" })).await.ok();
    let any = admin.with("if-match", "*");
    any.delete(&path).await.gone();
}

#[tokio::test]
async fn referenced_services_cannot_be_deleted() {
    let world = World::new().await;
    let admin = world.admin();
    let application = world.application("billing").await;
    let service = application.service.clone().unwrap();
    let number = world.policy(&service).await;
    let path = format!("/admin/services/{service}");
    let refused = admin.delete(&path).await.refused(409, "CONFLICT");
    let message = refused.message();
    assert!(message.contains(&number), "{message}");
    assert!(message.contains("API key \"billing\" (ak_"), "{message}");

    admin.delete(&format!("/admin/policies/{number}")).await.gone();
    world.revoke(&application).await;
    admin.delete(&path).await.gone();
    admin.get(&path).await.refused(404, "SERVICE_NOT_FOUND");
    admin.delete(&path).await.refused(404, "SERVICE_NOT_FOUND");
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_while_services_come_and_go() {
    let world = World::new().await;
    let admin = world.admin();
    let mut names = Vec::new();
    for number in 0..7 {
        names.push(format!("service {number}"));
        world.service(&names[number]).await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/admin/services?limit=3{cursor}");
        let page = admin.get(&path).await.ok().json();
        let items = page["items"].as_array().unwrap().clone();
        assert!(items.len() <= 3);
        seen.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        // Deletes a listed service and creates another.
        let gone = format!("/admin/services/{}", items[0]["id"].as_str().unwrap());
        admin.delete(&gone).await.gone();
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    seen.sort_unstable();
    names.sort_unstable();
    assert_eq!(seen, names);
}

#[tokio::test]
async fn a_list_is_filtered_by_name_and_refuses_unknown_parameters() {
    let world = World::new().await;
    let admin = world.admin();
    for name in ["Billing", "billing (old)", "100%_sure"] {
        world.service(name).await;
    }
    let count = async |query: &str| {
        let list = admin.get(&format!("/admin/services?{query}")).await.ok();
        list.json()["items"].as_array().unwrap().len()
    };
    assert_eq!(count("nameContains=BILLING").await, 2);
    assert_eq!(count("nameContains=%25_").await, 1);
    assert_eq!(count("nameContains=nothing").await, 0);
    assert_eq!(count("name=Billing").await, 1);
    assert_eq!(count("name=billing").await, 0);
    assert_eq!(count("name=100%25_sure&nameContains=SURE").await, 1);
    let refused = admin.get("/admin/services?nmae=x&limit=201&cursor=x&name=%00");
    refused.await.invalid(&[
        ("nmae", "unknown"),
        ("limit", "range"),
        ("cursor", "format"),
        ("name", "format"),
    ]);
}

#[tokio::test]
async fn an_invalid_id_is_not_found() {
    let world = World::new().await;
    let admin = world.admin();
    for id in [
        "svc_01h455vb4pex5vsknk084sn02q",
        "pol_01h455vb4pex5vsknk084sn02q",
        "x",
        "%00",
        "%ff",
        "svc_01H455VB4PEX5VSKNK084SN02Q",
    ] {
        let answer = admin.get(&format!("/admin/services/{id}")).await;
        answer.refused(404, "SERVICE_NOT_FOUND");
    }
}

#[tokio::test]
async fn names_have_no_hidden_characters() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let bad = "a\u{202e}b";
    let policy = |name: &str, description: &str| {
        json!({ "name": name, "description": description, "destinationServiceId": service,
            "allowedServiceIds": ["*"] })
    };
    for (path, body) in [
        ("/admin/services", json!({ "name": bad })),
        ("/admin/services", json!({ "name": "a\u{200b}b" })),
        ("/admin/policies", policy(bad, "d")),
        ("/admin/api-keys", json!({ "name": bad, "type": "admin" })),
        ("/admin/keys", json!({ "name": bad, "serviceId": service, "generate": true })),
        ("/admin/policies", policy("two\nlines", "d")),
        ("/admin/policies", policy("tab\t", "d")),
    ] {
        let refused = admin.post(path, body).await;
        refused.invalid(&[("name", "format")]);
    }
    for description in ["\u{2066}", "\r", "\u{85}"] {
        let refused = admin.post("/admin/policies", policy("n", description)).await;
        refused.invalid(&[("description", "format")]);
    }
    let body = policy("n", "two\n\tlines");
    let created = admin.post("/admin/policies", body).await.created();

    let policy = format!("/admin/policies/{}", created.text("id"));
    let key = format!("/admin/keys/{}", world.key(&service, "enc", "P-256").await);
    for path in [&policy, &key] {
        let refused = admin.put(path, json!({ "name": bad })).await;
        refused.invalid(&[("name", "format")]);
    }
}

#[tokio::test]
async fn a_service_stays_while_any_resource_refers_to_it() {
    let world = World::new().await;
    let admin = world.admin();
    let (destination, _) = world.bound_application().await;
    let mut refused = 0;
    for (_, list, _) in operations().filter(|(method, ..)| method == "POST") {
        let name = list.replace('/', " ");
        let service = admin.post("/admin/services", json!({ "name": name })).await.created();
        let service = service.text("id");
        let new = new_resource(list, &service, &destination.policy);
        let Some(new) = new.filter(|new| new.to_string().contains(&service)) else {
            continue;
        };
        admin.post(list, new).await.created();
        let deleted = admin.delete(&format!("/admin/services/{service}")).await;
        deleted.refused(409, "CONFLICT");
        refused += 1;
    }
    assert!(refused >= 4, "{refused}");
}
