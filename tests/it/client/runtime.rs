//! The runtime API.

use sealward_client::{
    Cipher, Code, Data, Encrypt, Envelope, ErrorKind, HashAlgorithm, HealthStatus, Payload,
    Protection, Scope, Sealed, Sign, SignatureAlgorithm, Target,
};
use serde_json::json;

use super::{Served, tenant};

#[tokio::test]
async fn a_payload_comes_back_to_the_letter() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    for text in ["{\"b\": 12345678901234567890, \"a\":1.0}", "null", "\"\\u00fc\"", "[1e2]"] {
        let payload = Payload::raw(text).unwrap();
        let made = client.protect(&payload, &tenant("acme")).await.unwrap();
        let opened = client.unprotect(&made.envelope, &tenant("acme")).await.unwrap();
        assert_eq!(opened.payload.text(), text);
    }
    let bytes: Vec<u8> = (0..=255).collect();
    let made = client.protect(&Payload::bytes(&bytes), &Scope::new()).await.unwrap();
    let opened = client.unprotect(&made.envelope, &Scope::new()).await.unwrap();
    assert_eq!(*opened.payload.to_bytes().unwrap(), bytes);
}

#[tokio::test]
async fn another_context_is_a_final_failure() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let payload = Payload::json("x").unwrap();
    let made = client.protect(&payload, &tenant("acme")).await.unwrap();
    for scope in [tenant("other"), Scope::new()] {
        let error = client.unprotect(&made.envelope, &scope).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DecryptionFailed);
        assert!(!error.is_retryable());
        assert!(error.to_string().contains("repeating does not help"), "{error}");
    }
}

#[tokio::test]
async fn only_another_call_returns_what_passed_through() {
    let served = Served::new().await;
    let (destination, client) = served.bound().await;
    let payload = Payload::json("in the clear").unwrap();
    for (mode, is_dropped) in [("passthrough", false), ("drop", true)] {
        let change = json!({ "status": "inactive", "failureMode": mode });
        served.world.change_policy(&destination, change).await;
        let error = client.protect(&payload, &Scope::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotProtected, "{mode}");
        match client.protect_or_pass(&payload, &Scope::new()).await.unwrap() {
            Protection::PassedThrough { payload: passed, .. } if !is_dropped => {
                assert_eq!(passed, payload);
            }
            Protection::Dropped { .. } if is_dropped => {}
            other => panic!("{mode}: {other:?}"),
        }
    }
    served.world.change_policy(&destination, json!({ "failureMode": "error" })).await;
    let error = client.protect(&payload, &Scope::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyNotActive);
    assert_eq!(error.code(), Some(&Code::PolicyNotActive));
}

#[tokio::test]
async fn an_envelope_moves_to_another_context() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let payload = Payload::json(&[1, 2]).unwrap();
    let made = client.protect(&payload, &tenant("acme")).await.unwrap();
    let target = Target::new().context([("tenant", "other")]);
    let moved = client.rewrap(&made.envelope, &tenant("acme"), &target).await.unwrap();
    let opened = client.unprotect(&moved.envelope, &tenant("other")).await.unwrap();
    assert_eq!(opened.payload.parse::<Vec<u8>>().unwrap(), [1, 2]);
    // The text of an envelope, as a program stores it.
    let stored: Envelope = moved.envelope.to_string().parse().unwrap();
    assert!(client.unprotect(&stored, &tenant("other")).await.is_ok());
}

#[tokio::test]
async fn items_of_a_batch_fail_one_by_one() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let (good, missing) = (Scope::new(), Scope::new().policy("NONE"));
    let payloads: Vec<_> = (0..3).map(|number| Payload::json(&number).unwrap()).collect();
    let scopes = [&good, &missing, &good];
    let made = client.protect_batch(payloads.iter().zip(scopes)).await.unwrap();
    let refused = made[1].as_ref().unwrap_err();
    assert_eq!(refused.code(), Some(&Code::PolicyNotFound));

    let envelopes: Vec<_> = made.into_iter().flatten().map(|made| made.envelope).collect();
    let items = envelopes.iter().map(|envelope| (Sealed::from(envelope), &good));
    let opened = client.unprotect_batch(items).await.unwrap().into_iter();
    let opened: Vec<u32> = opened.map(|opened| opened.unwrap().payload.parse().unwrap()).collect();
    assert_eq!(opened, [0, 2]);
}

#[tokio::test]
async fn operations_take_values_and_bytes() {
    let served = Served::new().await;
    let alice = served.world.application("alice").await;
    let service = alice.service.clone().unwrap();
    served.world.key(&service, "data", "AES-256").await;
    served.world.key(&service, "sig", "P-256").await;
    let client = served.client(alice.key.as_ref().unwrap());

    let value = Payload::raw("{\"note\": 1.0}").unwrap();
    let encrypted = client.encrypt(Data::Json(&value), &Encrypt::default()).await.unwrap();
    assert_eq!(encrypted.algorithm, Cipher::Aes256Gcm);
    assert_eq!(client.decrypt(&encrypted, None).await.unwrap(), value);
    let how = Encrypt { aad: Some(b"row 1".to_vec()), ..Encrypt::default() };
    let encrypted = client.encrypt(Data::Bytes(b"\0\xff"), &how).await.unwrap();
    let opened = client.decrypt_bytes(&encrypted, Some(b"row 1")).await.unwrap();
    assert_eq!(*opened, b"\0\xff");
    let error = client.decrypt_bytes(&encrypted, Some(b"row 2")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DecryptionFailed);

    let sign = Sign::with(SignatureAlgorithm::EcdsaSha256);
    let signature = client.sign(Data::Json(&value), &sign).await.unwrap();
    assert!(client.verify(Data::Json(&value), &signature).await.unwrap());
    assert!(!client.verify(Data::Bytes(b"other"), &signature).await.unwrap());
    let hash = client.hash(Data::Bytes(b"abc"), &HashAlgorithm::Sha256).await.unwrap();
    assert_eq!(hash.hash[..4], [0xba, 0x78, 0x16, 0xbf]);
}

#[tokio::test]
async fn look_ups_are_typed() {
    let served = Served::new().await;
    let (destination, client) = served.bound().await;
    let caller = client.caller().await.unwrap();
    assert_eq!(caller.policy_number.as_ref(), Some(&destination.policy));
    let policy = client.policy(&destination.policy).await.unwrap();
    assert_eq!(policy.key.unwrap().kid, destination.key);
    let health = client.health().await.unwrap();
    assert_ne!(health.status, HealthStatus::Unavailable);
}

#[tokio::test]
async fn the_request_id_reaches_the_audit_log() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let named = client.with_request_id("order 4711");
    let made = named.protect(&Payload::json(&1).unwrap(), &Scope::new()).await.unwrap();
    assert_eq!(made.request_id, "order 4711");
    let filter = sealward_client::admin::AuditFilter {
        request_id: Some("order 4711".to_owned()),
        ..Default::default()
    };
    let admin = served.admin();
    let records = admin.admin().audit().list(&filter).all().await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].operation_type.as_deref(), Some("encrypt"));
}

#[test]
fn a_blocking_client_needs_no_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_served, client) = runtime.block_on(async {
        let served = Served::new().await;
        let (_, client) = served.bound().await;
        (served, client)
    });
    let client = sealward_client::blocking::Client::new(client).unwrap();
    let payload = Payload::json("x").unwrap();
    let made = client.protect(&payload, &Scope::new()).unwrap();
    assert_eq!(client.unprotect(&made.envelope, &Scope::new()).unwrap().payload, payload);
    assert!(client.wait(client.asynchronous().caller()).is_ok());
}
