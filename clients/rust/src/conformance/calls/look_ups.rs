//! Look-ups.

use serde_json::json;

use super::super::outcome::Shown;
use super::Arguments;
use crate::{Client, Error};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    match name {
        "caller" => {
            let caller = client.caller().await?;
            let members = json!({
                "serviceId": caller.service_id,
                "credential": { "type": caller.credential.kind, "id": caller.credential.id },
                "policyNumber": caller.policy_number,
                "allowedOperations": caller.allowed_operations,
                "rateLimit": caller.rate_limit,
            });
            Ok(Shown::of(&caller, members))
        }
        "policy" => {
            let policy = client.policy(with.text("policyNumber").unwrap()).await?;
            let members = json!({
                "id": policy.id, "status": policy.status, "alg": policy.alg, "key": policy.key,
            });
            Ok(Shown::of(&policy, members))
        }
        "health" => {
            let health = client.health().await?;
            let members = json!({ "status": health.status, "version": health.version });
            Ok(Shown::of(&health, members))
        }
        _ => {
            let keys = client.jwks(with.text("serviceId").unwrap()).await?;
            Ok(Shown::of(&keys, json!({ "keys": keys.keys })))
        }
    }
}
