//! How keys look to clients.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::visible;
use crate::errors::Refused;
use crate::key_type;
use crate::state::Transit;
use engine::ids::ServiceId;
use engine::keys::{
    Key, KeyOrigin, KeyStatus, KeyVersion, RotationDays, Usage, Versions, is_transit_name,
};
use formats::clock::Timestamp;
use formats::material::{Family, PublicKey, PublicParts};

/// The length of the keys of MACs, in bytes.
const MAC_KEY: usize = 32;

/// The names of the keys of a service.
pub(super) async fn list(state: &Transit, service: ServiceId) -> Result<Value, Refused> {
    let names = state.keyring.names(service).await?;
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| is_transit_name(name)).collect();
    // Clients take an empty list for an error.
    if names.is_empty() { Err(Refused::missing()) } else { Ok(json!({ "keys": names })) }
}

/// A key of a service.
pub(super) async fn key(state: &Transit, service: ServiceId, name: &str) -> Result<Value, Refused> {
    let versions = versions(state, service, name).await?.ok_or_else(Refused::missing)?;
    described(name, &versions, state.engine.clock.now()).ok_or_else(Refused::missing)
}

/// The public keys of a key: of all versions, or of one.
pub(super) async fn public_keys(
    state: &Transit,
    service: ServiceId,
    name: &str,
    version: Option<&str>,
) -> Result<Value, Refused> {
    let versions = versions(state, service, name).await?.ok_or_else(Refused::missing)?;
    let latest = versions.acting(state.engine.clock.now()).and_then(|key| key.version);
    let wanted = match version {
        None => None,
        Some("latest") => Some(latest.ok_or_else(Refused::missing)?),
        Some(number) => {
            let number = number.parse().map_err(|_| Refused::invalid("invalid key version"))?;
            Some(KeyVersion::of(number))
        }
    };
    let shown = usable(&versions).filter(|key| wanted.is_none() || key.version == wanted);
    let keys: Map<String, Value> = shown
        .filter_map(|key| Some((number(key)?.to_string(), json!(public_text(&key.public_key)?))))
        .collect();
    let first = versions.keys().next().ok_or_else(Refused::missing)?;
    if keys.is_empty() {
        return Err(Refused::missing());
    }
    Ok(json!({ "name": name, "type": key_type::name(first.algorithm), "keys": keys }))
}

/// The versions of a key; none if all are destroyed.
pub(super) async fn versions(
    state: &Transit,
    service: ServiceId,
    name: &str,
) -> Result<Option<Arc<Versions>>, Refused> {
    let versions = state.keyring.versions(service, visible(name)?).await?;
    let is_there =
        |versions: &Arc<Versions>| versions.keys().any(|key| key.status != KeyStatus::Destroyed);
    Ok(versions.filter(is_there))
}

/// The version of the next key with a name.
pub(super) async fn next_version(
    state: &Transit,
    service: ServiceId,
    name: &str,
) -> Result<KeyVersion, Refused> {
    let versions = state.keyring.versions(service, visible(name)?).await?;
    let highest = versions.as_deref().and_then(|it| it.keys().filter_map(number).max());
    Ok(KeyVersion::of(highest.unwrap_or_default() + 1))
}

/// The versions that decrypt or verify.
fn usable(versions: &Versions) -> impl Iterator<Item = &Key> {
    let is_usable = |key: &&Key| matches!(key.status, KeyStatus::Active | KeyStatus::Retired);
    versions.keys().filter(is_usable)
}

fn number(key: &Key) -> Option<i64> {
    key.version.map(KeyVersion::number)
}

/// A key as clients read it. None if it has no versions.
pub(super) fn described(name: &str, versions: &Versions, now: Timestamp) -> Option<Value> {
    let first = versions.keys().next()?;
    let acting = versions.acting(now);
    let algorithm = first.algorithm;
    let is_data = first.usage == Usage::Data;
    let is_mac = algorithm.family() == Family::Hmac;
    let rotating = versions.keys().filter(|key| key.status == KeyStatus::Active);
    let days = rotating.filter_map(|key| key.rotation_days).map(RotationDays::days).max();
    let rotation = days.unwrap_or_default() * 86_400;
    let mut key = json!({
        "name": name,
        "type": key_type::name(algorithm)?,
        "latest_version": acting.and_then(number).unwrap_or_default(),
        "min_decryption_version": usable(versions).filter_map(number).min().unwrap_or(1),
        "min_encryption_version": 0,
        "min_available_version": 0,
        "deletion_allowed": false,
        "derived": false,
        "exportable": false,
        "allow_plaintext_backup": false,
        "supports_encryption": is_data,
        "supports_decryption": is_data,
        "supports_derivation": false,
        "supports_signing": !is_data && !is_mac,
        "auto_rotate_period": rotation,
        "imported_key": acting.is_some_and(|key| key.origin != KeyOrigin::Generated),
        "soft_deleted": false,
    });
    let members = key.as_object_mut()?;
    if is_mac {
        members.insert("key_size".to_owned(), json!(MAC_KEY));
    } else {
        let keys: Map<String, Value> = usable(versions)
            .filter_map(|key| Some((number(key)?.to_string(), version(key))))
            .collect();
        members.insert("keys".to_owned(), Value::Object(keys));
    }
    Some(key)
}

/// A version: the time of its creation, or its public key.
fn version(key: &Key) -> Value {
    match public_text(&key.public_key) {
        None => json!(key.created_at.as_millis().div_euclid(1_000)),
        Some(public_key) => json!({
            "name": key_type::version_name(key.algorithm),
            "public_key": public_key,
            "creation_time": key.created_at,
            "certificate_chain": "",
        }),
    }
}

/// A public key in PEM, or its raw bytes where clients expect those.
fn public_text(key: &Option<PublicKey>) -> Option<String> {
    let key = key.as_ref()?;
    match key.parts() {
        PublicParts::Ed25519 { point } => Some(STANDARD.encode(point)),
        PublicParts::MlDsa { key, .. } => Some(STANDARD.encode(key)),
        PublicParts::Rsa { .. } | PublicParts::Ec { .. } => Some(key.to_pem()),
        PublicParts::Kem { .. } => None,
    }
}
