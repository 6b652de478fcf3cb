//! Envelope keys of RSA on a token that does not open what would be sealed for them.

use serde_json::{Value, json};

use crate::process::{Process, Site};
use crate::support::openssl::{private, public};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_envelopes_would_be_lost_is_not_created() {
    let site = Site::new().await;
    // SoftHSM has no OAEP with SHA-256, and nothing may stand in for it.
    let as_it_is = [("SEALWARD_HSM_ALLOW_RAW_RSA", "false")];
    let process = Process::start_with(&site, &as_it_is).await;
    let service = process.post("/admin/services", &json!({ "name": "sha-1" }))["id"].clone();
    let send = |mut order: Value| {
        order["serviceId"] = service.clone();
        process.post("/admin/keys", &order)
    };
    let rsa = private("RSA-2048");
    let wrapped = json!({
        "importKeyId": "imp_01h455vb4pex5vsknk084sn02q",
        "mechanism": "RSA_OAEP_SHA1_AES_KWP",
        "ciphertext": "AAAA",
    });
    for order in [
        json!({ "generate": true }),
        json!({ "generate": true, "algorithm": "RSA-4096" }),
        json!({ "privateKey": rsa }),
        json!({ "wrappedKey": wrapped, "algorithm": "RSA-2048" }),
    ] {
        let refused = send(order);
        let problem = &refused["error"]["details"][0];
        assert_eq!(
            (&problem["field"], &problem["code"]),
            (&json!("algorithm"), &json!("unsupported")),
            "{refused}"
        );
    }

    // Neither signing keys, nor those on a curve, nor those that others hold are concerned.
    for order in [
        json!({ "privateKey": rsa, "use": "sig" }),
        json!({ "generate": true, "algorithm": "P-256" }),
        json!({ "publicKey": public(&rsa) }),
    ] {
        let made = send(order);
        assert_eq!(made["status"], "active", "{made}");
    }
}
