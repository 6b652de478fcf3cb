//! `random` and `hash`.

use serde_json::{Value, json};

use super::{Site, decode, refused};
use testkit::World;

#[tokio::test]
async fn random_bytes_have_the_requested_length_and_format() {
    let site = Site::new().await;
    let vault = site.vault();
    for (path, body, length) in [
        ("random", json!({}), 32),
        ("random/16", json!({}), 16),
        ("random/platform", json!({ "bytes": 5 }), 5),
        ("random/platform/7", json!({ "bytes": 5 }), 7),
        ("random", json!({ "bytes": "131071" }), 131_071),
    ] {
        let done = vault.done(&format!("transit/{path}"), body).await;
        assert_eq!(decode(done["random_bytes"].as_str().unwrap()).len(), length, "{path}");
    }
    let done = vault.done("transit/random/4", json!({ "format": "hex" })).await;
    assert_eq!(done["random_bytes"].as_str().unwrap().len(), 8);
    for (path, body) in [
        ("random/0", json!({})),
        ("random", json!({ "bytes": 131_072 })),
        ("random", json!({ "format": "octal" })),
        ("random/seal/16", json!({})),
    ] {
        assert_eq!(vault.write(&format!("transit/{path}"), body).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn random_bytes_are_for_applications_that_are_not_frozen() {
    let site = Site::new().await;
    refused(&site.admin().write("transit/random", json!({})).await, 403, &["permission denied"]);
    let path = format!("/admin/services/{}", site.service);
    site.world.admin().patch(&path, json!({ "status": "frozen" })).await.ok();
    refused(&site.vault().write("transit/random", json!({})).await, 403, &["permission denied"]);
}

#[tokio::test]
async fn hashes_are_those_of_the_vectors() {
    let site = Site::of(World::new().await).await;
    let vectors: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    for vector in vectors["hash"].as_array().unwrap() {
        let path = format!("transit/{}", vector["call"].as_str().unwrap());
        let done = site.vault().done(&path, vector["request"].clone()).await;
        assert_eq!(done, vector["data"]);
    }
    let done = site
        .vault()
        .done("transit/hash", json!({ "input": "aGVsbG8=", "algorithm": "sha2-512" }))
        .await;
    assert_eq!(done["sum"].as_str().unwrap().len(), 128);
}

#[tokio::test]
async fn other_hashes_are_refused() {
    let site = Site::new().await;
    for hash in ["sha1", "none", "sha2-224", "sha3-256", "md5"] {
        let answer =
            site.vault().write(&format!("transit/hash/{hash}"), json!({ "input": "" })).await;
        refused(&answer, 400, &[&format!("invalid hash algorithm {hash:?}")]);
    }
    refused(&site.vault().write("transit/hash", json!({})).await, 400, &["input missing"]);
}
