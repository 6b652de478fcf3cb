//! The algorithms of envelopes that policies name, as a bill of materials names them.

use serde_json::{Value, json};

use super::{PolicyEntry, Register};
use formats::algorithms::strength::of_secret;
use formats::envelope::{Alg, Enc};

/// The `alg` and the `enc` of all policies in the register.
pub(super) fn algorithms(register: &Register) -> Vec<Value> {
    let policies: Vec<&PolicyEntry> = register.keys.iter().flat_map(|key| &key.policies).collect();
    let named = |alg: &Alg| policies.iter().any(|policy| policy.alg == *alg);
    let wrapping = Alg::ALL.into_iter().filter(named).map(wrapping);
    let named = |enc: &Enc| policies.iter().any(|policy| policy.enc == *enc);
    wrapping.chain(Enc::ALL.into_iter().filter(named).map(encryption)).collect()
}

/// An algorithm that wraps content keys. It is as strong as the key.
fn wrapping(alg: Alg) -> Value {
    let properties = match alg {
        Alg::RsaOaep | Alg::RsaOaep256 => json!({
            "primitive": "pke",
            "padding": "oaep",
            "cryptoFunctions": ["encrypt", "decrypt"],
        }),
        Alg::EcdhEsA256Kw | Alg::EcdhEsA128Kw => json!({
            "primitive": "key-agree",
            "cryptoFunctions": ["keyderive"],
        }),
        Alg::Hpke8Ke | Alg::Hpke12Ke | Alg::Hpke13Ke => json!({
            "primitive": "kem",
            "cryptoFunctions": ["encapsulate", "decapsulate"],
        }),
    };
    component(alg.name(), &properties)
}

fn encryption(enc: Enc) -> Value {
    let strength = of_secret(enc.key_len());
    let properties = json!({
        "primitive": "ae",
        "mode": "gcm",
        "cryptoFunctions": ["encrypt", "decrypt"],
        "classicalSecurityLevel": strength,
        "nistQuantumSecurityLevel": if strength < 256 { 1 } else { 5 },
    });
    component(enc.name(), &properties)
}

fn component(name: &str, properties: &Value) -> Value {
    json!({
        "type": "cryptographic-asset",
        "bom-ref": format!("algorithm/{name}"),
        "name": name,
        "cryptoProperties": { "assetType": "algorithm", "algorithmProperties": properties },
    })
}
