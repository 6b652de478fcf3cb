//! Calls of the management API.

use serde_json::{Value, json};

use super::super::outcome::Shown;
use super::Arguments;
use crate::admin::{AuditFilter, NewApiKey, NewService, Outcome, ServiceChanges, ServiceFilter};
use crate::{Client, Error};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    let services = client.admin().services();
    match name {
        "listServices" => {
            let name_contains = with.text("nameContains").map(Into::into);
            let limit = with.0["limit"].as_u64().map(|limit| u32::try_from(limit).unwrap());
            let filter = ServiceFilter { name_contains, limit, ..ServiceFilter::default() };
            let all = services.list(&filter).all().await?;
            let ids: Vec<_> = all.iter().map(|service| &service.id).collect();
            Ok(Shown::of(&all, json!({ "ids": ids })))
        }
        "exportAudit" => {
            let operation_type = with.text("operationType").map(Into::into);
            let request_id = with.text("requestId").map(Into::into);
            let filter = AuditFilter { operation_type, request_id, ..AuditFilter::default() };
            let mut export = client.admin().audit().export(&filter).await?;
            let mut ids = Vec::new();
            while let Some(record) = export.next().await? {
                ids.push(record.id);
            }
            Ok(Shown::of(&export, json!({ "ids": ids })))
        }
        "createService" => {
            let name = with.text("name").unwrap().to_owned();
            let made = services.create(&NewService { name, ..NewService::default() }).await?;
            Ok(Shown::of(&made, outcome(&made, |stored| Some(&stored.resource.id))))
        }
        "createApiKey" => {
            let new = NewApiKey {
                name: with.text("name").unwrap().to_owned(),
                r#type: with.text("type").unwrap().into(),
                service_id: with.text("serviceId").map(Into::into),
                ..NewApiKey::default()
            };
            let made = client.admin().api_keys().create(&new).await?;
            Ok(Shown::of(&made, outcome(&made, |stored| Some(&stored.resource.api_key.id))))
        }
        "updateService" => {
            let given = &with.0["changes"];
            let description = given.get("description");
            let changes = ServiceChanges {
                description: description.map(|text| text.as_str().map(ToOwned::to_owned)),
                publish_keys: given["publishKeys"].as_bool(),
                ..ServiceChanges::default()
            };
            let id = with.text("id").unwrap();
            let made = services.update(id, &changes, with.text("ifMatch")).await?;
            Ok(Shown::of(&made, outcome(&made, |stored| Some(&stored.resource.id))))
        }
        "deleteService" => {
            let made = services.delete(with.text("id").unwrap(), with.text("ifMatch")).await?;
            Ok(Shown::of(&made, outcome(&made, |()| None)))
        }
        other => panic!("an unknown call: {other}"),
    }
}

fn outcome<T>(made: &Outcome<T>, id: impl Fn(&T) -> Option<&String>) -> Value {
    match made {
        Outcome::Done(done) => json!({ "kind": "done", "id": id(done) }),
        Outcome::Pending(change) => json!({ "kind": "pending", "id": change.id }),
    }
}
