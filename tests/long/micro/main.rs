//! Benchmarks of single functions of the request path: `tests/long/micro/run [FILTER]`.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

use std::time::Duration;

use divan::{Bencher, black_box};
use engine::audit::{Endpoint, OperationType, Outcome, Record, Recorder};
use engine::auth::{ApiKeySecret, ApiKeyType};
use engine::catalog::{Cache, Catalog, Topic};
use engine::floor::Floor;
use engine::ids::KeyId;
use engine::settings::Audit;
use formats::binary::{from_base64url, to_base64url};
use formats::canonical;
use formats::clock::{Clock, Entropy};
use formats::envelope::{Alg, Curve, Enc, Envelope, HeaderMembers, Recipient, seal};
use formats::json::Text;
use secrecy::ExposeSecret as _;
use tokio::runtime::Runtime;

use testkit::PrivateKey;
use testkit::{Database, pool, pulse, within, write};

const KIB: usize = 1_024;
const SIZES: [usize; 2] = [KIB, 64 * KIB];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn seal_rsa_2048(bencher: Bencher<'_, '_>, size: usize) {
    sealing(bencher, &PrivateKey::rsa(), Alg::RsaOaep256, size);
}

#[divan::bench(args = SIZES)]
fn seal_p_256(bencher: Bencher<'_, '_>, size: usize) {
    sealing(bencher, &PrivateKey::ec(Curve::P256), Alg::EcdhEsA256Kw, size);
}

/// All steps except the token operation.
#[divan::bench(args = SIZES)]
fn open_rsa_2048(bencher: Bencher<'_, '_>, size: usize) {
    let private = PrivateKey::rsa();
    let envelope = sealed(&private, Alg::RsaOaep256, &payload(size));
    let content_key = private.answer(private.asked(parsed(&envelope)).question());
    bencher.bench(|| {
        let opening = private.asked(parsed(black_box(&envelope)));
        opening.open(&Entropy::system(), content_key.as_deref(), None).expect("an envelope")
    });
}

/// The members of the envelope and its header.
#[divan::bench]
fn decode_header(bencher: Bencher<'_, '_>) {
    let envelope = sealed(&PrivateKey::rsa(), Alg::RsaOaep256, &payload(16));
    bencher.bench(|| parsed(black_box(&envelope)));
}

#[divan::bench]
fn check_api_key(bencher: Bencher<'_, '_>) {
    let key = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Live);
    let at_rest = key.at_rest();
    bencher.bench(|| {
        let sent = ApiKeySecret::parse(black_box(key.expose_secret())).expect("a key");
        assert!(sent.at_rest().matches(&at_rest));
    });
}

#[divan::bench]
fn hit_catalog(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let database = runtime.block_on(Database::new());
    let _inside = runtime.enter();
    let catalog = Catalog::new();
    runtime.spawn(catalog.clone().listen(
        database.pool(),
        Floor::default(),
        Entropy::system(),
        pulse(),
    ));
    runtime.block_on(within(Duration::from_secs(60), async || catalog.is_current()));
    let read = |key: u64| async move { Ok(Some(key)) };
    let cache = Cache::new(catalog, &[Topic::Keys], 10, read);
    bencher.bench(|| runtime.block_on(cache.get(black_box(&7))).expect("a value"));
}

/// One record at a time, from submission to receipt.
#[divan::bench(sample_count = 20, sample_size = 50)]
fn record(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let database = runtime.block_on(Database::new());
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let _inside = runtime.enter();
    let pool = pool(database.as_application());
    let (recorder, writer) = Recorder::open(clock.clone(), entropy, pool, &Audit::default());
    let _jobs = write(writer);
    bencher.bench(|| {
        let pending = recorder.submit(one(&clock)).expect("a place");
        runtime.block_on(pending.receipt()).expect("a receipt")
    });
}

#[divan::bench(args = SIZES)]
fn write_base64url(bencher: Bencher<'_, '_>, size: usize) {
    let bytes = vec![0x5a; size];
    bencher.bench(|| to_base64url(black_box(&bytes)));
}

#[divan::bench(args = SIZES)]
fn read_base64url(bencher: Bencher<'_, '_>, size: usize) {
    let text = to_base64url(&vec![0x5a; size]);
    bencher.bench(|| from_base64url(black_box(&text)).expect("base64url"));
}

#[divan::bench(args = SIZES)]
fn canonicalize(bencher: Bencher<'_, '_>, size: usize) {
    let member = r#"{"z":[1,2.5,-3e2],"b":"text","a":{"nested":true}},"#;
    let text = format!("[{}null]", member.repeat(size / member.len()));
    bencher.bench(|| {
        let text = Text::parse(black_box(text.as_bytes())).expect("JSON");
        canonical::bytes(text).expect("canonical").into_owned()
    });
}

#[divan::bench(args = SIZES)]
fn scan_json(bencher: Bencher<'_, '_>, size: usize) {
    let text = format!(r#"{{"payload":"{}"}}"#, "x".repeat(size));
    bencher.bench(|| Text::parse(black_box(text.as_bytes())).map(Text::kind));
}

fn sealing(bencher: Bencher<'_, '_>, private: &PrivateKey, alg: Alg, size: usize) {
    let payload = payload(size);
    bencher.bench(|| sealed(private, alg, black_box(&payload)));
}

fn payload(size: usize) -> String {
    format!("\"{}\"", "x".repeat(size - 2))
}

fn sealed(private: &PrivateKey, alg: Alg, payload: &str) -> String {
    let recipient = Recipient {
        key: private.public(),
        kid: "key_01h455vb4pex5vsknk084sn02q",
        alg,
        enc: Enc::A256GCM,
        policy: None,
        context: None,
        members: HeaderMembers::default(),
    };
    let mut out = String::with_capacity(payload.len() * 4 / 3 + KIB);
    let made = seal(&Entropy::system(), recipient, payload.as_bytes(), &mut out);
    made.expect("an envelope");
    out
}

fn parsed(envelope: &str) -> Envelope {
    let text = Text::parse(envelope.as_bytes()).expect("JSON");
    Envelope::parse(text).expect("an envelope")
}

fn one(clock: &Clock) -> Record {
    let entropy = Entropy::system();
    Record {
        request_id: "req_01h455vb4pex5vsknk084sn02q".into(),
        service_id: None,
        credential_id: None,
        token_subject: None,
        operation_type: Some(OperationType::Encrypt),
        endpoint: Some(Endpoint::Protect),
        policy_number: Some("POL-000001".into()),
        key_id: Some(KeyId::new(clock, &entropy)),
        ctx: None,
        payload_size_bytes: KIB,
        response_status: 200,
        arrived: clock.monotonic(),
        error_code: None,
        outcome: Outcome::Done,
        error_message: None,
        client_address: None,
        item: None,
        sealing: None,
    }
}

fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}
