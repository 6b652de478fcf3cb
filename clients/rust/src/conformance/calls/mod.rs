//! The calls of the cases, by subject.

mod arguments;
mod batches;
mod data_keys;
mod envelopes;
mod locally;
mod look_ups;
mod management;
mod operations;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use self::arguments::Arguments;
use super::outcome::Shown;
use crate::{Client, Error};

/// Performs a call with the members of `arguments`.
pub(super) async fn call(client: &Client, name: &str, arguments: &Value) -> Result<Shown, Error> {
    let mut client = client.clone();
    if let Some(id) = arguments["requestId"].as_str() {
        client = client.with_request_id(id);
    }
    if let Some(seconds) = arguments["deadlineSeconds"].as_f64() {
        client = client.with_deadline(Duration::from_secs_f64(seconds));
    }
    let with = Arguments(arguments);
    match name {
        "protect" | "protectOrPass" | "unprotect" | "unprotectBytes" | "rewrap" => {
            envelopes::call(&client, name, with).await
        }
        "protectBatch" | "unprotectBatch" | "rewrapBatch" => {
            batches::call(&client, name, with).await
        }
        "dataKey" | "cachedDataKey" | "openDataKey" | "dataKeyCacheCounters" => {
            data_keys::call(&client, name, with).await
        }
        "encrypt" | "decrypt" | "decryptBytes" | "sign" | "verify" | "hash" => {
            operations::call(&client, name, with).await
        }
        "caller" | "policy" | "health" | "jwks" => look_ups::call(&client, name, with).await,
        "sealLocally" | "verifyLocally" => locally::call(&client, name, with).await,
        _ => management::call(&client, name, with).await,
    }
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
