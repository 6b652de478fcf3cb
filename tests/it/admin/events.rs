//! `/admin/audit/management`.

use serde_json::{Value, json};

use testkit::World;

#[tokio::test]
async fn every_change_is_recorded_with_before_and_after() {
    let world = World::new().await;
    let admin = world.admin();
    let named = admin.clone().with("x-request-id", "ticket 17");
    let created = named.post("/admin/services", json!({ "name": "billing" }));
    let created = created.await.created();
    let path = created.header("location");
    let renamed = admin.put(path, json!({ "name": "payments" })).await.ok();
    admin.put(path, json!({ "name": "payments" })).await.ok();
    admin.delete(path).await.gone();

    let id = created.text("id");
    let list = format!("/admin/audit/management?resourceId={id}");
    let list = admin.get(&list).await.ok().json();
    let events = list["items"].as_array().unwrap();
    let listed: Vec<(&Value, &Value, &Value)> =
        events.iter().map(|event| (&event["action"], &event["before"], &event["after"])).collect();
    let (first, second) = (created.json(), renamed.json());
    assert_eq!(
        listed,
        [
            (&json!("delete"), &second, &Value::Null),
            (&json!("update"), &first, &second),
            (&json!("create"), &Value::Null, &first),
        ],
        "newest first, without an event for a request that changes nothing"
    );
    let create = &events[2];
    assert_eq!(create["request_id"], json!("ticket 17"));
    assert_eq!(create["actor"], json!("first"));
    assert_eq!(create["client_address"], json!("127.0.0.1"));
    assert_eq!(create["resource_type"], json!("service"));
    assert_eq!(create["resource_id"], json!(id));
    assert!(create["api_key_id"].as_str().unwrap().starts_with("ak_"));
}

#[tokio::test]
async fn a_refused_change_leaves_no_event() {
    let world = World::new().await;
    let admin = world.admin();
    world.service("billing").await;
    let count = async || {
        let list = admin.get("/admin/audit/management?limit=200").await.ok();
        list.json()["items"].as_array().unwrap().len()
    };
    let before = count().await;
    let taken = admin.post("/admin/services", json!({ "name": "billing" }));
    taken.await.refused(409, "CONFLICT");
    admin.post("/admin/services", json!({})).await.refused(400, "INVALID_REQUEST");
    assert_eq!(count().await, before);
}

#[tokio::test]
async fn events_are_filtered_and_paged() {
    let world = World::new().await;
    let admin = world.admin();
    let application = world.application("billing").await;
    world.policy(application.service.as_ref().unwrap()).await;
    world.revoke(&application).await;
    let actions = async |query: &str| {
        let list = format!("/admin/audit/management?{query}");
        let list = admin.get(&list).await.ok().json();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|event| {
                let part = |name: &str| event[name].as_str().unwrap().to_owned();
                format!("{} {}", part("action"), part("resource_type"))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(actions("action=revoke").await, ["revoke api_key"]);
    assert_eq!(actions("resourceType=policy").await, ["create policy"]);
    assert_eq!(actions("to=2020-01-01T00:00:00Z").await, [""; 0]);
    // The list itself is recorded before it is read.
    assert_eq!(actions("limit=1").await, ["read audit_log"]);
    let first = admin.get("/admin/audit/management?resourceType=service&limit=1");
    let first = first.await.ok();
    assert_eq!(first.json()["nextCursor"], Value::Null);
    let first = admin.get("/admin/audit/management?resourceType=api_key&limit=1");
    let rest = first.await.ok().text("nextCursor");
    let rest = format!("resourceType=api_key&cursor={rest}");
    assert_eq!(actions(&rest).await, ["create api_key", "create api_key"]);
    let refused = admin.get("/admin/audit/management?from=yesterday&resourceId=x");
    refused.await.invalid(&[("from", "format"), ("resourceId", "format")]);
}

#[tokio::test]
async fn an_exported_file_contains_the_whole_selection() {
    const EVENTS: &str = "/admin/audit/management";
    let world = World::new().await;
    for name in ["one", "two", "three"] {
        world.service(name).await;
    }
    let listed = async |query: &str| {
        let page = world.admin().get(&format!("{EVENTS}{query}")).await.ok();
        page.json()["items"].as_array().unwrap().clone()
    };
    let download = async |media: &str, query: &str| {
        let admin = world.admin().with("accept", media);
        admin.get(&format!("{EVENTS}{query}")).await.ok()
    };
    let query = "?action=create&resourceType=service";
    let listed = listed(query).await;
    assert_eq!(listed.len(), 3);
    let file = download("application/x-ndjson", &format!("{query}&limit=1")).await;
    assert_eq!(file.header("content-type"), "application/x-ndjson");
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"management.ndjson\"");
    let lines = file.body.lines().map(serde_json::from_str);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
    assert_eq!(lines, listed);

    let file = download("text/csv", query).await;
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<_> = file.body.split_terminator("\r\n").collect();
    let members: Vec<_> = listed[0].as_object().unwrap().keys().collect();
    let columns: Vec<_> = lines[0].split(',').collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(columns.len(), members.len());
    assert!(columns.iter().all(|column| members.iter().any(|it| it == column)));
    assert!(lines[1].contains(r#"""name"":""three"""#), "{}", lines[1]);

    let admin = world.admin().with("accept", "text/csv");
    let refused = admin.get(&format!("{EVENTS}?limit=many&actoin=create")).await;
    refused.invalid(&[("limit", "format"), ("actoin", "unknown")]);
}
