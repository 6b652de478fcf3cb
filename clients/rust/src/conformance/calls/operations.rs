//! Operations with an algorithm that the caller chooses.

use serde_json::json;

use super::super::outcome::Shown;
use super::arguments::data;
use super::{Arguments, base64};
use crate::{Ciphertext, Client, Encrypt, Error, Sign};

pub(super) async fn call(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
    match name {
        "encrypt" => {
            let how = Encrypt {
                algorithm: with.text("algorithm").map(Into::into),
                key_id: with.text("keyId").map(Into::into),
                aad: with.bytes("aad"),
            };
            let (payload, bytes) = with.data()?;
            let made = client.encrypt(data(&payload, &bytes), &how).await?;
            Ok(Shown::of(&made, serde_json::to_value(&made).unwrap()))
        }
        "decrypt" | "decryptBytes" => {
            let aad = with.bytes("aad");
            let mut members = with.0.clone();
            members.as_object_mut().unwrap().remove("aad");
            let encrypted: Ciphertext = serde_json::from_value(members).unwrap();
            if name == "decrypt" {
                let opened = client.decrypt(&encrypted, aad.as_deref()).await?;
                return Ok(Shown::of(&opened, json!({ "dataJson": opened.text() })));
            }
            let opened = client.decrypt_bytes(&encrypted, aad.as_deref()).await?;
            Ok(Shown::of(&(), json!({ "bytes": base64(&opened) })))
        }
        "sign" => {
            let how = Sign {
                key_id: with.text("keyId").map(Into::into),
                prehashed: with.0["prehashed"] == true,
                format: with.text("signatureFormat").map(Into::into),
                ..Sign::with(with.text("algorithm").unwrap().into())
            };
            let (payload, bytes) = with.data()?;
            let made = client.sign(data(&payload, &bytes), &how).await?;
            let members = json!({
                "signature": base64(&made.signature), "algorithm": made.algorithm, "keyId": made.key_id,
            });
            Ok(Shown::of(&made, members))
        }
        "verify" => {
            let (payload, bytes) = with.data()?;
            let valid = client.verify(data(&payload, &bytes), &with.signature()).await?;
            Ok(Shown::of(&valid, json!({ "valid": valid })))
        }
        _ => {
            let (payload, bytes) = with.data()?;
            let algorithm = with.text("algorithm").unwrap().into();
            let made = client.hash(data(&payload, &bytes), &algorithm).await?;
            let members = json!({ "hash": base64(&made.hash), "algorithm": made.algorithm });
            Ok(Shown::of(&made, members))
        }
    }
}
