//! The management API.

use engine::settings::Admin;
use formats::clock::Clock;
use sealward_client::admin::{
    ApiKeyFilter, ApiKeyType, AuditFilter, ChangeFilter, ChangeStatus, FailureMode, KeyAlgorithm,
    KeyStatus, ManagementFilter, NewApiKey, NewKey, NewPolicy, NewService, PolicyChanges,
    PolicyFilter, ServiceChanges, ServiceFilter, ServiceStatus,
};
use sealward_client::{Client, ErrorKind, Outcome, Payload, Scope};
use testkit::World;

use super::Served;

async fn service(admin: &Client, name: &str) -> String {
    let new = NewService { name: name.to_owned(), ..NewService::default() };
    let created = admin.admin().services().create(&new).await.unwrap();
    created.done().unwrap().resource.id
}

fn policy_for(service: &str) -> NewPolicy {
    NewPolicy {
        name: "payments".to_owned(),
        destination_service_id: service.to_owned(),
        allowed_service_ids: vec!["*".to_owned()],
        policy_number: Some("PAYMENTS".to_owned()),
        ..NewPolicy::default()
    }
}

#[tokio::test]
async fn an_administrator_prepares_a_service() {
    let served = Served::new().await;
    let admin = served.admin();
    let shop = service(&admin, "shop").await;
    let key = NewKey {
        service_id: shop.clone(),
        algorithm: Some(KeyAlgorithm::P256),
        generate: Some(true),
        ..NewKey::default()
    };
    let key = admin.admin().keys().create(&key).await.unwrap().done().unwrap().resource;
    assert_eq!((key.status, key.has_private), (KeyStatus::Active, true));
    let policy = NewPolicy {
        alg: Some("ECDH-ES+A256KW".into()),
        failure_mode: Some(FailureMode::Error),
        ..policy_for(&shop)
    };
    assert!(matches!(admin.admin().policies().create(&policy).await, Ok(Outcome::Done(_))));
    let new = NewApiKey {
        name: "till".to_owned(),
        r#type: ApiKeyType::Live,
        service_id: Some(shop.clone()),
        policy_number: Some("PAYMENTS".to_owned()),
        ..NewApiKey::default()
    };
    let created = admin.admin().api_keys().create(&new).await.unwrap().done().unwrap().resource;
    let secret = created.secret.unwrap();
    assert!(!format!("{secret:?}").contains(secret.expose()));

    let till = served.client(secret.expose());
    assert!(till.protect(&Payload::json(&1).unwrap(), &Scope::new()).await.is_ok());
    let _ = admin.admin().api_keys().delete(&created.api_key.id, None).await.unwrap();
    let refused = till.protect(&Payload::json(&1).unwrap(), &Scope::new()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AuthenticationFailed);
    let filter = ApiKeyFilter { service_id: Some(shop), ..ApiKeyFilter::default() };
    let keys = admin.admin().api_keys().list(&filter).all().await.unwrap();
    assert_eq!(keys.len(), 1);
}

#[tokio::test]
async fn a_resource_is_changed_only_in_the_state_that_was_read() {
    let served = Served::new().await;
    let admin = served.admin();
    let id = service(&admin, "shop").await;
    let services = admin.admin().services();
    let read = services.get(&id).await.unwrap();
    let description = |text: &str| ServiceChanges {
        description: Some(Some(text.to_owned())),
        ..ServiceChanges::default()
    };
    let etag = read.etag.as_deref();
    let changed = services.update(&id, &description("first"), etag).await.unwrap();
    let changed = changed.done().unwrap();
    assert_eq!(changed.resource.description.as_deref(), Some("first"));
    let error = services.update(&id, &description("second"), etag).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);

    let mut edited = changed.resource;
    edited.description = None;
    edited.status = ServiceStatus::Frozen;
    let replaced = services.replace(&id, &edited, changed.etag.as_deref()).await.unwrap();
    assert_eq!(replaced.done().unwrap().resource.status, ServiceStatus::Frozen);
    assert!(matches!(services.delete(&id, None).await, Ok(Outcome::Done(()))));
    assert_eq!(services.get(&id).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let served = Served::new().await;
    let admin = served.admin();
    for number in 0..5 {
        service(&admin, &format!("shop & {number}")).await;
    }
    let filter = ServiceFilter {
        limit: Some(2),
        name_contains: Some("shop & ".to_owned()),
        ..ServiceFilter::default()
    };
    let mut list = admin.admin().services().list(&filter);
    let mut names = Vec::new();
    while let Some(service) = list.next().await.unwrap() {
        names.push(service.name);
    }
    assert_eq!(names, ["shop & 0", "shop & 1", "shop & 2", "shop & 3", "shop & 4"]);
}

#[tokio::test]
async fn a_pending_change_is_a_result_of_its_own() {
    let world = World::with_admin_and_approvals(Clock::system(), Admin::default()).await;
    let served = Served::of(world).await;
    let admin = served.admin();
    let shop = service(&admin, "shop").await;
    let created = admin.admin().policies().create(&policy_for(&shop)).await.unwrap();
    let Outcome::Pending(change) = created else { panic!("{created:?}") };
    assert_eq!(change.status, ChangeStatus::Pending);
    let changes = admin.admin().changes();
    let listed = changes.list(&ChangeFilter::default()).all().await.unwrap();
    assert_eq!(listed.len(), 1);
    let error = changes.approve(&change.id, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAllowed, "a credential without a person");
    changes.withdraw(&change.id).await.unwrap();
    let read = changes.get(&change.id).await.unwrap().resource;
    assert_eq!(read.status, ChangeStatus::Withdrawn);
}

#[tokio::test]
async fn a_deleted_policy_is_restored() {
    let served = Served::new().await;
    let admin = served.admin();
    let shop = service(&admin, "shop").await;
    let policies = admin.admin().policies();
    let created = policies.create(&policy_for(&shop)).await.unwrap().done().unwrap().resource;
    let _ = policies.delete("PAYMENTS", None).await.unwrap();
    let filter = PolicyFilter { deleted: Some(true), ..PolicyFilter::default() };
    assert_eq!(policies.list(&filter).all().await.unwrap().len(), 1);
    let changes = PolicyChanges { policy_number: Some("AGAIN".to_owned()), ..Default::default() };
    let restored = policies.restore(&created.id, &changes).await.unwrap().done().unwrap();
    assert_eq!(restored.resource.policy_number, "AGAIN");
}

#[tokio::test]
async fn everything_is_frozen_and_goes_on() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let admin = served.admin();
    let emergency = admin.admin().emergency();
    emergency.freeze("a stolen laptop").await.unwrap();
    let refused = client.protect(&Payload::json(&1).unwrap(), &Scope::new()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Frozen);
    assert_eq!(emergency.get().await.unwrap().resource.status, ServiceStatus::Frozen);
    assert!(matches!(emergency.unfreeze(None).await, Ok(Outcome::Done(_))));
    assert!(client.protect(&Payload::json(&1).unwrap(), &Scope::new()).await.is_ok());
}

#[tokio::test]
async fn records_are_exported_line_by_line() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    for number in 0..20 {
        client.protect(&Payload::json(&number).unwrap(), &Scope::new()).await.unwrap();
    }
    let admin = served.admin();
    let audit = admin.admin().audit();
    let filter = AuditFilter { operation_type: Some("encrypt".to_owned()), ..Default::default() };
    let mut export = audit.export(&filter).await.unwrap();
    let mut outcomes = Vec::new();
    while let Some(record) = export.next().await.unwrap() {
        outcomes.push(record.outcome);
    }
    assert_eq!(outcomes, vec!["done"; 20]);
    let mut events = audit.export_events(&ManagementFilter::default()).await.unwrap();
    assert!(events.next().await.unwrap().is_some());
}
