//! The calls of the cases.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::outcome::{Shown, described, printed};
use crate::admin::{AuditFilter, NewApiKey, NewService, Outcome, ServiceChanges, ServiceFilter};
use crate::{
    Ciphertext, Client, Context, Data, Encrypt, Envelope, Error, Payload, Protection, Scope,
    Sealed, Sign, Signature, Target,
};

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
            envelopes(&client, name, with).await
        }
        "protectBatch" | "unprotectBatch" | "rewrapBatch" => batches(&client, name, with).await,
        "dataKey" | "cachedDataKey" | "openDataKey" | "dataKeyCacheCounters" => {
            data_keys(&client, name, with).await
        }
        "encrypt" | "decrypt" | "decryptBytes" | "sign" | "verify" | "hash" => {
            operations(&client, name, with).await
        }
        "caller" | "policy" | "health" | "jwks" => look_ups(&client, name, with).await,
        "sealLocally" | "verifyLocally" => locally(&client, name, with).await,
        _ => management(&client, name, with).await,
    }
}

async fn envelopes(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn batches(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn data_keys(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn operations(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn look_ups(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn locally(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

async fn management(client: &Client, name: &str, with: Arguments<'_>) -> Result<Shown, Error> {
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

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn data<'a>(payload: &'a Option<Payload>, bytes: &'a Option<Vec<u8>>) -> Data<'a> {
    match (payload, bytes) {
        (Some(payload), _) => Data::Json(payload),
        (None, Some(bytes)) => Data::Bytes(bytes),
        (None, None) => panic!("no data"),
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        self.0[name].as_str()
    }

    fn bytes(self, name: &str) -> Option<Vec<u8>> {
        self.text(name).map(|text| STANDARD.decode(text).unwrap())
    }

    fn context(self, name: &str) -> Option<Context> {
        let members = self.0[name].as_object()?.iter();
        Some(members.map(|(name, value)| (name, value.as_str().unwrap())).collect())
    }

    fn scope(self) -> Scope {
        let scope = self.text("policyNumber").map_or_else(Scope::new, |it| Scope::new().policy(it));
        match self.context("context") {
            Some(context) => scope.context(context),
            None => scope,
        }
    }

    fn target(self) -> Target {
        let target =
            self.text("toPolicyNumber").map_or_else(Target::new, |it| Target::new().policy(it));
        match self.context("toContext") {
            Some(context) => target.context(context),
            None => target,
        }
    }

    fn payload(self) -> Result<Payload, Error> {
        self.value("payload")
    }

    fn value(self, name: &str) -> Result<Payload, Error> {
        if let Some(text) = self.text(&format!("{name}Json")) {
            return Payload::raw(text);
        }
        if let Some(bytes) = self.bytes(&format!("{name}Bytes")) {
            return Ok(Payload::bytes(&bytes));
        }
        if let Some(length) = self.0[format!("{name}OfLength")].as_u64() {
            return Payload::json(&"x".repeat(usize::try_from(length).unwrap()));
        }
        Payload::json(&self.0[name])
    }

    /// The data of an operation: a JSON value or bytes.
    fn data(self) -> Result<(Option<Payload>, Option<Vec<u8>>), Error> {
        match self.bytes("dataBytes") {
            Some(bytes) => Ok((None, Some(bytes))),
            None => Ok((Some(self.value("data")?), None)),
        }
    }

    fn signature(self) -> Signature {
        Signature {
            signature: self.bytes("signature").unwrap(),
            algorithm: self.text("algorithm").unwrap().into(),
            key_id: self.text("keyId").unwrap().to_owned(),
            prehashed: self.0["prehashed"] == true,
            format: self.text("signatureFormat").map(Into::into),
        }
    }

    fn envelope(self) -> Option<Envelope> {
        let text = self.0.get("jwe")?;
        Some(text.to_string().parse().unwrap())
    }

    fn sealed<'b>(self, envelope: Option<&'b Envelope>) -> Sealed<'b>
    where
        'a: 'b,
    {
        match envelope {
            Some(envelope) => Sealed::Envelope(envelope),
            None => Sealed::Legacy(self.text("protectedPayload").unwrap_or_default()),
        }
    }
}
