//! Status, Encrypt and Decrypt.

use std::time::{Duration, Instant};

use tonic::{Code, Status};

use super::Running;
use super::sealward::Behavior;
use crate::proto::{DecryptResponse, EncryptRequest, EncryptResponse};

const SEED: [u8; 32] = [5; 32];

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, text: &str) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(text), "{status}");
    assert!(!status.message().contains(char::is_control), "{status}");
}

#[tokio::test]
async fn status_names_the_key_that_encrypted_the_probe() {
    let plugin = Running::new().await;
    let status = plugin.status().await.unwrap();
    assert_eq!((&*status.version, &*status.healthz, &*status.key_id), ("v2", "ok", "key_1"));
    let [probe] = &plugin.sealward.received()[..] else { panic!("one probe") };
    assert_eq!(probe.request_id.as_deref(), Some("kube-kms-probe"));
    assert_eq!(probe.body["payload"]["algorithm"], "AES-256-GCM");
    assert!(probe.body["payload"].get("keyId").is_none(), "{probe:?}");
}

#[tokio::test]
async fn a_rotation_shows_with_the_first_probe_after_30_seconds() {
    let plugin = Running::new().await;
    assert_eq!(plugin.key().await, "key_1");
    plugin.sealward.rotate_to("key_2");
    plugin.seconds_pass(29);
    assert_eq!(plugin.key().await, "key_1");
    assert_eq!(plugin.sealward.received().len(), 1);
    plugin.seconds_pass(1);
    assert_eq!(plugin.key().await, "key_2");
    assert_eq!(plugin.sealward.received().len(), 1);
}

#[tokio::test]
async fn encrypt_names_the_key_of_the_last_status() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.sealward.rotate_to("key_2");
    plugin.seconds_pass(31);
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    assert_eq!(encrypted.key_id, "key_1");
    assert!(encrypted.annotations.is_empty());
    assert_eq!(encrypted.ciphertext.len(), 1 + 12 + 16 + SEED.len());
    assert_eq!(encrypted.ciphertext[0], 1);
    assert_eq!(plugin.decrypt(&encrypted).await.unwrap().plaintext, SEED);
    assert_eq!(plugin.key().await, "key_2");
    assert_eq!(plugin.encrypt(&SEED).await.unwrap().key_id, "key_2");
}

#[tokio::test]
async fn a_key_that_status_did_not_name_is_not_used() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.sealward.set(Behavior::UsesAnotherKey);
    assert_refused(plugin.encrypt(&SEED).await, Code::Internal, "with another key");
}

#[tokio::test]
async fn nothing_is_encrypted_before_the_first_status() {
    let plugin = Running::new().await;
    assert_refused(plugin.encrypt(&SEED).await, Code::Unavailable, "before the first");
    assert!(plugin.sealward.received().is_empty());
}

#[tokio::test]
async fn nothing_is_encrypted_after_a_failed_probe() {
    let plugin = Running::new().await;
    let before = {
        plugin.key().await;
        plugin.encrypt(&SEED).await.unwrap()
    };
    plugin.sealward.set(Behavior::Refuses(401, "AUTHENTICATION_FAILED"));
    plugin.seconds_pass(30);
    assert_refused(plugin.status().await, Code::Unauthenticated, "401 AUTHENTICATION_FAILED");
    plugin.sealward.set(Behavior::Encrypts);
    plugin.sealward.received();
    assert_refused(plugin.encrypt(&SEED).await, Code::Unauthenticated, "Sealward does not encrypt");
    assert!(plugin.sealward.received().is_empty());
    assert_eq!(plugin.decrypt(&before).await.unwrap().plaintext, SEED);
    plugin.seconds_pass(30);
    plugin.key().await;
    plugin.encrypt(&SEED).await.unwrap();
}

#[tokio::test]
async fn nothing_is_encrypted_90_seconds_after_the_last_probe() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.seconds_pass(90);
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    plugin.seconds_pass(1);
    plugin.sealward.received();
    assert_refused(plugin.encrypt(&SEED).await, Code::Unavailable, "more than 90 s old");
    assert!(plugin.sealward.received().is_empty());
    assert_eq!(plugin.decrypt(&encrypted).await.unwrap().plaintext, SEED);
}

#[tokio::test]
async fn decrypt_uses_the_key_of_the_request_and_needs_no_status() {
    let plugin = Running::new().await;
    plugin.key().await;
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    let other = Running::new().await;
    other.sealward.rotate_to("key_9");
    assert_eq!(other.decrypt(&encrypted).await.unwrap().plaintext, SEED);
    let [request] = &other.sealward.received()[..] else { panic!("one request") };
    assert_eq!(request.body["payload"]["keyId"], "key_1");
}

#[tokio::test]
async fn each_decrypt_asks_sealward() {
    let plugin = Running::new().await;
    plugin.key().await;
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    plugin.sealward.received();
    for _ in 0..3 {
        plugin.decrypt(&encrypted).await.unwrap();
    }
    assert_eq!(plugin.sealward.received().len(), 3);
}

#[tokio::test]
async fn what_the_plugin_did_not_make_does_not_reach_sealward() {
    let plugin = Running::new().await;
    plugin.key().await;
    let good = plugin.encrypt(&SEED).await.unwrap();
    plugin.sealward.received();
    let of =
        |ciphertext: &[u8]| EncryptResponse { ciphertext: ciphertext.to_owned(), ..good.clone() };
    let without_key = EncryptResponse { key_id: String::new(), ..good.clone() };
    let annotations = [("name.example.com".to_owned(), vec![1])].into();
    let annotated = EncryptResponse { annotations, ..good.clone() };
    let other_version = [&[2], &good.ciphertext[1..]].concat();
    for wrong in [of(&[]), of(&good.ciphertext[..28]), of(&other_version), without_key, annotated] {
        assert_refused(plugin.decrypt(&wrong).await, Code::InvalidArgument, "not from this plugin");
    }
    let long = vec![0; 1_000];
    assert_refused(plugin.encrypt(&long).await, Code::InvalidArgument, "more than 970 bytes");
    assert!(plugin.sealward.received().is_empty());
}

#[tokio::test]
async fn refusals_keep_their_reason() {
    let plugin = Running::new().await;
    plugin.key().await;
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    for (status, code, expected) in [
        (400, "DECRYPTION_FAILED", Code::DataLoss),
        (401, "AUTHENTICATION_FAILED", Code::Unauthenticated),
        (403, "OPERATION_NOT_ALLOWED", Code::PermissionDenied),
        (403, "SERVICE_FROZEN", Code::PermissionDenied),
        (404, "KEY_NOT_FOUND", Code::NotFound),
        (429, "RATE_LIMIT_EXCEEDED", Code::ResourceExhausted),
        (503, "SERVICE_UNAVAILABLE", Code::Unavailable),
    ] {
        plugin.sealward.set(Behavior::Refuses(status, code));
        assert_refused(plugin.decrypt(&encrypted).await, expected, code);
        assert_refused(plugin.encrypt(&SEED).await, expected, code);
    }
}

#[tokio::test]
async fn texts_of_others_are_escaped() {
    let plugin = Running::new().await;
    plugin.sealward.set(Behavior::Refuses(404, "KEY_NOT_FOUND"));
    assert_refused(plugin.status().await, Code::NotFound, r"refused\r\n\u{1b}[31m");
    let ciphertext = [&[1][..], &[0; 28]].concat();
    let key_id = "key_1\n\u{9b}".to_owned();
    let stored = EncryptResponse { ciphertext, key_id, ..EncryptResponse::default() };
    assert_refused(plugin.decrypt(&stored).await, Code::NotFound, r"with key_1\n\u{9b}: 404");
}

#[tokio::test]
async fn a_stuck_sealward_is_an_error_within_3_seconds() {
    let plugin = Running::new().await;
    plugin.key().await;
    let encrypted = plugin.encrypt(&SEED).await.unwrap();
    plugin.seconds_pass(30);
    plugin.sealward.set(Behavior::Hangs);
    let began = Instant::now();
    let (status, also_status, encrypt, decrypt) = tokio::join!(
        plugin.status(),
        plugin.status(),
        plugin.encrypt(&SEED),
        plugin.decrypt(&encrypted)
    );
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_refused(status, Code::DeadlineExceeded, "no answer within 2.5 s");
    assert_refused(also_status, Code::DeadlineExceeded, "no answer within 2.5 s");
    assert_refused(encrypt, Code::DeadlineExceeded, "no answer within 2.5 s");
    assert_refused(decrypt, Code::DeadlineExceeded, "no answer within 2.5 s");
}

#[tokio::test]
async fn a_probe_whose_caller_gave_up_still_counts() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.seconds_pass(30);
    plugin.sealward.set(Behavior::Hangs);
    plugin.sealward.received();
    let impatient = tokio::time::timeout(Duration::from_millis(100), plugin.status()).await;
    assert!(impatient.is_err());
    // The result of the first probe, which goes on.
    assert_refused(plugin.status().await, Code::DeadlineExceeded, "no answer");
    assert_eq!(plugin.sealward.received().len(), 1);
    plugin.sealward.set(Behavior::Encrypts);
    assert_refused(plugin.encrypt(&SEED).await, Code::DeadlineExceeded, "no answer");
}

#[tokio::test]
async fn requests_have_the_id_of_the_call_if_it_is_valid() {
    let plugin = Running::new().await;
    plugin.key().await;
    plugin.sealward.received();
    let long = "x".repeat(129);
    for (uid, sent) in [("uid-1", Some("uid-1")), ("", None), ("a b", None), (&long, None)] {
        plugin.kubernetes.encrypt(&SEED, uid).await.unwrap();
        assert_eq!(plugin.sealward.received()[0].request_id.as_deref(), sent, "{uid}");
    }
}

#[test]
fn messages_do_not_show_plaintext() {
    let request = EncryptRequest { plaintext: vec![42; 3], uid: "uid-1".to_owned() };
    assert!(!format!("{request:?}").contains("42"), "{request:?}");
    let response = DecryptResponse { plaintext: vec![42; 3] };
    assert!(!format!("{response:?}").contains("42"), "{response:?}");
}
