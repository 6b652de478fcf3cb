//! A running service with resources for every operation, and an API key without effective limits.

use std::time::{Duration, Instant};

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::kem::{DecapsulationKey, ML_KEM_768};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD as BASE64, BASE64_URL_SAFE_NO_PAD as BASE64URL};
use serde_json::{Value, json};
use ureq::Agent;

use crate::generator::Request;
use testkit::{Process, Site};

/// A running service with resources for every operation.
pub(crate) struct Instance {
    pub(crate) process: Process,
    pub(crate) callers: Callers,
    /// The time from the start of the process until it was ready.
    pub(crate) started_in: Duration,
}

/// The API keys and key ids of one caller.
#[derive(Clone)]
pub(crate) struct Callers {
    /// For each algorithm an API key that is bound to a policy.
    rsa_2048: String,
    rsa_3072: String,
    p256: String,
    hybrid: String,
    ml_kem: String,
    sign_rsa: String,
    sign_p256: String,
    data: String,
}

/// The items of a batch.
const ITEMS: usize = 100;

const PROTECT_BATCH: &str = "/api/v1/protect/batch";

/// Limits above every measured rate and size.
const UNLIMITED: u32 = 1_000_000_000;
const BODY_LIMIT: (&str, &str) = ("SEALWARD_LIMITS_MAX_BODY_BYTES", "4194304");
const POST_QUANTUM: (&str, &str) = ("SEALWARD_ENVELOPES_POST_QUANTUM", "true");
const TRANSIT: (&str, &str) = ("SEALWARD_TRANSIT_ENABLED", "true");

impl Instance {
    /// Starts the service with a SoftHSM2 token and creates the resources. As in production, it seals its audit records.
    pub(crate) async fn start(site: &Site) -> Self {
        site.run(&["audit", "init"]).success();
        Self::start_with(site, false).await
    }

    /// The same without sealing.
    pub(crate) async fn start_unsealed(site: &Site) -> Self {
        Self::start_with(site, false).await
    }

    /// The same as [`Self::start`] with a kryoptic token.
    pub(crate) async fn start_on_kryoptic(site: &Site) -> Self {
        site.run(&["audit", "init"]).success();
        Self::start_with(site, true).await
    }

    async fn start_with(site: &Site, has_ml_kem: bool) -> Self {
        let (process, started_in) = started(site, &[]).await;
        let callers = Callers::create(&process, has_ml_kem).await;
        Self { process, callers, started_in }
    }

    /// Starts the service with existing resources.
    pub(crate) async fn restart(
        site: &Site,
        callers: &Callers,
        variables: &[(&str, &str)],
    ) -> Self {
        let (process, started_in) = started(site, variables).await;
        Self { process, callers: callers.clone(), started_in }
    }

    /// The request for an operation on a payload of `bytes` bytes.
    pub(crate) fn request(&self, operation: &str, bytes: usize) -> Request {
        let callers = &self.callers;
        let text = "x".repeat(bytes - 2);
        let (protect, unprotect) = ("/api/v1/protect", "/api/v1/unprotect");
        let plain = json!({ "payload": text });
        let opened = |key: &str| json!({ "jwe": self.ask(protect, key, &plain)["jwe"] });
        let batch_of = |item: Value| json!({ "items": vec![item; ITEMS] });
        let sealed_batch = || self.ask(PROTECT_BATCH, &callers.rsa_2048, &batch_of(plain.clone()));
        let (path, key, body) = match operation {
            "protect RSA-2048" => (protect, &callers.rsa_2048, plain.clone()),
            "protect RSA-3072" => (protect, &callers.rsa_3072, plain.clone()),
            "protect P-256" => (protect, &callers.p256, plain.clone()),
            "protect P-256+ML-KEM-768" => (protect, &callers.hybrid, plain.clone()),
            "protect ML-KEM-768" => (protect, &callers.ml_kem, plain.clone()),
            "unprotect RSA-2048" => (unprotect, &callers.rsa_2048, opened(&callers.rsa_2048)),
            "unprotect RSA-3072" => (unprotect, &callers.rsa_3072, opened(&callers.rsa_3072)),
            "unprotect P-256" => (unprotect, &callers.p256, opened(&callers.p256)),
            "unprotect P-256+ML-KEM-768" => (unprotect, &callers.hybrid, opened(&callers.hybrid)),
            "unprotect ML-KEM-768" => (unprotect, &callers.ml_kem, opened(&callers.ml_kem)),
            "protect/batch RSA-2048" => (PROTECT_BATCH, &callers.rsa_2048, batch_of(plain.clone())),
            "unprotect/batch RSA-2048" => {
                ("/api/v1/unprotect/batch", &callers.rsa_2048, sealed_batch())
            }
            "rewrap/batch RSA-2048" => ("/api/v1/rewrap/batch", &callers.rsa_2048, sealed_batch()),
            "transit encrypt AES-256" => {
                let body = json!({ "plaintext": BASE64.encode(&text) });
                ("/v1/transit/encrypt/AES-256", &callers.rsa_2048, body)
            }
            "401" => {
                let url = self.process.url(protect);
                return Request { url, key: None, body: Some(plain.to_string()), items: 1 };
            }
            "health" => {
                return Request {
                    url: self.process.url("/api/v1/health"),
                    key: Some(callers.rsa_2048.clone()),
                    body: None,
                    items: 1,
                };
            }
            _ => {
                let body = self.operation(operation, &text);
                ("/api/v1/operations", &callers.rsa_2048, body)
            }
        };
        Request {
            url: self.process.url(path),
            key: Some(key.clone()),
            body: Some(body.to_string()),
            items: body["items"].as_array().map_or(1, Vec::len),
        }
    }

    fn operation(&self, operation: &str, text: &str) -> Value {
        let callers = &self.callers;
        let asked = |operation: &str, payload: Value| {
            let body = json!({ "operation": operation, "payload": payload });
            self.ask("/api/v1/operations", &callers.rsa_2048, &body)["result"].clone()
        };
        let sealing = json!({ "data": text, "algorithm": "AES-256-GCM", "keyId": callers.data });
        let signing = |algorithm: &str, key: &str| json!({ "data": text, "algorithm": algorithm, "keyId": key });
        let (name, payload) = match operation {
            "encrypt AES-256" => ("encrypt", sealing),
            "decrypt AES-256" => ("decrypt", asked("encrypt", sealing)),
            "sign RSA-2048" => ("sign", signing("RSA-SHA256", &callers.sign_rsa)),
            "sign P-256" => ("sign", signing("ECDSA-SHA256", &callers.sign_p256)),
            "verify RSA-2048" => {
                let mut payload = signing("RSA-SHA256", &callers.sign_rsa);
                payload["signature"] = asked("sign", payload.clone())["signature"].clone();
                ("verify", payload)
            }
            "hash SHA-256" => ("hash", json!({ "data": text, "algorithm": "SHA-256" })),
            _ => panic!("unknown operation: {operation}"),
        };
        json!({ "operation": name, "payload": payload })
    }

    pub(crate) fn ask(&self, path: &str, key: &str, body: &Value) -> Value {
        let request = Agent::new_with_defaults().post(self.process.url(path));
        let request = request
            .header("Authorization", format!("Bearer {key}"))
            .header("Content-Type", "application/json");
        let mut answer = request.send(body.to_string()).expect("a success");
        let text = answer.body_mut().with_config().limit(1 << 24).read_to_string();
        serde_json::from_str(&text.expect("a body")).expect("JSON")
    }
}

impl Callers {
    /// Creates keys in the token, or public keys of algorithms that it lacks.
    async fn create(process: &Process, has_ml_kem: bool) -> Self {
        let admin = process.admin();
        let create = async |path: &str, body: Value, member: &str| {
            admin.post(path, body).await.created().text(member)
        };
        let service = async |name: &str| {
            let limit = json!({ "requestsPerSecond": UNLIMITED, "burst": UNLIMITED });
            let body = json!({ "name": name, "tier": "enterprise", "rateLimit": limit });
            create("/admin/services", body, "id").await
        };
        let key = async |service: &str, usage: &str, algorithm: &str| {
            let body = json!({
                "serviceId": service, "name": algorithm, "use": usage, "algorithm": algorithm,
                "generate": true,
            });
            create("/admin/keys", body, "id").await
        };
        let caller = service("caller").await;
        let bound_to = async |destination: &str, algorithm: &str, alg: &str, ownership: &str| {
            let policy = json!({ "name": algorithm, "destinationServiceId": destination,
                "allowedServiceIds": [caller], "alg": alg, "keyOwnership": ownership });
            let number = create("/admin/policies", policy, "policyNumber").await;
            let body = json!({
                "name": algorithm, "type": "live", "serviceId": caller, "policyNumber": number,
            });
            create("/admin/api-keys", body, "secret").await
        };
        let bound = async |algorithm: &str, alg: &str| {
            let destination = service(algorithm).await;
            key(&destination, "enc", algorithm).await;
            bound_to(&destination, algorithm, alg, "service_managed").await
        };
        let post_quantum = async |algorithm: &str, alg: &str, key: &[u8]| {
            if has_ml_kem {
                return bound(algorithm, alg).await;
            }
            let destination = service(algorithm).await;
            let jwk = json!({ "kty": "AKP", "alg": alg, "pub": BASE64URL.encode(key) });
            let body = json!({ "serviceId": destination, "publicKey": jwk });
            create("/admin/keys", body, "id").await;
            bound_to(&destination, algorithm, alg, "destination_managed").await
        };
        let private = DecapsulationKey::generate(&ML_KEM_768).expect("a key");
        let ml_kem = private.encapsulation_key().expect("a public key");
        let ml_kem = ml_kem.key_bytes().expect("a public key");
        let private = PrivateKey::generate(&ECDH_P256).expect("a key");
        let point = private.compute_public_key().expect("a public key");
        let hybrid = [ml_kem.as_ref(), point.as_ref()].concat();
        Self {
            rsa_2048: bound("RSA-2048", "RSA-OAEP-256").await,
            rsa_3072: bound("RSA-3072", "RSA-OAEP-256").await,
            p256: bound("P-256", "ECDH-ES+A256KW").await,
            hybrid: post_quantum("P-256+ML-KEM-768", "HPKE-8-KE", &hybrid).await,
            ml_kem: post_quantum("ML-KEM-768", "HPKE-12-KE", ml_kem.as_ref()).await,
            sign_rsa: key(&caller, "sig", "RSA-2048").await,
            sign_p256: key(&caller, "sig", "P-256").await,
            data: key(&caller, "data", "AES-256").await,
        }
    }
}

async fn started(site: &Site, variables: &[(&str, &str)]) -> (Process, Duration) {
    site.admin_key();
    let variables = [&[BODY_LIMIT, POST_QUANTUM, TRANSIT], variables].concat();
    let began = Instant::now();
    let process = Process::start_with(site, &variables).await;
    (process, began.elapsed())
}
