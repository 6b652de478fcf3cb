//! Data keys and their cache.

use serde_json::json;

use super::super::outcome::Shown;
use super::{Arguments, base64};
use crate::{Client, Error};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    let scope = with.scope();
    match name {
        "dataKey" => {
            let algorithm = with.text("algorithm").map(Into::into);
            let made = match (with.0["plaintext"].as_bool(), algorithm) {
                (Some(false), algorithm) => client.data_key_envelope(algorithm, &scope).await?,
                (_, Some(algorithm)) => client.data_key_of(algorithm, &scope).await?,
                _ => client.data_key(&scope).await?,
            };
            let members = json!({
                "key": made.key().map(base64), "algorithm": made.algorithm, "jwe": made.envelope,
            });
            Ok(Shown::of(&made, members))
        }
        "cachedDataKey" => {
            let bytes = with.0["bytes"].as_u64().unwrap_or_default();
            let key = client.cached_data_key(bytes, &scope).await?;
            let members = json!({ "jwe": key.envelope(), "key": base64(key.key()) });
            Ok(Shown::of(&key, members))
        }
        "openDataKey" => {
            let envelope = with.envelope().expect("an envelope");
            let key = client.open_data_key(&envelope, &scope).await?;
            Ok(Shown::of(&key, json!({ "key": base64(key.key()) })))
        }
        _ => {
            let counters = client.data_key_counters();
            let members = json!({ "hits": counters.hits, "misses": counters.misses });
            Ok(Shown::of(&counters, members))
        }
    }
}
