//! RSA envelope keys on a token that cannot open their envelopes.

use serde_json::{Value, json};

use testkit::openssl::{private, public};
use testkit::{Process, Site};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_envelopes_would_be_lost_is_not_created() {
    let site = Site::new().await;
    // SoftHSM does not support OAEP with SHA-256, and the replacement is disabled.
    let without_raw_rsa = [("SEALWARD_HSM_ALLOW_RAW_RSA", "false")];
    let process = Process::start_with(&site, &without_raw_rsa).await;
    let service = process.service("sha-1").await;
    let send = async |mut body: Value| {
        body["serviceId"] = json!(service);
        process.admin().post("/admin/keys", body).await
    };
    let rsa = private("RSA-2048");
    let wrapped = json!({
        "importKeyId": "imp_01h455vb4pex5vsknk084sn02q",
        "mechanism": "RSA_OAEP_SHA1_AES_KWP",
        "ciphertext": "AAAA",
    });
    for body in [
        json!({ "generate": true }),
        json!({ "generate": true, "algorithm": "RSA-4096" }),
        json!({ "privateKey": rsa }),
        json!({ "wrappedKey": wrapped, "algorithm": "RSA-2048" }),
    ] {
        send(body).await.invalid(&[("algorithm", "unsupported")]);
    }

    // Signing keys, EC keys and public keys of destinations are not affected.
    for body in [
        json!({ "privateKey": rsa, "use": "sig" }),
        json!({ "generate": true, "algorithm": "P-256" }),
        json!({ "publicKey": public(&rsa) }),
    ] {
        let created = send(body).await.created();
        assert_eq!(created.text("status"), "active");
    }
}
