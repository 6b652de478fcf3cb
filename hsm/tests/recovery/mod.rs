//! The recovery rules of the crate, one test for each: what a token does wrong, and what becomes
//! of the operations on it. The faults are injected behind the PKCS#11 interface, so everything
//! runs as it is shipped.

mod away;
mod codes;
mod death;
mod hang;
mod pin;
mod sessions;
mod slow;
mod two;

/// The names of the crate's threads, by which faults tell them apart.
const WORKER: &str = "hsm-worker";
const MONITOR: &str = "hsm-monitor";

/// Makes a key to sign with, and uses it once, so that it is found.
async fn hmac_key(token: &hsm::Token) -> hsm::KeyRef {
    let key = crate::support::make(token, hsm::Algorithm::HmacSha256, hsm::Purpose::Sign)
        .await
        .key;
    token.hmac(&key, b"message").await.unwrap();
    key
}
