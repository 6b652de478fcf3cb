//! A key that is imported in plaintext remains only in the token.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use engine::management::keys::KeyRequest;
use engine::resource::ResourceRequest;
use formats::json::Text;
use formats::material::{PrivateKey, PrivateParts, PrivatePem};
use serde_json::json;

use super::send;
use testkit::World;
use testkit::openssl::{pem, private};
use testkit::{Process, Site};

/// Parts of a secret in all encodings, which must not be found.
struct Canary(Vec<Vec<u8>>);

impl Canary {
    fn of(secret: &[u8]) -> Self {
        let inside = &secret[secret.len() / 4..];
        let decimal: Vec<String> = inside[..8].iter().map(u8::to_string).collect();
        let hex: String = inside.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![
            inside[..12].to_vec(),
            hex.as_bytes()[..24].to_vec(),
            hex[..24].to_uppercase().into_bytes(),
            decimal.join(", ").into_bytes(),
        ];
        // Base64 of the same bytes depends on their position.
        for start in 0..3 {
            let part = &secret[start..start + (secret.len() - start) / 3 * 3];
            for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
                forms.push(engine.encode(part).as_bytes()[4..20].to_vec());
            }
        }
        Self(forms)
    }

    #[track_caller]
    fn assert_absent(&self, what: &str, text: &[u8]) {
        for form in &self.0 {
            let found = text.windows(form.len()).any(|part| part == form);
            assert!(!found, "a part of the key is in {what}");
        }
    }
}

fn secret_of(key: &str) -> Vec<u8> {
    let PrivatePem::Open(key) = PrivatePem::read(key).expect("a key") else {
        panic!("it is not encrypted");
    };
    match key.parts() {
        PrivateParts::Rsa(numbers) => numbers.prime1.to_vec(),
        PrivateParts::Ec { scalar, .. } => scalar.to_vec(),
        PrivateParts::Ed25519 { seed } => seed.to_vec(),
    }
}

/// Every row of every table, as text and as bytes.
async fn database(world: &World) -> Vec<u8> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the tables");
    assert!(tables.iter().any(|table| table == "keys"));
    let mut all = Vec::new();
    for table in tables {
        let rows: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT t::text FROM {table} t")))
                .fetch_all(&world.pool)
                .await
                .expect("the rows");
        all.extend(rows.join("\n").into_bytes());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plaintext_key_is_in_no_response_event_or_row() {
    let world = World::new().await;
    let service = world.service("canary").await;
    for algorithm in ["RSA-2048", "P-256", "Ed25519"] {
        let key = private(algorithm);
        let canary = Canary::of(&secret_of(&key));
        let wrong = key.replace("-----END", "AAAA\n-----END");
        let encrypted = pem("pkcs8 -topk8 -passout pass:swordfish", &key);
        let bodies = [
            json!({"privateKey": key}),
            json!({"privateKey": key, "use": "data"}),
            json!({"privateKey": key, "algorithm": "P-521"}),
            json!({"privateKey": wrong}),
            json!({"privateKey": key, "secretKey": key}),
            json!({"publicKey": key}),
            json!({"name": key, "generate": true}),
            json!({"privateKey": encrypted, "passphrase": "swordfish"}),
        ];
        for body in bodies {
            let text = body.to_string();
            let read = ResourceRequest::<KeyRequest>::to_create(
                Text::parse(text.as_bytes()).expect("JSON"),
            );
            canary.assert_absent("debug output", format!("{read:?}").as_bytes());
            let answer = send(&world, &service, body).await;
            canary.assert_absent("an answer", answer.body.as_bytes());
        }
        let events = world.admin().get("/admin/audit/management?limit=200").await.ok();
        canary.assert_absent("an event", events.body.as_bytes());
        canary.assert_absent("the database", &database(&world).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_key_is_in_no_response_and_no_row() {
    let world = World::new().await;
    let service = world.service("canary").await;
    let secret: [u8; 32] = rand::random();
    let canary = Canary::of(&secret);
    let text = STANDARD.encode(secret);
    for body in [
        json!({"secretKey": text}),
        json!({"secretKey": text, "algorithm": "AES-128"}),
        json!({"secretKey": text, "use": "enc"}),
    ] {
        let answer = send(&world, &service, body).await;
        canary.assert_absent("an answer", answer.body.as_bytes());
    }
    canary.assert_absent("the database", &database(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plaintext_key_is_not_in_the_log() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let service = process.service("canary").await;
    let key = private("P-256");
    let canary = Canary::of(&secret_of(&key));
    for body in [
        json!({"serviceId": service, "privateKey": key}),
        json!({"serviceId": service, "privateKey": key, "use": "data"}),
        json!({"serviceId": service, "publicKey": key}),
    ] {
        let pending = process.post_in_background("/admin/keys", &body).await;
        pending.join().expect("the request ends");
    }
    let log = process.log();
    assert!(log.contains("request refused"), "the refusal must be logged: {log}");
    canary.assert_absent("the log", log.as_bytes());
}

#[test]
fn a_private_key_is_redacted_in_debug_output() {
    let key = private("P-384");
    let canary = Canary::of(&secret_of(&key));
    let PrivatePem::Open(key) = PrivatePem::read(&key).expect("a key") else {
        panic!("it is not encrypted");
    };
    let key: PrivateKey = *key;
    let printed = format!("{key:?} {:?} {:#?}", key.parts(), key.public());
    assert!(printed.contains("[redacted]"));
    canary.assert_absent("debug output", printed.as_bytes());
}

#[test]
fn a_plaintext_canary_is_found() {
    let secret: [u8; 32] = std::array::from_fn(|place| u8::try_from(place * 7).expect("a byte"));
    let canary = Canary::of(&secret);
    let shown = [
        format!("{secret:?}"),
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode([&[1][..], &secret].concat()),
    ];
    for shown in shown {
        let caught = std::panic::catch_unwind(|| canary.assert_absent("here", shown.as_bytes()));
        assert!(caught.is_err(), "{shown}");
    }
}
