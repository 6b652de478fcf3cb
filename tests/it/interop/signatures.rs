//! openssl verifies what the token signs, and the service verifies what openssl signs.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use spki::der::asn1::Uint;
use spki::der::{Decode as _, Encode as _};

use crate::support::openssl::{openssl, private, public};
use crate::support::{Client, World};

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
        shared
            .exchange(&format!("RSA-PSS-SHA{bits}"), &digest)
            .await;
    }
}

#[tokio::test]
async fn elliptic_curve_signatures_verify_in_both_directions() {
    let world = World::new().await;
    for (curve, bits) in [("P-256", 256), ("P-384", 384), ("P-521", 512)] {
        let shared = Shared::new(&world, curve).await;
        let algorithm = format!("ECDSA-SHA{bits}");
        shared
            .exchange(&algorithm, &format!("dgst -sha{bits}"))
            .await;
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
        Self {
            caller,
            algorithm,
            key_id: imported.text("id"),
            folder,
        }
    }

    /// `arguments` select the operation `name` of `/operations` in openssl.
    async fn exchange(&self, name: &str, arguments: &str) {
        let request = json!({ "data": MESSAGE, "algorithm": name });
        let own = self.caller.operate("sign", request).await.ok().json()["result"].clone();
        let own = BASE64_STANDARD
            .decode(own["signature"].as_str().unwrap())
            .unwrap();
        assert!(
            self.is_good(arguments, MESSAGE, &own),
            "they verify ours: {name}"
        );
        assert!(!self.is_good(arguments, "another", &own), "{name}");

        let from_peer = self.signed(arguments);
        let verified = async |message: &str| {
            let request = json!({
                "data": message, "signature": BASE64_STANDARD.encode(&from_peer),
                "algorithm": name, "keyId": self.key_id,
            });
            self.caller.operate("verify", request).await.ok().json()["result"]["valid"].clone()
        };
        assert_eq!(
            verified(MESSAGE).await,
            json!(true),
            "we verify theirs: {name}"
        );
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

    /// Whether openssl succeeds.
    fn openssl(&self, arguments: &str, how: &str) -> bool {
        let mut openssl = Command::new("openssl");
        openssl.args(arguments.split(' ')).args(how.split(' '));
        openssl
            .current_dir(&self.0)
            .output()
            .unwrap()
            .status
            .success()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining folder does not fail the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
