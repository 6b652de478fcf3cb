//! All cryptographic failures have the same response.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use testkit::{Answer, Destination, EnvelopeBuilder, World, epk, header_of};

/// A change of the bytes of a member.
type Damage = fn(&mut Vec<u8>);

const DAMAGES: [(&str, &str, Damage); 21] = [
    ("encrypted_key", "first bit", |bytes| bytes[0] ^= 0x80),
    ("encrypted_key", "last bit", |bytes| *bytes.last_mut().unwrap() ^= 1),
    ("encrypted_key", "shorter", |bytes| _ = bytes.pop()),
    ("encrypted_key", "longer", |bytes| bytes.push(0)),
    ("encrypted_key", "longer by eight", |bytes| bytes.extend([0; 8])),
    ("encrypted_key", "leading zero", |bytes| bytes.insert(0, 0)),
    ("encrypted_key", "empty", Vec::clear),
    ("encrypted_key", "zeros", |bytes| bytes.fill(0)),
    ("encrypted_key", "beyond the modulus", |bytes| bytes.fill(0xff)),
    ("iv", "changed", |bytes| bytes[0] ^= 1),
    ("iv", "shorter", |bytes| _ = bytes.pop()),
    ("iv", "longer", |bytes| bytes.push(0)),
    ("iv", "empty", Vec::clear),
    ("ciphertext", "changed", |bytes| bytes[0] ^= 1),
    ("ciphertext", "shorter", |bytes| _ = bytes.pop()),
    ("ciphertext", "longer", |bytes| bytes.push(0)),
    ("ciphertext", "empty", Vec::clear),
    ("tag", "changed", |bytes| bytes[15] ^= 1),
    ("tag", "shorter", |bytes| _ = bytes.pop()),
    ("tag", "longer", |bytes| bytes.push(0)),
    ("tag", "empty", Vec::clear),
];

const NOT_JSON: [&[u8]; 6] = [b"", b"not JSON", b"1 2", b"[1,]", b"\"\xff\"", b"\xef\xbb\xbf1"];

/// An envelope for `destination` with a changed header. The other parts match the header.
pub(super) async fn envelope_for(
    world: &World,
    destination: &Destination,
    change: impl FnOnce(&mut Value),
) -> Value {
    let mut builder = EnvelopeBuilder::to(world, destination).await;
    change(&mut builder.header);
    builder.envelope()
}

fn damaged(envelope: &Value, member: &str, damage: Damage) -> Value {
    let mut bytes = BASE64URL.decode(envelope[member].as_str().unwrap()).unwrap();
    damage(&mut bytes);
    let mut envelope = envelope.clone();
    envelope[member] = json!(BASE64URL.encode(bytes));
    envelope
}

/// Envelopes with every kind of fault, for a key of either family.
async fn faults(world: &World, to: &Destination, other: &Destination) -> Vec<(String, Value)> {
    let sound = async || EnvelopeBuilder::to(world, to).await;
    let envelope = sound().await.envelope();
    let mut faults = Vec::new();
    for (member, what, damage) in DAMAGES {
        faults.push((format!("{member} {what}"), damaged(&envelope, member, damage)));
    }
    for member in ["encrypted_key", "iv", "ciphertext", "tag"] {
        let whole = envelope[member].as_str().unwrap();
        // Six bits are no bytes, and twelve are valid only if the last four are zero.
        for text in [&whole[..whole.len() - 1], "A", "AB"] {
            let mut cut = envelope.clone();
            cut[member] = json!(text);
            faults.push((format!("{member} as {text}"), cut));
        }
    }
    for plaintext in NOT_JSON {
        let mut builder = sound().await;
        builder.plaintext = plaintext.to_vec();
        faults.push((format!("plaintext {plaintext:?}"), builder.envelope()));
    }
    let mut deep = sound().await;
    deep.plaintext = format!("{}{}", "[".repeat(129), "]".repeat(129)).into();
    faults.push(("deep plaintext".into(), deep.envelope()));
    for length in [16, 24, 40] {
        let mut builder = sound().await;
        builder.content_key = vec![7; length];
        faults.push((format!("content key of {length} bytes"), builder.envelope()));
    }
    let wrong_key = sound().await.with_key_of(EnvelopeBuilder::to(world, other).await);
    faults.push(("for another key".into(), wrong_key.envelope()));
    let mut other_header = envelope.clone();
    let mut header = sound().await.header;
    if let Some(epk) = header_of(&envelope).get("epk") {
        header["epk"] = epk.clone();
    }
    header["typ"] = json!("JOSE");
    other_header["protected"] = json!(BASE64URL.encode(header.to_string()));
    faults.push(("another header".into(), other_header));
    let mut smaller = envelope.clone();
    let mut header = header_of(&envelope);
    header["enc"] = json!("A128GCM");
    smaller["protected"] = json!(BASE64URL.encode(header.to_string()));
    faults.push(("another enc".into(), smaller));
    faults
}

/// The response without the rate limit headers.
pub(super) fn seen(answer: &Answer) -> String {
    let headers: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| !name.as_str().starts_with("x-ratelimit-"))
        .collect();
    format!("{} {headers:?} {}", answer.status, answer.body)
}

#[tokio::test]
async fn every_cryptographic_failure_has_the_same_response() {
    let world = World::new().await;
    let rsa = world.destination("rsa", "RSA-2048", "RSA-OAEP-256").await;
    let other_rsa = world.destination("other rsa", "RSA-2048", "RSA-OAEP-256").await;
    let ec = world.destination("ec", "P-256", "ECDH-ES+A256KW").await;
    let other_ec = world.destination("other ec", "P-256", "ECDH-ES+A256KW").await;

    let mut faults_of_rsa = faults(&world, &rsa, &other_rsa).await;
    let mut sha1 = EnvelopeBuilder::to(&world, &rsa).await.envelope();
    let mut header = header_of(&sha1);
    header["alg"] = json!("RSA-OAEP");
    sha1["protected"] = json!(BASE64URL.encode(header.to_string()));
    faults_of_rsa.push(("another hash".into(), sha1));

    let mut faults_of_ec = faults(&world, &ec, &other_ec).await;
    for (what, point) in
        [("off the curve", [5; 64]), ("at zero", [0; 64]), ("beyond the field", [0xff; 64])]
    {
        let envelope = envelope_for(&world, &ec, |header| header["epk"] = epk(&point)).await;
        faults_of_ec.push((format!("point {what}"), envelope));
    }
    let mut cut = epk(&[5; 64]);
    cut["x"] = json!("A");
    let envelope = envelope_for(&world, &ec, |header| header["epk"] = cut).await;
    faults_of_ec.push(("a coordinate that was cut".into(), envelope));
    let unrelated = header_of(&EnvelopeBuilder::to(&world, &ec).await.envelope())["epk"].clone();
    let envelope = envelope_for(&world, &ec, |header| header["epk"] = unrelated).await;
    faults_of_ec.push(("another point".into(), envelope));

    let mut first: Option<String> = None;
    for (destination, faults) in [(rsa, faults_of_rsa), (ec, faults_of_ec)] {
        let alice = world.application(&destination.policy).bound_to(&destination.policy).await;
        let alice = alice.with("x-request-id", "always the same");
        let sound = EnvelopeBuilder::to(&world, &destination).await.envelope();
        assert_eq!(alice.unprotect(&sound).await.ok().json()["payload"], json!([1, 2]));
        for (what, envelope) in faults {
            let answer = alice.unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
            let seen = seen(&answer);
            assert_eq!(*first.get_or_insert(seen.clone()), seen, "{what}");
        }
    }
}

#[tokio::test]
async fn the_audit_log_shows_no_more_than_the_response() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let other = world.destination("other", "P-256", "ECDH-ES+A256KW").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    for (_, envelope) in faults(&world, &destination, &other).await {
        alice.unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
    }
    let records: Vec<(i16, String, String)> = sqlx::query_as(
        "SELECT DISTINCT response_status, error_code, error_message
         FROM crypto_operations_audit WHERE operation_type = 'decrypt'",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    let only = (500, "INTERNAL_ERROR".to_owned(), "the operation failed".to_owned());
    assert_eq!(records, [only]);
}
