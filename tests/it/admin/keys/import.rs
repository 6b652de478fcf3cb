//! Import of keys in every accepted format.

use serde_json::{Value, json};

use super::send;
use engine::settings::Stage;
use formats::clock::Clock;
use testkit::World;
use testkit::openssl::{openssl, pem, private, public};

#[tokio::test]
async fn private_keys_of_openssl_are_accepted() {
    let world = World::new().await;
    let service = world.service("openssl").await;
    for algorithm in ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519"] {
        let private = private(algorithm);
        let key = send(&world, &service, json!({"privateKey": private})).await.created().json();
        assert_eq!(
            (&key["algorithm"], &key["origin"], &key["hasPrivate"]),
            (&json!(algorithm), &json!("imported"), &json!(true))
        );
        let public_key = json!({"publicKey": public(&private), "activate": false});
        let public_key = send(&world, &service, public_key).await.created().json();
        assert_eq!(public_key["publicKey"], key["publicKey"]);
        assert_eq!(
            (&public_key["thumbprint"], &public_key["hasPrivate"]),
            (&key["thumbprint"], &json!(false))
        );
        // A JWK is another format of the same key.
        let jwk = json!({"publicKey": key["publicKey"], "activate": false});
        let jwk = send(&world, &service, jwk).await.created().json();
        assert_eq!(jwk["thumbprint"], key["thumbprint"]);
    }
}

#[tokio::test]
async fn encrypted_private_keys_are_opened_by_their_passphrase() {
    let world = World::new().await;
    let service = world.service("locked").await;
    let key = private("P-256");
    let options = [
        "-v2 aes-256-cbc",
        "-v2 aes-128-cbc -v2prf hmacWithSHA512",
        "-v2 aes-256-cbc -v2prf hmacWithSHA1",
        "-scrypt",
    ];
    for option in options {
        let encrypted = pem(&format!("pkcs8 -topk8 {option} -passout pass:swordfish"), &key);
        let body = |passphrase: Value| json!({"privateKey": encrypted, "passphrase": passphrase});
        send(&world, &service, body(json!("swordfish"))).await.created();
        send(&world, &service, body(json!("trout"))).await.invalid(&[("passphrase", "conflict")]);
        send(&world, &service, json!({"privateKey": encrypted}))
            .await
            .invalid(&[("passphrase", "required")]);
    }
    let body = json!({"privateKey": key, "passphrase": "swordfish"});
    send(&world, &service, body).await.invalid(&[("passphrase", "conflict")]);
    let old = pem("pkcs8 -topk8 -v1 PBE-SHA1-3DES -passout pass:swordfish", &key);
    let body = json!({"privateKey": old, "passphrase": "swordfish"});
    send(&world, &service, body).await.invalid(&[("privateKey", "format")]);
    let slow = pem("pkcs8 -topk8 -iter 9000000 -passout pass:swordfish", &key);
    let body = json!({"privateKey": slow, "passphrase": "swordfish"});
    send(&world, &service, body).await.invalid(&[("privateKey", "range")]);
}

#[tokio::test]
async fn only_the_key_of_a_certificate_is_read() {
    let world = World::new().await;
    let service = world.service("certified").await;
    for algorithm in ["RSA-2048", "P-384", "Ed25519"] {
        let private = private(algorithm);
        let folder = std::env::temp_dir().join(format!("{algorithm}-{}.pem", std::process::id()));
        std::fs::write(&folder, &private).expect("a file");
        let arguments = format!("req -x509 -subj /CN=partner -days 1 -key {}", folder.display());
        let certificate = pem(&arguments, "");
        std::fs::remove_file(&folder).expect("remove the file");
        let key = send(&world, &service, json!({"publicKey": certificate})).await;
        let bare = send(&world, &service, json!({"publicKey": public(&private)})).await;
        assert_eq!(key.created().json()["thumbprint"], bare.created().json()["thumbprint"]);
    }
}

#[tokio::test]
async fn the_length_and_use_determine_the_algorithm_of_a_secret_key() {
    let world = World::new().await;
    let service = world.service("secret").await;
    let of = |length: usize| {
        let text = openssl(&format!("rand -base64 {length}"), b"");
        json!(String::from_utf8(text).expect("text").replace('\n', ""))
    };
    let cases = [
        (json!({"secretKey": of(16)}), "AES-128", "data"),
        (json!({"secretKey": of(32)}), "AES-256", "data"),
        (json!({"secretKey": of(32), "use": "sig"}), "HMAC-SHA256", "sig"),
        (json!({"secretKey": of(48)}), "HMAC-SHA256", "sig"),
    ];
    for (body, algorithm, usage) in cases {
        let key = send(&world, &service, body).await.created().json();
        assert_eq!((&key["algorithm"], &key["use"]), (&json!(algorithm), &json!(usage)));
        assert_eq!((&key["publicKey"], &key["hasPrivate"]), (&Value::Null, &json!(true)));
    }
    let wrong = [
        (json!({"secretKey": of(24)}), ("secretKey", "length")),
        (json!({"secretKey": of(16), "algorithm": "AES-256"}), ("secretKey", "length")),
        (json!({"secretKey": "no base64!"}), ("secretKey", "format")),
        (json!({"secretKey": of(32), "use": "enc"}), ("use", "conflict")),
    ];
    for (body, problem) in wrong {
        send(&world, &service, body).await.invalid(&[problem]);
    }
}

#[tokio::test]
async fn weak_and_mismatched_keys_are_refused_with_their_member() {
    let world = World::new().await;
    let service = world.service("weak").await;
    for (algorithm, code) in [
        ("RSA-1024", "range"),
        ("RSA-e3", "range"),
        ("secp256k1", "unsupported"),
        ("X25519", "unsupported"),
    ] {
        let private = private(algorithm);
        let body = json!({"privateKey": private});
        send(&world, &service, body).await.invalid(&[("privateKey", code)]);
        let body = json!({"publicKey": public(&private)});
        send(&world, &service, body).await.invalid(&[("publicKey", code)]);
    }
    let two = private("P-256") + &private("P-256");
    send(&world, &service, json!({"privateKey": two})).await.invalid(&[("privateKey", "format")]);
    let traditional = pem("pkey -traditional", &private("P-256"));
    send(&world, &service, json!({"privateKey": traditional}))
        .await
        .invalid(&[("privateKey", "unsupported")]);
    let body = json!({"privateKey": private("P-256"), "algorithm": "P-384"});
    send(&world, &service, body).await.invalid(&[("algorithm", "conflict")]);
    let extra = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": 5, "d": "AA"});
    send(&world, &service, json!({"publicKey": extra}))
        .await
        .invalid(&[("publicKey.d", "conflict"), ("publicKey.y", "type")]);
}

#[tokio::test]
async fn plaintext_requires_development() {
    let world = World::at(Clock::system(), Stage::Production).await;
    let service = world.service("strict").await;
    for body in [json!({"privateKey": private("P-256")}), json!({"secretKey": "AAAA"})] {
        let refused = send(&world, &service, body).await;
        let refused = refused.refused(403, "OPERATION_NOT_ALLOWED");
        assert!(refused.message().contains("keys.allow_plaintext_import"));
    }
}

/// The base point of P-256.
const BASE: [&str; 2] =
    ["axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"];

#[tokio::test]
async fn well_known_private_keys_are_refused() {
    let world = World::new().await;
    let service = world.service("weak").await;
    let [x, y] = BASE;
    let one = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE";
    let public = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y });
    let mut private = public.clone();
    private["d"] = json!(one);
    let zeros = |length: usize| json!(formats::binary::to_base64(&vec![0; length]));
    for (member, key) in [
        ("publicKey", public),
        ("privateKey", private),
        ("secretKey", zeros(16)),
        ("secretKey", zeros(32)),
        ("secretKey", zeros(64)),
    ] {
        let refused = send(&world, &service, json!({ member: key })).await;
        refused.invalid(&[(member, "range")]);
    }
}
