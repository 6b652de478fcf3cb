//! Calls that make, open or move one envelope.

use serde_json::{Value, json};

use super::super::outcome::Shown;
use super::{Arguments, base64};
use crate::{Client, Error, Protection};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    let scope = with.scope();
    match name {
        "protect" => {
            let made = client.protect(&with.payload()?, &scope).await?;
            Ok(Shown::of(&made, json!({ "jwe": made.envelope, "requestId": made.request_id })))
        }
        "protectOrPass" => {
            let made = client.protect_or_pass(&with.payload()?, &scope).await?;
            Ok(Shown::of(&made, protection(&made)))
        }
        "rewrap" => {
            let (envelope, target) = (with.envelope(), with.target());
            let made = client.rewrap(with.sealed(envelope.as_ref()), &scope, &target).await?;
            Ok(Shown::of(&made, json!({ "jwe": made.envelope, "requestId": made.request_id })))
        }
        _ => {
            let envelope = with.envelope();
            let opened = client.unprotect(with.sealed(envelope.as_ref()), &scope).await?;
            let members = match name {
                "unprotectBytes" => json!({ "bytes": base64(&opened.payload.to_bytes()?) }),
                _ => {
                    json!({ "payloadJson": opened.payload.text(), "requestId": opened.request_id })
                }
            };
            Ok(Shown::of(&opened, members))
        }
    }
}

fn protection(made: &Protection) -> Value {
    match made {
        Protection::Protected(made) => json!({ "kind": "protected", "jwe": made.envelope }),
        Protection::PassedThrough { payload, warning, .. } => {
            json!({ "kind": "passedThrough", "payloadJson": payload.text(), "warning": warning })
        }
        Protection::Dropped { message, .. } => json!({ "kind": "dropped", "message": message }),
    }
}
