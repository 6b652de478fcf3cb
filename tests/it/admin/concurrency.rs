//! Concurrent changes by several administrators.

use std::collections::HashSet;

use axum::http::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use testkit::World;

#[tokio::test]
async fn one_of_several_parallel_changes_with_one_etag_succeeds() {
    let world = World::new().await;
    let path = format!("/admin/services/{}", world.service("billing").await);
    let world = std::sync::Arc::new(world);
    let mut changes = JoinSet::new();
    for number in 0..20 {
        let (world, path) = (world.clone(), path.clone());
        changes.spawn(async move {
            let admin = world.admin().with("if-match", "\"1\"");
            let body = json!({ "name": format!("name {number}") });
            admin.put(&path, body).await
        });
    }
    let answers = changes.join_all().await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    let lost = answers.iter().filter(|answer| answer.status == StatusCode::PRECONDITION_FAILED);
    assert_eq!((won.len(), lost.count()), (1, 19));
    let now = world.admin().get(&path).await.ok();
    assert_eq!(now.json(), won[0].json());
}

#[tokio::test]
async fn concurrently_created_policies_have_different_numbers() {
    let world = std::sync::Arc::new(World::new().await);
    let service = world.service("billing").await;
    let mut created = JoinSet::new();
    for _ in 0..20 {
        let (world, service) = (world.clone(), service.clone());
        created.spawn(async move { world.policy(&service).await });
    }
    let numbers: HashSet<String> = created.join_all().await.into_iter().collect();
    assert_eq!(numbers.len(), 20);
}

#[tokio::test]
async fn a_service_with_a_new_policy_is_never_deleted() {
    let world = std::sync::Arc::new(World::new().await);
    let mut races = JoinSet::new();
    for number in 0..20 {
        let world = world.clone();
        races.spawn(async move {
            let service = world.service(&format!("service {number}")).await;
            let path = format!("/admin/services/{service}");
            let body = json!({ "name": "n", "destinationServiceId": service,
                "allowedServiceIds": ["*"] });
            let admin = world.admin();
            let (deleted, created) =
                tokio::join!(admin.delete(&path), admin.post("/admin/policies", body));
            match (deleted.status.as_u16(), created.status.as_u16()) {
                (204, 400) => created.invalid(&[("destinationServiceId", "unknown")]),
                (409, 201) => {}
                other => panic!("{other:?}"),
            }
        });
    }
    races.join_all().await;
}
