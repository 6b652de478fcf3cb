//! Counts with callgrind the instructions to seal, to open, to answer requests to protect, to
//! unprotect and to hash, to authenticate with a known API key or token, and to write and to seal an
//! audit record. Counts are repeatable where times are not. `tests/long/instructions/run` compares
//! them with `counts.json` and fails if they differ by more than 5 % in either direction, those of the sealer, which
//! works in rounds, by more than 120 %.
//!
//! A request runs on one thread from the listener's service to its response, with the task that
//! completes its work. The database and the threads of the token are not counted.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a check, which may fail"
)]

mod callgrind;
mod sealing;

use std::hint::black_box;
use std::net::IpAddr;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use engine::auth::{Admission, Authenticator, Authorization, Credentials, Denied, EmergencySwitch};
use engine::catalog::Catalog;
use engine::client_certificates::ClientCertificate;
use engine::floor::Floor;
use engine::settings::{Settings, Stage};
use formats::clock::{Clock, Entropy};
use formats::envelope::{Alg, Enc, Envelope, HeaderMembers, Recipient, seal};
use formats::json::Text;
use sealward::server::Answers as _;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use callgrind::{Counted, counting};
use testkit::PrivateKey;
use testkit::{
    OPERATIONS, PATIENCE, PROTECT, SigningKey, TokenIssuer, UNPROTECT, World, jwe, within,
};

/// The number of repetitions; the count is per repetition.
const TIMES: usize = 50;
/// Requests are counted in batches, of which the smallest count is valid: on a busy machine, a cached
/// value can expire during one of them. Caches do their maintenance at the first look-up after 0.3 s, so
/// the first request of a batch is not counted.
const BATCHES: usize = 10;
const KIB: usize = 1_024;

fn main() {
    // All but the requests runs on threads of its own, which are not counted.
    let background = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let background = background.expect("a runtime");
    let payload = "x".repeat(KIB - 2);
    envelopes(&format!("\"{payload}\""));
    requests(&background, &payload);
    background.block_on(authenticate());
    let records = Builder::new_current_thread().enable_all().build().expect("a runtime");
    records.block_on(sealing::count(BATCHES));
}

/// Seals for a public key, and opens with the content key that the private key returns.
fn envelopes(payload: &str) {
    let entropy = Entropy::system();
    let private = PrivateKey::rsa();
    let recipient = Recipient {
        key: private.public(),
        kid: "key_01h455vb4pex5vsknk084sn02q",
        alg: Alg::RsaOaep256,
        enc: Enc::A256GCM,
        policy: None,
        context: None,
        members: HeaderMembers::default(),
    };
    let sealed = || {
        let mut out = String::with_capacity(4 * KIB);
        seal(&entropy, recipient, payload.as_bytes(), &mut out).expect("an envelope");
        out
    };
    counting("seal", TIMES, || {
        black_box(sealed());
    });
    let envelope = sealed();
    let parsed = || {
        let text = Text::parse(envelope.as_bytes()).expect("JSON");
        private.asked(Envelope::parse(text).expect("an envelope"))
    };
    let content_key = private.answer(parsed().question());
    counting("open", TIMES, || {
        let plaintext = parsed().open(&entropy, content_key.as_deref(), None);
        black_box(plaintext.expect("what was sealed").as_bytes());
    });
}

/// Answers requests of the runtime API.
fn requests(background: &Runtime, payload: &str) {
    let world = background.block_on(World::new());
    let (key, jwe) = background.block_on(async {
        let destination = world.destination("d", "RSA-2048", "RSA-OAEP-256").await;
        let caller = world.application("caller").bound_to(&destination.policy).await;
        let jwe = jwe(&caller.protect(json!(payload)).await);
        (caller.key.clone().expect("a key"), jwe)
    });
    let hash = json!({ "operation": "hash",
        "payload": { "algorithm": "SHA-256", "data": payload } });
    let cases = [
        ("protect", PROTECT, json!({ "payload": payload })),
        ("unprotect", UNPROTECT, json!({ "jwe": jwe })),
        ("hash", OPERATIONS, hash),
    ];
    let requests = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let front = world.front();
    for (name, path, body) in cases {
        let body = body.to_string();
        let request = || {
            Request::post(path)
                .header("authorization", format!("Bearer {key}"))
                .header("content-type", "application/json")
                .body(Body::from(body.clone()))
                .expect("a request")
        };
        // The first requests fill the caches.
        for _ in 0..5 {
            let answer = requests.block_on(front.clone().answer(request()));
            assert_eq!(answer.status(), 200);
        }
        callgrind::start();
        for _ in 0..BATCHES {
            requests.block_on(front.clone().answer(request()));
            for _ in 0..TIMES / BATCHES {
                let (front, request) = (front.clone(), request());
                let answer = callgrind::count(|| requests.block_on(front.answer(request)));
                let body = requests.block_on(to_bytes(answer.into_body(), usize::MAX));
                black_box(body.expect("a body"));
            }
            callgrind::dump(name, TIMES / BATCHES);
        }
        callgrind::stop();
    }
}

/// Admits every look-up.
struct Admitted;

impl Admission for Admitted {
    async fn counted(&mut self) -> Result<(), Denied> {
        Ok(())
    }

    async fn turn(&mut self) -> Result<(), Denied> {
        Ok(())
    }

    fn found(self) {}
}

/// Authenticates with credentials that are already cached.
async fn authenticate() {
    let signing_key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&signing_key]).await;
    let world = World::with_auth(Clock::system(), issuer.auth()).await;
    let application = world.application("caller").await;
    let service = application.service.as_deref().expect("a service");
    let matching = json!({ "issuer": issuer.name(), "subject": "job" });
    let identity = json!({ "name": "job", "serviceId": service, "match": matching });
    let created = world.admin().post("/admin/identities", identity).await;
    created.created();
    let token = signing_key.token(&issuer.claims("job", world.clock.now()));
    let key = application.key.as_deref().expect("a key");

    let (catalog, pool) = (Catalog::new(), world.pool.clone());
    let settings =
        Settings { environment: Stage::Development, auth: issuer.auth(), ..Settings::default() };
    let clock = world.clock.clone();
    let emergency = EmergencySwitch::new(catalog.clone(), pool.clone());
    let authenticator =
        Authenticator::new(clock, catalog.clone(), pool.clone(), emergency, &settings);
    let authenticator = authenticator.expect("settings in order");
    tokio::spawn(catalog.clone().listen(
        pool,
        Floor::default(),
        Entropy::system(),
        testkit::pulse(),
    ));
    within(PATIENCE, async || catalog.is_current()).await;
    for (name, credential) in [("authenticate-key", key), ("authenticate-token", &token)] {
        let bearer = format!("Bearer {credential}");
        let credentials = Credentials {
            authorization: Authorization::One(bearer.as_bytes()),
            certificate: ClientCertificate::Absent,
        };
        let client = IpAddr::from([127, 0, 0, 1]);
        let once = async || {
            let admission = &mut Admitted;
            let caller = authenticator.authenticate(&credentials, client, admission);
            caller.await
        };
        for _ in 0..5 {
            once().await.expect("a caller");
        }
        callgrind::start();
        for _ in 0..BATCHES {
            once().await.expect("a caller");
            for _ in 0..TIMES / BATCHES {
                black_box(Counted::of(once()).await.expect("a caller"));
            }
            callgrind::dump(name, TIMES / BATCHES);
        }
        callgrind::stop();
    }
}
