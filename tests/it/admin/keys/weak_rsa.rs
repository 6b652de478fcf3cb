//! RSA keys whose modulus is easy to factor.

use crypto_bigint::{BoxedUint, ConcatenatingMul as _, NonZero, Resize as _};
use crypto_primes::{Flavor, is_prime};
use formats::algorithms::{Algorithm, RsaParts};
use formats::binary::to_base64url;
use hsm::{ImportKey, KeyMaterial, NewKey, Purpose};
use pkcs8::der::Encode as _;
use pkcs8::der::asn1::UintRef;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::send;
use super::wrapped::{parameters, wrap};
use testkit::openssl::pem;
use testkit::{World, token};

/// A random prime of this length, whose two leading bits are set.
fn prime(bits: u32) -> BoxedUint {
    let hex = pem(&format!("prime -generate -hex -bits {bits}"), "");
    BoxedUint::from_str_radix_vartime(hex.trim(), 16).expect("a number")
}

fn next_prime(prime: &BoxedUint) -> BoxedUint {
    let two = BoxedUint::from(2_u8);
    let mut next = prime.wrapping_add(&two);
    while !is_prime(Flavor::Any, &next) {
        next = next.wrapping_add(&two);
    }
    next
}

fn bytes(number: &BoxedUint) -> Vec<u8> {
    number.to_be_bytes_trimmed_vartime().to_vec()
}

fn jwk(modulus: &BoxedUint) -> Value {
    json!({ "kty": "RSA", "e": "AQAB", "n": to_base64url(&bytes(modulus)) })
}

/// The private key of a prime and the next one. It works like any other key.
fn neighbours() -> RsaParts {
    let p = prime(1024);
    let q = next_prime(&p);
    let [below_p, below_q] = [&p, &q].map(|prime| prime.wrapping_sub(BoxedUint::one()));
    let nonzero = |number: BoxedUint| NonZero::new(number).expect("not zero");
    let order = nonzero(below_p.concatenating_mul(&below_q));
    let exponent = BoxedUint::from(65_537_u32);
    let private = exponent.clone().resize_unchecked(order.bits_precision());
    let private = private.invert_mod(&order).expect("an inverse");
    let modulo = |number: &BoxedUint| private.rem_vartime(&nonzero(number.clone()));
    let coefficient = q.invert_mod(&nonzero(p.clone())).expect("an inverse");
    let secret = |number: &BoxedUint| Zeroizing::new(bytes(number));
    RsaParts {
        modulus: bytes(&p.concatenating_mul(&q)),
        exponent: bytes(&exponent),
        private_exponent: secret(&private),
        prime1: secret(&p),
        prime2: secret(&q),
        exponent1: secret(&modulo(&below_p)),
        exponent2: secret(&modulo(&below_q)),
        coefficient: secret(&coefficient),
    }
}

/// The same key in PKCS#8.
fn encoded(parts: &RsaParts) -> Vec<u8> {
    let number = |bytes| UintRef::new(bytes).expect("a number");
    let numbers = pkcs1::RsaPrivateKeyRef {
        modulus: number(&parts.modulus),
        public_exponent: number(&parts.exponent),
        private_exponent: number(&parts.private_exponent),
        prime1: number(&parts.prime1),
        prime2: number(&parts.prime2),
        exponent1: number(&parts.exponent1),
        exponent2: number(&parts.exponent2),
        coefficient: number(&parts.coefficient),
        other_prime_infos: None,
    };
    let numbers = numbers.to_der().expect("DER");
    let key = pkcs8::PrivateKeyInfoRef::new(
        pkcs1::ALGORITHM_ID,
        numbers.as_slice().try_into().expect("an octet string"),
    );
    key.to_der().expect("DER")
}

/// Asserts that the key is refused for its modulus, with this reason.
async fn is_refused(world: &World, service: &str, body: Value, field: &str, reason: &str) {
    let refused = send(world, service, body).await;
    let message = refused.json()["error"]["details"][0]["message"].clone();
    refused.invalid(&[(field, "range")]);
    let message = message.as_str().expect("a message");
    assert!(message.contains(reason), "{message}");
}

const FAR_APART: &str = "two primes that are far apart";

#[tokio::test]
async fn weak_public_keys_are_refused() {
    let world = World::new().await;
    let service = world.service("partner").await;
    let p = prime(1024);
    let sound = p.concatenating_mul(&prime(1024));
    let even = sound.wrapping_sub(BoxedUint::one());
    for (modulus, field, reason) in [
        (prime(2048), "publicKey", "two different primes"),
        (p.concatenating_mul(&p), "publicKey", FAR_APART),
        (p.concatenating_mul(&next_prime(&p)), "publicKey", FAR_APART),
        (even, "publicKey.n", "must be odd"),
    ] {
        let body = json!({ "publicKey": jwk(&modulus) });
        is_refused(&world, &service, body, field, reason).await;
    }
    let body = json!({ "publicKey": jwk(&sound) });
    send(&world, &service, body).await.created();
}

#[tokio::test]
async fn a_weak_wrapped_key_is_refused() {
    let world = World::new().await;
    let service = world.service("wrapped").await;
    let key = encoded(&neighbours());
    let body = json!({ "wrappedKey": wrap(&parameters(&world).await, &key) });
    is_refused(&world, &service, body, "wrappedKey", FAR_APART).await;
}

#[tokio::test]
async fn a_weak_key_of_the_token_is_refused() {
    let world = World::new().await;
    let service = world.service("adopting").await;
    let id: [u8; 12] = rand::random();
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = NewKey {
        id: id.to_vec(),
        label: format!("vendor {hex}"),
        algorithm: Algorithm::Rsa2048,
        purpose: Purpose::Envelope,
    };
    let material = KeyMaterial::Rsa(neighbours());
    let imported = token().await.import(ImportKey { key, material }).await;
    imported.expect("a key in the token");
    let body = json!({ "tokenObject": { "ckaId": hex } });
    is_refused(&world, &service, body, "tokenObject", FAR_APART).await;
}
