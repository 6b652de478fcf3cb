//! The register as a cryptographic bill of materials: CycloneDX 1.6 in JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Builder;

use super::{KeyEntry, Register, envelopes, tls};
use crate::keys::KeyStatus;
use formats::clock::Timestamp;
use formats::material::{Algorithm, Family};

/// The bill of materials.
pub(super) fn json(register: &Register) -> Vec<u8> {
    let algorithms: BTreeSet<&str> = register.keys.iter().map(|key| key.algorithm.name()).collect();
    let used = Algorithm::ALL.into_iter().filter(|it| algorithms.contains(it.name()));
    let components: Vec<Value> = used
        .map(algorithm)
        .chain(envelopes::algorithms(register))
        .chain(tls::groups())
        .chain(tls::protocols())
        .chain(register.keys.iter().map(|it| key(it, register.at.end())))
        .collect();
    let dependencies: Vec<Value> = register
        .keys
        .iter()
        .map(|key| json!({ "ref": key.key_id, "dependsOn": [reference(key.algorithm)] }))
        .collect();
    let mut bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "sealward",
                "name": "sealward",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "properties": properties(&json!({
                "at": register.at,
                "filter": register.filter.to_string(),
                "operationsCheckpoint": register.checkpoints.operations.to_string(),
                "managementCheckpoint": register.checkpoints.management.to_string(),
            })),
        },
        "components": components,
        "dependencies": dependencies,
    });
    // The same content has the same number.
    let digest: [u8; 32] = Sha256::digest(bill.to_string()).into();
    let (half, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    let serial = Builder::from_custom_bytes(*half).into_uuid().urn().to_string();
    if let Value::Object(members) = &mut bill {
        members.insert("serialNumber".to_owned(), Value::String(serial));
    }
    // Serializing a tree to memory does not fail.
    let mut json = serde_json::to_vec_pretty(&bill).unwrap_or_default();
    json.push(b'\n');
    json
}

fn reference(algorithm: Algorithm) -> String {
    format!("algorithm/{algorithm}")
}

fn algorithm(algorithm: Algorithm) -> Value {
    let (primitive, functions) = primitive(algorithm);
    let mut properties = json!({
        "primitive": primitive,
        "parameterSetIdentifier": algorithm.name(),
        "cryptoFunctions": functions,
        "classicalSecurityLevel": algorithm.strength(),
        "nistQuantumSecurityLevel": algorithm.quantum_category(),
    });
    if let (Value::Object(members), Some(curve)) = (&mut properties, algorithm.curve()) {
        members.insert("curve".to_owned(), json!(curve));
    }
    json!({
        "type": "cryptographic-asset",
        "bom-ref": reference(algorithm),
        "name": algorithm.name(),
        "cryptoProperties": { "assetType": "algorithm", "algorithmProperties": properties },
    })
}

/// The primitive of an algorithm, and what its keys do. Keys of RSA and EC have one of two uses.
fn primitive(algorithm: Algorithm) -> (&'static str, &'static [&'static str]) {
    match algorithm.family() {
        Family::Rsa => ("pke", &["keygen", "encrypt", "decrypt", "sign", "verify"]),
        Family::Ec => ("other", &["keygen", "keyderive", "sign", "verify"]),
        Family::Ed25519 | Family::MlDsa => ("signature", &["keygen", "sign", "verify"]),
        Family::MlKem768 | Family::MlKem1024 => ("kem", &["keygen", "encapsulate", "decapsulate"]),
        Family::P256MlKem768 => ("combiner", &["keygen", "encapsulate", "decapsulate"]),
        Family::Aes => ("ae", &["keygen", "encrypt", "decrypt"]),
        Family::Hmac => ("mac", &["keygen", "tag", "verify"]),
    }
}

/// A key at the end of the day of the report.
fn key(key: &KeyEntry, end: Timestamp) -> Value {
    let mut material = json!({
        "type": kind(key),
        "id": key.key_id,
        "state": state(key, end),
        "algorithmRef": reference(key.algorithm),
        "creationDate": key.created_at,
    });
    let dates = [("activationDate", key.activated_at), ("expirationDate", key.expires_at)];
    for (name, time) in dates {
        if let (Value::Object(members), Some(time)) = (&mut material, time) {
            members.insert(name.to_owned(), json!(time));
        }
    }
    if let (Value::Object(members), true) = (&mut material, key.has_private) {
        let secured = json!({ "mechanism": "PKCS#11 token" });
        members.insert("securedBy".to_owned(), secured);
    }
    json!({
        "type": "cryptographic-asset",
        "bom-ref": key.key_id,
        "name": key.name,
        "cryptoProperties": {
            "assetType": "related-crypto-material",
            "relatedCryptoMaterialProperties": material,
        },
        "properties": properties(&json!(key)),
    })
}

fn kind(key: &KeyEntry) -> &'static str {
    match (key.algorithm.is_secret(), key.has_private) {
        (true, _) => "secret-key",
        (false, true) => "private-key",
        (false, false) => "public-key",
    }
}

/// The state in the words of NIST SP 800-57.
fn state(key: &KeyEntry, end: Timestamp) -> &'static str {
    match (key.status, key.activated_at) {
        (KeyStatus::Active, _) if key.expires_at.is_some_and(|at| at <= end) => "deactivated",
        (KeyStatus::Active, _) => "active",
        (KeyStatus::Retired, None) => "pre-activation",
        (KeyStatus::Retired | KeyStatus::PendingDestruction, _) => "deactivated",
        (KeyStatus::Disabled, _) => "suspended",
        (KeyStatus::Destroyed, _) => "destroyed",
    }
}

/// The members of an object that have a value, as properties.
fn properties(object: &Value) -> Vec<Value> {
    let members: BTreeMap<&String, &Value> = object.as_object().into_iter().flatten().collect();
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    let described = members.map(|(name, value)| {
        let text = match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        json!({ "name": format!("sealward:{name}"), "value": text })
    });
    described.collect()
}
