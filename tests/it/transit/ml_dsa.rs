//! ML-DSA, with keys of a token that supports it.

use serde_json::json;

use super::{Site, data, decode, encode};
use testkit::World;

#[tokio::test(flavor = "multi_thread")]
async fn only_the_signed_message_verifies() {
    let site = Site::of(World::on_kryoptic().await).await;
    let vault = site.vault();
    for (algorithm, kind, length) in
        [("ML-DSA-44", "mldsa-44", 1_312), ("ML-DSA-87", "mldsa-87", 2_592)]
    {
        site.key(kind, "sig", algorithm).await;
        let read = data(vault.read(&format!("transit/keys/{kind}")).await);
        assert_eq!((&read["type"], &read["keys"]["1"]["name"]), (&json!(kind), &json!(kind)));
        assert_eq!(decode(read["keys"]["1"]["public_key"].as_str().unwrap()).len(), length);
        let body = json!({ "input": encode("message") });
        let signed = vault.done(&format!("transit/sign/{kind}/sha2-256"), body).await;
        for (input, valid) in [("message", true), ("another", false)] {
            let body = json!({ "input": encode(input), "signature": signed["signature"] });
            let verified = vault.done(&format!("transit/verify/{kind}"), body).await;
            assert_eq!(verified["valid"], valid);
        }
        let body = json!({ "input": encode([7; 32]), "prehashed": true });
        let answer = vault.write(&format!("transit/sign/{kind}"), body).await;
        assert_eq!(answer.status, 400);
    }
}
