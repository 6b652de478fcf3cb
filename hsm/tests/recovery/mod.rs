//! The recovery rules of the crate, one test for each. The faults are injected behind the PKCS#11
//! interface, so that the tests run the shipped code.

mod away;
mod codes;
mod death;
mod hang;
mod pin;
mod sessions;
mod slow;
mod two;

/// The names of the threads, which fault rules select.
const WORKER: &str = "hsm-worker";
const MONITOR: &str = "hsm-monitor";

/// Generates a signing key and uses it once, so that its handle is cached.
async fn hmac_key(token: &hsm::Token) -> hsm::KeyRef {
    let key = crate::support::generate_key(
        token,
        formats::algorithms::Algorithm::HmacSha256,
        hsm::Purpose::Sign,
    )
    .await
    .key;
    token.hmac(&key, b"message").await.unwrap();
    key
}
