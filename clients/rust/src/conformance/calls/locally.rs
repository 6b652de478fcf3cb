//! Calls that this process answers.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::super::outcome::Shown;
use super::Arguments;
use super::arguments::data;
use crate::{Client, Error};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    if name == "verifyLocally" {
        let service = with.text("serviceId").unwrap();
        let (payload, bytes) = with.data()?;
        let data = data(&payload, &bytes);
        let valid = client.verify_locally(service, data, &with.signature()).await?;
        return Ok(Shown::of(&valid, json!({ "valid": valid })));
    }
    let policy = with.text("policyNumber").unwrap();
    let envelope = client.seal_locally(policy, &with.payload()?).await?;
    let header = URL_SAFE_NO_PAD.decode(&envelope.protected).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    let names: Vec<_> = header.as_object().unwrap().keys().collect();
    let members = json!({ "jwe": envelope, "header": header, "headerNames": names });
    Ok(Shown::of(&envelope, members))
}
