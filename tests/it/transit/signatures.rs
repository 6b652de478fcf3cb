//! `sign`, `verify` and `hmac`.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{Site, Vault, data, decode, encode, refused};

/// Whether a signature verifies with these members.
async fn verifies(vault: &Vault<'_>, path: &str, mut body: Value, signature: &Value) -> bool {
    body["signature"] = signature.clone();
    vault.done(&format!("transit/verify/{path}"), body).await["valid"].as_bool().unwrap()
}

async fn signed(vault: &Vault<'_>, path: &str, body: Value) -> Value {
    vault.done(&format!("transit/sign/{path}"), body).await["signature"].clone()
}

#[tokio::test]
async fn each_kind_of_key_signs_and_verifies_with_each_hash() {
    let site = Site::new().await;
    let vault = site.vault();
    for algorithm in ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519"] {
        site.key(algorithm, "sig", algorithm).await;
        for hash in ["", "/sha2-256", "/sha2-384", "/sha2-512"] {
            let path = format!("{algorithm}{hash}");
            let body = json!({ "input": encode("message") });
            let signature = signed(&vault, &path, body.clone()).await;
            assert!(verifies(&vault, &path, body.clone(), &signature).await, "{path}");
            let other = json!({ "input": encode("another") });
            assert!(!verifies(&vault, &path, other, &signature).await, "{path}");
        }
        // The hash of the path is stronger than that of the body.
        let body = json!({ "input": "", "hash_algorithm": "sha2-512" });
        let signature = signed(&vault, &format!("{algorithm}/sha2-256"), body).await;
        let plain = json!({ "input": "" });
        assert!(verifies(&vault, algorithm, plain, &signature).await, "{algorithm}");
    }
}

#[tokio::test]
async fn a_digest_signs_like_its_message() {
    let site = Site::new().await;
    let vault = site.vault();
    for algorithm in ["RSA-2048", "P-256", "P-384", "P-521"] {
        site.key(algorithm, "sig", algorithm).await;
        for hash in ["sha2-256", "sha2-384", "sha2-512"] {
            let path = format!("{algorithm}/{hash}");
            let input = json!({ "input": encode("message") });
            let body = json!({ "input": encode("message"), "format": "base64" });
            let sum = vault.done(&format!("transit/hash/{hash}"), body).await["sum"].clone();
            let digest = json!({ "input": sum, "prehashed": true });
            let of_message = signed(&vault, &path, input.clone()).await;
            let of_digest = signed(&vault, &path, digest.clone()).await;
            assert!(verifies(&vault, &path, digest.clone(), &of_message).await, "{path}");
            assert!(verifies(&vault, &path, input, &of_digest).await, "{path}");
        }
        let body = json!({ "input": encode([7; 20]), "prehashed": true });
        let answer = vault.write(&format!("transit/sign/{algorithm}"), body).await;
        refused(&answer, 400, &["input must be a digest of 32 bytes"]);
    }
    site.key("ed", "sig", "Ed25519").await;
    let body = json!({ "input": encode([7; 32]), "prehashed": true });
    let answer = vault.write("transit/sign/ed", body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn rsa_has_two_paddings_and_verifies_either_unless_one_is_named() {
    let site = Site::new().await;
    site.key("rsa", "sig", "RSA-2048").await;
    let vault = site.vault();
    let with =
        |padding: &str| json!({ "input": encode("message"), "signature_algorithm": padding });
    let plain = json!({ "input": encode("message") });
    let pkcs1 = signed(&vault, "rsa", with("pkcs1v15")).await;
    let pss = signed(&vault, "rsa", plain.clone()).await;
    for signature in [&pkcs1, &pss] {
        assert!(verifies(&vault, "rsa", plain.clone(), signature).await);
    }
    assert!(verifies(&vault, "rsa", with("pkcs1v15"), &pkcs1).await);
    assert!(verifies(&vault, "rsa", with("pss"), &pss).await);
    assert!(!verifies(&vault, "rsa", with("pss"), &pkcs1).await);
    assert!(!verifies(&vault, "rsa", with("pkcs1v15"), &pss).await);
    let answer = vault.write("transit/sign/rsa", with("oaep")).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_salt_is_honoured_or_refused() {
    let site = Site::new().await;
    site.key("rsa", "sig", "RSA-2048").await;
    let vault = site.vault();
    let with = |salt: Value| json!({ "input": "", "salt_length": salt });
    for salt in [json!("auto"), json!("hash"), json!(32), json!("32"), json!(0), json!(-1)] {
        let signature = signed(&vault, "rsa", with(salt)).await;
        assert!(verifies(&vault, "rsa", with(json!("auto")), &signature).await);
        assert!(verifies(&vault, "rsa", with(json!(32)), &signature).await);
        assert!(!verifies(&vault, "rsa", with(json!(20)), &signature).await);
    }
    let answer = vault.write("transit/sign/rsa", with(json!(20))).await;
    refused(&answer, 400, &["requested salt length 20 is invalid"]);
    let answer = vault.write("transit/sign/rsa", with(json!(-2))).await;
    refused(&answer, 400, &["requested salt length -2 is invalid"]);
    let answer = vault.write("transit/sign/rsa", with(json!("long"))).await;
    refused(&answer, 400, &["salt length neither 'auto', 'hash', nor an int: long"]);
}

#[tokio::test]
async fn jws_has_both_numbers_in_base64url() {
    let site = Site::new().await;
    site.key("ec", "sig", "P-256").await;
    let vault = site.vault();
    let body = json!({ "input": encode("message"), "marshaling_algorithm": "jws" });
    let signature = signed(&vault, "ec", body.clone()).await;
    let text = signature.as_str().unwrap().strip_prefix("vault:v1:").unwrap().to_owned();
    let both = BASE64_URL_SAFE_NO_PAD.decode(&text).unwrap();
    assert_eq!(both.len(), 64);
    assert!(verifies(&vault, "ec", body.clone(), &signature).await);
    let asn1 = signed(&vault, "ec", json!({ "input": encode("message") })).await;
    let der = decode(asn1.as_str().unwrap().strip_prefix("vault:v1:").unwrap());
    assert_eq!(der[0], 0x30);
    // Two numbers are no ASN.1.
    let body =
        json!({ "input": encode("message"), "signature": format!("vault:v1:{}", encode(&both)) });
    refused(&vault.write("transit/verify/ec", body).await, 400, &["supplied signature is invalid"]);
    let body = json!({ "input": "", "marshaling_algorithm": "xml" });
    refused(&vault.write("transit/sign/ec", body).await, 400, &["invalid marshaling type \"xml\""]);
}

#[tokio::test]
async fn the_public_key_verifies_outside() {
    let site = Site::new().await;
    site.key("ec", "sig", "P-256").await;
    let vault = site.vault();
    let signature = signed(&vault, "ec", json!({ "input": encode("message") })).await;
    let signature = decode(signature.as_str().unwrap().strip_prefix("vault:v1:").unwrap());
    let read = data(vault.read("transit/keys/ec").await);
    let folder = testkit::Scratch::new();
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(file("key"), read["keys"]["1"]["public_key"].as_str().unwrap()).unwrap();
    std::fs::write(file("signature"), signature).unwrap();
    let arguments =
        format!("dgst -sha256 -verify {} -signature {}", file("key"), file("signature"));
    let verified = testkit::openssl::openssl(&arguments, b"message");
    assert_eq!(String::from_utf8(verified).unwrap().trim(), "Verified OK");
}

#[tokio::test]
async fn a_mac_has_the_hash_of_its_key() {
    let site = Site::new().await;
    site.key("mac", "sig", "HMAC-SHA256").await;
    let vault = site.vault();
    for path in ["mac", "mac/sha2-256"] {
        let body = json!({ "input": encode("message") });
        let mac = vault.done(&format!("transit/hmac/{path}"), body).await["hmac"].clone();
        let verify = async |input: &str| {
            let body = json!({ "input": encode(input), "hmac": mac });
            vault.done(&format!("transit/verify/{path}"), body).await["valid"].clone()
        };
        assert_eq!(verify("message").await, true);
        assert_eq!(verify("another").await, false);
    }
    for hash in ["sha2-384", "sha2-512", "sha1"] {
        let text = format!("invalid hash algorithm {hash:?}");
        let body = json!({ "input": "", "algorithm": hash });
        refused(&vault.write("transit/hmac/mac", body).await, 400, &[&text]);
        let path = format!("transit/hmac/mac/{hash}");
        refused(&vault.write(&path, json!({ "input": "" })).await, 400, &[&text]);
    }
}

#[tokio::test]
async fn wrong_requests_have_the_texts_that_clients_know() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("ec", "sig", "P-256").await;
    site.key("mac", "sig", "HMAC-SHA256").await;
    let vault = site.vault();
    let input = json!({ "input": "" });
    let signature = |text: &str| json!({ "input": "", "signature": text });
    for (path, body, text) in [
        ("sign/unknown", input.clone(), "signing key not found"),
        ("verify/unknown", signature("vault:v1:AAAA"), "signature verification key not found"),
        ("hmac/unknown", input.clone(), "encryption key not found"),
        ("sign/orders", input.clone(), "key type aes256-gcm96 does not support signing"),
        ("sign/mac", input.clone(), "key type hmac does not support signing"),
        ("hmac/ec", input.clone(), "key type ecdsa-p256 does not support HMAC"),
        ("hmac/mac", json!({}), "missing input for HMAC"),
        ("sign/ec/sha1", input.clone(), "invalid hash algorithm \"sha1\""),
        (
            "sign/ec/sha2-256",
            json!({ "input": "", "hash_algorithm": "sha1" }),
            "invalid hash algorithm \"sha1\"",
        ),
        (
            "sign/ec",
            json!({ "input": "", "hash_algorithm": "none" }),
            "invalid hash algorithm \"none\"",
        ),
        ("verify/ec", signature("AAAA"), "invalid signature: no prefix"),
        ("verify/ec", signature("vault:v1:?"), "invalid base64 signature value"),
        ("verify/ec", signature("vault:v9:AAAA"), "invalid signature: version is too new"),
        ("verify/ec", signature("vault:v1:AAAA"), "supplied signature is invalid"),
        ("verify/mac", json!({ "input": "", "hmac": "x" }), "invalid HMAC to verify: no prefix"),
        (
            "sign/ec",
            json!({ "input": "", "key_version": 7 }),
            "requested version for signing is higher than the latest key version",
        ),
    ] {
        refused(&vault.write(&format!("transit/{path}"), body).await, 400, &[text]);
    }
    // A missing input is an empty one.
    let empty = signed(&vault, "ec", json!({})).await;
    assert!(verifies(&vault, "ec", input, &empty).await);
}
