//! Calls with many items.

use serde_json::{Value, json};

use super::super::outcome::{Shown, described, printed};
use super::Arguments;
use crate::{Client, Error};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    let items = match with.0["repeat"].as_object() {
        Some(repeat) => {
            let count = usize::try_from(repeat["count"].as_u64().unwrap()).unwrap();
            vec![repeat["item"].clone(); count]
        }
        None => with.0["items"].as_array().unwrap().clone(),
    };
    let items: Vec<_> = items.iter().map(Arguments).collect();
    let scopes: Vec<_> = items.iter().map(|item| item.scope()).collect();
    let envelopes: Vec<_> = items.iter().map(|item| item.envelope()).collect();
    let sealed =
        items.iter().zip(&envelopes).map(|(item, envelope)| item.sealed(envelope.as_ref()));
    let results: Vec<Result<Value, Error>> = match name {
        "protectBatch" => {
            let payloads: Result<Vec<_>, _> = items.iter().map(|item| item.payload()).collect();
            let made = client.protect_batch(payloads?.iter().zip(&scopes)).await?.into_iter();
            made.map(|made| Ok(json!({ "jwe": made?.envelope }))).collect()
        }
        "unprotectBatch" => {
            let opened = client.unprotect_batch(sealed.zip(&scopes)).await?.into_iter();
            opened.map(|opened| Ok(json!({ "payloadJson": opened?.payload.text() }))).collect()
        }
        _ => {
            let targets: Vec<_> = items.iter().map(|item| item.target()).collect();
            let all = sealed.zip(&scopes).zip(&targets);
            let all = all.map(|((sealed, scope), target)| (sealed, scope, target));
            let made = client.rewrap_batch(all).await?.into_iter();
            made.map(|made| Ok(json!({ "jwe": made?.envelope }))).collect()
        }
    };
    let texts: Vec<_> = results.iter().filter_map(|it| it.as_ref().err()).map(printed).collect();
    let members = results.iter().map(|result| match result {
        Ok(members) => members.clone(),
        Err(error) => json!({ "error": described(error) }),
    });
    let members: Vec<_> = members.collect();
    Ok(Shown::of(&texts, json!({ "count": members.len(), "items": members })))
}
