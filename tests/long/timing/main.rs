//! Checks that the time of an error response does not reveal the kind of fault, with the method of
//! dudect: requests with two kinds of fault in random order, compared by Welch's t-test. It measures
//! whole requests, including the token and the audit log.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

mod compare;

use std::process::ExitCode;
use std::time::Instant;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use compare::{KEPT, SUSPICIOUS, median, welch};
use testkit::{
    Client, Destination, EnvelopeBuilder, PROTECT, UNPROTECT, World, epk, header_of, jwe,
};

/// The default number of requests of each kind; the first argument overrides it.
const SAMPLES: usize = 10_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let samples = std::env::args().find_map(|argument| argument.parse().ok());
    let samples = samples.unwrap_or(SAMPLES);
    let world = World::new().await;
    // SoftHSM2 lacks ML-KEM.
    let with_ml_kem = World::post_quantum().await;
    let mut is_suspicious = false;
    println!("{samples} requests of each kind; |t| > {SUSPICIOUS} distinguishes two kinds\n");
    println!("| Key | Fault | Reference | median µs | median µs | t of all | of 95 % | of 75 % |");
    println!("|---|---|---|--:|--:|--:|--:|--:|");
    for (world, algorithm, alg) in [
        (&world, "RSA-2048", "RSA-OAEP-256"),
        (&world, "P-256", "ECDH-ES+A256KW"),
        (&with_ml_kem, "P-256+ML-KEM-768", "HPKE-8-KE"),
        (&with_ml_kem, "ML-KEM-768", "HPKE-12-KE"),
        (&with_ml_kem, "ML-KEM-1024", "HPKE-13-KE"),
    ] {
        let destination = world.destination(algorithm, algorithm, alg).await;
        let client = unlimited(world, algorithm, &destination.policy).await;
        let reference =
            damaged(&valid_envelope(world, &destination).await.envelope(), "tag", |tag| {
                tag[3] ^= 1
            });
        let of_envelopes = faults(world, &destination).await;
        let of_envelopes = of_envelopes.into_iter().map(|(fault, envelope)| {
            (fault, json!({ "jwe": envelope }), json!({ "jwe": reference }))
        });
        let of_contexts = context_faults(&client).await;
        for (fault, request, reference) in of_envelopes.chain(of_contexts) {
            let times = interleaved(&client, [&request, &reference], samples).await;
            let medians = times.clone().map(median);
            let compared = KEPT.map(|kept| welch(&times, kept));
            let [all, most, many] = compared;
            println!(
                "| {algorithm} | {fault} | tag | {:.1} | {:.1} | {all:.2} | {most:.2} | {many:.2} |",
                medians[0], medians[1]
            );
            is_suspicious |= compared.iter().any(|t| t.abs() > SUSPICIOUS);
        }
    }
    if is_suspicious {
        println!("\nresponse times distinguish some kinds of fault");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn valid_envelope(world: &World, destination: &Destination) -> EnvelopeBuilder {
    EnvelopeBuilder::to(world, destination).await
}

/// Envelopes with faults. Each is compared with an envelope that has a wrong tag.
async fn faults(world: &World, destination: &Destination) -> Vec<(&'static str, Value)> {
    let envelope = valid_envelope(world, destination).await.envelope();
    let mut short_key = valid_envelope(world, destination).await;
    short_key.content_key = vec![7; 16];
    let mut not_json = valid_envelope(world, destination).await;
    not_json.plaintext = b"[1,2}".to_vec();
    let mut faults = vec![
        // A wrong tag against itself shows the noise of the machine.
        ("tag", damaged(&envelope, "tag", |tag| tag[3] ^= 1)),
        ("wrapped key changed", damaged(&envelope, "encrypted_key", |key| key[9] ^= 1)),
        ("wrapped key too short", damaged(&envelope, "encrypted_key", |key| _ = key.pop())),
        ("wrapped key of zeros", damaged(&envelope, "encrypted_key", |key| key.fill(0))),
        ("content key too short", short_key.envelope()),
        ("iv too long", damaged(&envelope, "iv", |iv| iv.push(0))),
        ("not JSON", not_json.envelope()),
    ];
    let envelope_alg = valid_envelope(world, destination).await.header["alg"].clone();
    let envelope_alg = envelope_alg.as_str().unwrap();
    if envelope_alg == "ECDH-ES+A256KW" {
        let mut off_the_curve = valid_envelope(world, destination).await;
        off_the_curve.header["epk"] = epk(&[5; 64]);
        faults.push(("point off the curve", off_the_curve.envelope()));
    }
    if envelope_alg.starts_with("HPKE") {
        let mut zeros = encapsulated(&envelope);
        // The point of a hybrid is valid.
        let ml_kem = if zeros.len() == 1568 { 1568 } else { 1088 };
        zeros[..ml_kem].fill(0);
        let mut short = encapsulated(&envelope);
        short.pop();
        let mut faulty = vec![("ciphertext of zeros", zeros), ("ciphertext too short", short)];
        if envelope_alg == "HPKE-8-KE" {
            let mut off_the_curve = encapsulated(&envelope);
            off_the_curve[1088 + 1..].fill(5);
            faulty.push(("point off the curve", off_the_curve));
        }
        for (fault, ek) in faulty {
            let mut builder = valid_envelope(world, destination).await;
            builder.header["ek"] = json!(BASE64URL.encode(ek));
            faults.push((fault, builder.envelope()));
        }
    }
    faults
}

/// The `ek` of an envelope.
fn encapsulated(envelope: &Value) -> Vec<u8> {
    let ek = header_of(envelope)["ek"].as_str().unwrap().to_owned();
    BASE64URL.decode(ek).unwrap()
}

/// Requests with wrong contexts. Each is compared with the same request for an envelope that has a wrong
/// tag. The payload is large, so that reading it would show in the time.
async fn context_faults(client: &Client<'_>) -> Vec<(&'static str, Value, Value)> {
    let context = |record: &str| json!({ "tenant": "acme", "record": record });
    let payload = json!("x".repeat(64 * 1_024));
    let body = json!({ "payload": payload, "context": context("4711") });
    let bound = jwe(&client.post(PROTECT, body).await);
    let free = jwe(&client.protect(payload).await);
    let (right, wrong) = (Some(context("4711")), Some(context("4712")));
    let cases = [
        ("wrong context", &bound, wrong, right.clone()),
        ("missing context", &bound, None, None),
        ("superfluous context", &free, right.clone(), right),
    ];
    let request = |envelope: Value, context: Option<Value>| match context {
        Some(context) => json!({ "jwe": envelope, "context": context }),
        None => json!({ "jwe": envelope }),
    };
    let cases = cases.map(|(fault, envelope, context, of_reference)| {
        let reference = damaged(envelope, "tag", |tag| tag[3] ^= 1);
        (fault, request(envelope.clone(), context), request(reference, of_reference))
    });
    cases.into()
}

fn damaged(envelope: &Value, member: &str, damage: fn(&mut Vec<u8>)) -> Value {
    let mut bytes = BASE64URL.decode(envelope[member].as_str().unwrap()).unwrap();
    damage(&mut bytes);
    let mut envelope = envelope.clone();
    envelope[member] = json!(BASE64URL.encode(bytes));
    envelope
}

/// A client without an effective rate limit.
async fn unlimited<'w>(world: &'w World, name: &str, policy: &str) -> Client<'w> {
    let client = world.application(&format!("client of {name}")).bound_to(policy).await;
    let service = format!("/admin/services/{}", client.service.as_ref().unwrap());
    let limit = json!({
        "tier": "enterprise",
        "rateLimit": { "requestsPerSecond": 1_000_000, "burst": 1_000_000 },
    });
    world.admin().put(&service, limit).await.ok();
    client
}

/// The times of requests in microseconds, with one of the two bodies at random.
async fn interleaved(client: &Client<'_>, bodies: [&Value; 2], samples: usize) -> [Vec<f64>; 2] {
    let mut times = [Vec::with_capacity(samples), Vec::with_capacity(samples)];
    while times.iter().any(|times| times.len() < samples) {
        let one = usize::from(rand::random::<bool>());
        let body = bodies[one].clone();
        let started = Instant::now();
        let answer = client.post(UNPROTECT, body).await;
        let took = started.elapsed();
        assert_eq!(answer.status, 500, "{}", answer.body);
        times[one].push(took.as_secs_f64() * 1e6);
    }
    times
}
