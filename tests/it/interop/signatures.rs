//! openssl verifies what the token signs, and the service verifies what openssl signs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use formats::json::Text;
use formats::material::PublicKey;
use serde_json::json;
use sha2::{Digest as _, Sha256, Sha384};
use spki::der::asn1::Uint;
use spki::der::{Decode as _, Encode as _};

use super::peer::Peer;
use testkit::openssl::{openssl, private, public};
use testkit::{Client, World};

const MESSAGE: &str = "signed by one, verified by the other: grün";

#[tokio::test]
async fn rsa_signatures_verify_in_both_directions() {
    let world = World::new().await;
    let shared = Shared::new(&world, "RSA-2048").await;
    for bits in [256, 384, 512] {
        let digest = format!("dgst -sha{bits}");
        shared.exchange(&format!("RSA-SHA{bits}"), &digest).await;
        let pss = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest";
        let digest = format!("{digest} {pss}");
        shared.exchange(&format!("RSA-PSS-SHA{bits}"), &digest).await;
    }
}

#[tokio::test]
async fn elliptic_curve_signatures_verify_in_both_directions() {
    let world = World::new().await;
    for (curve, bits) in [("P-256", 256), ("P-384", 384), ("P-521", 512)] {
        let shared = Shared::new(&world, curve).await;
        let algorithm = format!("ECDSA-SHA{bits}");
        shared.exchange(&algorithm, &format!("dgst -sha{bits}")).await;
    }
    let shared = Shared::new(&world, "Ed25519").await;
    shared.exchange("Ed25519", "pkeyutl -rawin").await;
}

#[tokio::test]
async fn hmac_codes_verify_in_both_directions() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let secret = [0x5a; 32];
    let request = json!({
        "serviceId": alice.service, "algorithm": "HMAC-SHA256",
        "secretKey": BASE64_STANDARD.encode(secret),
    });
    world.admin().post("/admin/keys", request).await.created();
    let request = json!({ "data": MESSAGE, "algorithm": "HMAC-SHA256" });
    let own = alice.operate("sign", request).await.ok().json()["result"]["signature"].clone();
    let key = "5a".repeat(secret.len());
    let arguments = format!("dgst -sha256 -mac HMAC -macopt hexkey:{key} -binary");
    let from_peer = openssl(&arguments, MESSAGE.as_bytes());
    assert_eq!(own, BASE64_STANDARD.encode(from_peer));
}

#[tokio::test]
async fn openssl_verifies_a_certificate_request_with_a_signed_digest() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let kinds: [(_, _, &'static rcgen::SignatureAlgorithm); 3] = [
        ("P-256", "ECDSA-SHA256", &rcgen::PKCS_ECDSA_P256_SHA256),
        ("P-384", "ECDSA-SHA384", &rcgen::PKCS_ECDSA_P384_SHA384),
        ("RSA-2048", "RSA-SHA256", &rcgen::PKCS_RSA_SHA256),
    ];
    for (kind, algorithm, in_request) in kinds {
        let key = world.key(&service, "sig", kind).await;
        let path = format!("/admin/keys/{key}");
        let jwk = world.admin().get(&path).await.ok().json()["publicKey"].to_string();
        let public = PublicKey::from_jwk(Text::parse(jwk.as_bytes()).unwrap()).unwrap();
        let spki = public.to_spki();
        let spki = spki::SubjectPublicKeyInfoRef::from_der(&spki).unwrap();
        let mut requester = Requester {
            public: spki.subject_public_key.raw_bytes().to_vec(),
            algorithm: in_request,
            message: RefCell::default(),
            signature: Vec::new(),
        };
        let params = rcgen::CertificateParams::new(vec!["sealward.example".to_owned()]).unwrap();
        params.serialize_request(&requester).unwrap();
        let digest = match algorithm {
            "ECDSA-SHA384" => Sha384::digest(requester.message.take()).to_vec(),
            _ => Sha256::digest(requester.message.take()).to_vec(),
        };
        let mut order = json!({
            "data": BASE64_STANDARD.encode(digest), "encoding": "base64", "prehashed": true,
            "algorithm": algorithm, "keyId": key,
        });
        if kind != "RSA-2048" {
            order["signatureFormat"] = json!("der");
        }
        let signed = alice.operate("sign", order).await.ok().json()["result"].clone();
        let signature = signed["signature"].as_str().unwrap();
        requester.signature = BASE64_STANDARD.decode(signature).unwrap();
        let request = params.serialize_request(&requester).unwrap();
        let folder = Folder::new();
        folder.write("request", request.der());
        assert!(folder.verifies_request());
        let mut wrong = request.der().to_vec();
        *wrong.last_mut().unwrap() ^= 1;
        folder.write("request", &wrong);
        assert!(!folder.verifies_request());
    }
}

/// A key of Sealward that signs a certificate request: the first pass gives the message.
struct Requester {
    public: Vec<u8>,
    algorithm: &'static rcgen::SignatureAlgorithm,
    message: RefCell<Vec<u8>>,
    signature: Vec<u8>,
}

impl rcgen::PublicKeyData for Requester {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        self.algorithm
    }
}

impl rcgen::SigningKey for Requester {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.message.replace(message.to_vec());
        Ok(self.signature.clone())
    }
}

#[tokio::test]
async fn jose_verifies_a_jws() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let mut jose = Peer::jose();
    for (kind, algorithm, alg) in [
        ("P-256", "ECDSA-SHA256", "ES256"),
        ("P-384", "ECDSA-SHA384", "ES384"),
        ("P-521", "ECDSA-SHA512", "ES512"),
        ("RSA-2048", "RSA-SHA256", "RS256"),
        ("RSA-2048", "RSA-PSS-SHA256", "PS256"),
    ] {
        let key = world.key(&service, "sig", kind).await;
        let path = format!("/admin/keys/{key}");
        let jwk = world.admin().get(&path).await.ok().json()["publicKey"].clone();
        let header = json!({ "alg": alg, "kid": key }).to_string();
        let input = [header.as_str(), MESSAGE].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        let input = input.join(".");
        let order = json!({ "data": input, "algorithm": algorithm, "keyId": key });
        let signed = alice.operate("sign", order).await.ok().json()["result"].clone();
        let signature = BASE64_STANDARD.decode(signed["signature"].as_str().unwrap()).unwrap();
        let jws = format!("{input}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature));
        let verified = jose.ask(&json!({ "do": "verify", "alg": alg, "jwk": jwk, "jws": jws }));
        assert_eq!(verified, MESSAGE, "{alg}");
    }
}

/// A key from openssl that Sealward imported. Both sides sign with it.
struct Shared<'w> {
    caller: Client<'w>,
    algorithm: &'static str,
    key_id: String,
    folder: Folder,
}

impl<'w> Shared<'w> {
    async fn new(world: &'w World, algorithm: &'static str) -> Self {
        let caller = world.application(algorithm).await;
        let private = private(algorithm);
        let request = json!({ "serviceId": caller.service, "use": "sig", "privateKey": private });
        let imported = world.admin().post("/admin/keys", request).await.created();
        let folder = Folder::new();
        folder.write("private", private.as_bytes());
        folder.write("public", public(&private).as_bytes());
        folder.write("message", MESSAGE.as_bytes());
        Self { caller, algorithm, key_id: imported.text("id"), folder }
    }

    /// `arguments` select the operation `name` of `/operations` in openssl.
    async fn exchange(&self, name: &str, arguments: &str) {
        let request = json!({ "data": MESSAGE, "algorithm": name });
        let own = self.caller.operate("sign", request).await.ok().json()["result"].clone();
        let own = BASE64_STANDARD.decode(own["signature"].as_str().unwrap()).unwrap();
        assert!(self.is_good(arguments, MESSAGE, &own), "they verify ours: {name}");
        assert!(!self.is_good(arguments, "another", &own), "{name}");

        let from_peer = self.signed(arguments);
        let verified = async |message: &str| {
            let request = json!({
                "data": message, "signature": BASE64_STANDARD.encode(&from_peer),
                "algorithm": name, "keyId": self.key_id,
            });
            self.caller.operate("verify", request).await.ok().json()["result"]["valid"].clone()
        };
        assert_eq!(verified(MESSAGE).await, json!(true), "we verify theirs: {name}");
        assert_eq!(verified("another").await, json!(false), "{name}");
    }
    fn signed(&self, arguments: &str) -> Vec<u8> {
        let how = match self.algorithm {
            "Ed25519" => "-sign -inkey private -in message -out signature",
            _ => "-sign private -out signature message",
        };
        assert!(self.folder.openssl(arguments, how));
        let signature = self.folder.read("signature");
        match self.width() {
            Some(width) => beside_each_other(&signature, width),
            None => signature,
        }
    }

    fn is_good(&self, arguments: &str, message: &str, signature: &[u8]) -> bool {
        let how = match self.algorithm {
            "Ed25519" => "-verify -pubin -inkey public -in claimed -sigfile signature",
            _ => "-verify public -signature signature claimed",
        };
        self.folder.write("claimed", message.as_bytes());
        match self.width() {
            Some(width) => self.folder.write("signature", &in_der(signature, width)),
            None => self.folder.write("signature", signature),
        }
        self.folder.openssl(arguments, how)
    }

    /// The number of bytes of `r` and `s`; openssl encodes them in DER.
    fn width(&self) -> Option<usize> {
        match self.algorithm {
            "P-256" => Some(32),
            "P-384" => Some(48),
            "P-521" => Some(66),
            _ => None,
        }
    }
}

fn in_der(signature: &[u8], width: usize) -> Vec<u8> {
    let (r, s) = signature.split_at(width);
    let halves = [r, s].map(|half| Uint::new(half).unwrap());
    Vec::from(halves).to_der().unwrap()
}

fn beside_each_other(signature: &[u8], width: usize) -> Vec<u8> {
    let halves = Vec::<Uint>::from_der(signature).unwrap();
    let padded = |half: &Uint| {
        let bytes = half.as_bytes();
        [vec![0; width - bytes.len()], bytes.to_vec()].concat()
    };
    halves.iter().flat_map(padded).collect()
}

/// The folder for the files of openssl.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("sealward-openssl-{:032x}", rand::random::<u128>());
        let folder = env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.0.join(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    /// Whether openssl verifies the certificate request. Before 3.4 its exit code does not show it,
    /// and the stream of its message depends on the version.
    fn verifies_request(&self) -> bool {
        let arguments = "req -verify -inform DER -noout -in request";
        let mut openssl = Command::new("openssl");
        openssl.args(arguments.split(' ')).current_dir(&self.0);
        let output = openssl.output().unwrap();
        [output.stdout, output.stderr]
            .iter()
            .any(|stream| String::from_utf8_lossy(stream).contains("verify OK"))
    }

    /// Whether openssl succeeds.
    fn openssl(&self, arguments: &str, how: &str) -> bool {
        let mut openssl = Command::new("openssl");
        openssl.args(arguments.split(' ')).args(how.split(' '));
        openssl.current_dir(&self.0).output().unwrap().status.success()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining folder does not fail the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
