//! The versions and the suites of TLS, as a bill of materials names them.

use rustls::crypto::aws_lc_rs;
use rustls::{CipherSuite, NamedGroup, ProtocolVersion, SupportedProtocolVersion};
use serde_json::{Value, json};

use crate::settings::TLS_VERSIONS;
use formats::algorithms::strength::of_secret;

/// The protocols that the process offers, for its own listener and for its connections to others.
pub(super) fn protocols() -> Vec<Value> {
    TLS_VERSIONS.iter().map(|version| protocol(version)).collect()
}

/// The key exchanges, as algorithms.
pub(super) fn groups() -> Vec<Value> {
    let provider = aws_lc_rs::default_provider();
    provider.kx_groups.iter().map(|group| algorithm(group.name())).collect()
}

fn protocol(version: &SupportedProtocolVersion) -> Value {
    let provider = aws_lc_rs::default_provider();
    let suites = provider.cipher_suites.iter();
    let suites = suites.filter(|suite| suite.version().version == version.version);
    let suites: Vec<Value> = suites.map(|suite| described(suite.suite())).collect();
    let groups: Vec<String> = provider.kx_groups.iter().map(|it| reference(it.name())).collect();
    let number = number(version.version);
    json!({
        "type": "cryptographic-asset",
        "bom-ref": format!("protocol/tls-{number}"),
        "name": format!("TLS {number}"),
        "cryptoProperties": {
            "assetType": "protocol",
            "protocolProperties": {
                "type": "tls",
                "version": number,
                "cipherSuites": suites,
                "cryptoRefArray": groups,
            },
        },
    })
}

fn described(suite: CipherSuite) -> Value {
    let name = format!("{suite:?}").replace("TLS13_", "TLS_");
    let [high, low] = u16::from(suite).to_be_bytes();
    json!({ "name": name, "identifiers": [format!("0x{high:02X}"), format!("0x{low:02X}")] })
}

fn number(version: ProtocolVersion) -> String {
    format!("{version:?}").replace("TLSv1_", "1.")
}

fn reference(group: NamedGroup) -> String {
    format!("algorithm/{}", name(group))
}

fn name(group: NamedGroup) -> String {
    format!("{group:?}")
}

/// A key exchange. A hybrid one is as strong as its stronger part, ML-KEM-768.
fn algorithm(group: NamedGroup) -> Value {
    let is_hybrid = name(group).contains("MLKEM");
    let (primitive, strength, category) = match (is_hybrid, group) {
        (true, _) => ("combiner", 192, 3),
        (false, NamedGroup::secp384r1) => ("key-agree", 192, 0),
        (false, NamedGroup::secp521r1) => ("key-agree", of_secret(32), 0),
        (false, _) => ("key-agree", 128, 0),
    };
    json!({
        "type": "cryptographic-asset",
        "bom-ref": reference(group),
        "name": name(group),
        "cryptoProperties": {
            "assetType": "algorithm",
            "algorithmProperties": {
                "primitive": primitive,
                "parameterSetIdentifier": name(group),
                "executionEnvironment": "software-plain-ram",
                "cryptoFunctions": ["keygen", if is_hybrid { "encapsulate" } else { "keyderive" }],
                "classicalSecurityLevel": strength,
                "nistQuantumSecurityLevel": category,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_name_their_suites() {
        let protocols = protocols();
        let names: Vec<&str> = protocols.iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, ["TLS 1.3", "TLS 1.2"]);
        let suites = &protocols[0]["cryptoProperties"]["protocolProperties"]["cipherSuites"];
        let aes = json!({ "name": "TLS_AES_256_GCM_SHA384", "identifiers": ["0x13", "0x02"] });
        assert!(suites.as_array().unwrap().contains(&aes), "{suites}");
        let groups: Vec<Value> = groups().into_iter().map(|it| it["name"].clone()).collect();
        assert!(groups.contains(&json!("X25519MLKEM768")), "{groups:?}");
    }
}
