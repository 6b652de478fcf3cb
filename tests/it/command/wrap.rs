//! `sealward key wrap`: on a machine that has a key and nothing else.

use std::fs;
use std::path::PathBuf;

use sealward::binary::from_base64;
use sealward::material::PublicKey;
use sha2::{Digest as _, Sha256};

use crate::process::{Ended, sealward};
use crate::support::openssl::{pem, private, public};

const MECHANISM: &str = "RSA_OAEP_SHA256_AES_KWP";

/// A folder with a wrapping key and a key to wrap.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let name = format!("sealward-desk-{:032x}", rand::random::<u128>());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder");
        let desk = Self { folder };
        desk.put("wrapping.pem", &public(&private("RSA-2048")));
        desk.put("key.pem", &private("P-256"));
        desk
    }

    fn put(&self, name: &str, text: &str) -> String {
        fs::write(self.folder.join(name), text).expect("a file");
        self.at(name)
    }

    fn at(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.to_str().expect("a path of text").to_owned()
    }

    /// Wraps, with these arguments more.
    fn wrap(&self, more: &[&str]) -> Ended {
        let wrapping_key = self.at("wrapping.pem");
        let mut arguments = vec!["key", "wrap", "--public-key", &wrapping_key];
        arguments.extend(["--mechanism", MECHANISM]);
        arguments.extend(more);
        sealward(&arguments)
    }

    fn fingerprint(&self) -> String {
        let pem = fs::read_to_string(self.at("wrapping.pem")).expect("the wrapping key");
        let key = PublicKey::from_pem(&pem).expect("a public key");
        let digest = Sha256::digest(key.to_spki());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // A folder left behind fails no test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_key_is_wrapped_without_network_token_or_settings() {
    let desk = Desk::new();
    let key = desk.at("key.pem");
    let wrapped = desk.wrap(&["--key", &key]).well();
    let wrapped = from_base64(wrapped.line()).expect("base64");
    // An AES key under RSA-2048, and behind it the key under that one.
    assert!(wrapped.len() > 256 + 100, "{}", wrapped.len());

    let expected = desk.fingerprint();
    let told = desk.wrap(&["--key", &key, "--sha256", &expected, "--json"]);
    let told = told.well().json();
    assert_eq!(told["mechanism"], MECHANISM);
    assert_eq!(told["algorithm"], "P-256");
    let half = public(&fs::read_to_string(&key).expect("the key"));
    assert_eq!(told["publicKey"], half);
    assert!(from_base64(told["ciphertext"].as_str().expect("text")).is_ok());
}

#[test]
fn encrypted_keys_jwks_and_secrets_are_wrapped() {
    let desk = Desk::new();
    let open = fs::read_to_string(desk.at("key.pem")).expect("the key");
    let locked = pem(
        "pkcs8 -topk8 -v2 aes-256-cbc -passout pass:swordfish",
        &open,
    );
    let locked = desk.put("locked.pem", &locked);
    let passphrase = desk.put("passphrase", "swordfish\n");
    desk.wrap(&["--key", &locked, "--passphrase-file", &passphrase])
        .well();
    desk.wrap(&["--key", &locked])
        .badly(1, &["is encrypted", "--passphrase-file"]);
    let wrong = desk.put("wrong", "trout\n");
    desk.wrap(&["--key", &locked, "--passphrase-file", &wrong])
        .badly(1, &["locked.pem", "the passphrase is wrong"]);

    let secret = desk.put("secret", "0123456789abcdef");
    let wrapped = desk.wrap(&["--secret", &secret, "--json"]).well().json();
    assert!(wrapped["publicKey"].is_null() && wrapped["algorithm"].is_null());
}

#[test]
fn errors_name_their_file() {
    let desk = Desk::new();
    let key = desk.at("key.pem");
    let missing = desk.at("missing.pem");
    desk.wrap(&["--key", &missing])
        .badly(1, &["missing.pem", "cannot be read"]);
    let garbage = desk.put("garbage", "no key");
    desk.wrap(&["--key", &garbage])
        .badly(1, &["garbage", "PEM"]);
    let weak = desk.put("weak.pem", &private("RSA-1024"));
    desk.wrap(&["--key", &weak]).badly(1, &["weak.pem", "2048"]);
    let half = desk.put("half.pem", &public(&private("P-256")));
    desk.wrap(&["--key", &half]).badly(1, &["half.pem"]);
    desk.wrap(&["--key", &key, "--sha256", &"0".repeat(64)])
        .badly(1, &["does not match --sha256", &desk.fingerprint()]);

    // A wrapping key must be RSA.
    desk.put("wrapping.pem", &public(&private("P-256")));
    desk.wrap(&["--key", &key]).badly(1, &["RSA"]);
}

#[test]
fn a_near_miss_is_reported_with_the_correct_name() {
    let desk = Desk::new();
    let (wrapping, key) = (desk.at("wrapping.pem"), desk.at("key.pem"));
    sealward(&["key", "wrap", "--public-key", &wrapping, "--key", &key]).badly(2, &["--mechanism"]);
    let order = ["key", "wrap", "--public-key", &wrapping, "--key", &key];
    let order = [&order[..], &["--mechanism", "PKCS1"]].concat();
    sealward(&order).badly(2, &["RSA_OAEP_SHA256_AES_KWP, RSA_OAEP_SHA1_AES_KWP"]);
    desk.wrap(&[]).badly(2, &["--key"]);
    desk.wrap(&["--key", &key, "--secret", &key])
        .badly(2, &["cannot be used with"]);
}

#[test]
fn help_describes_each_option() {
    for arguments in [
        &["key", "wrap", "--help"][..],
        &["key", "import", "--help"],
        &["api-key", "create", "--help"],
    ] {
        let help = sealward(arguments).well().out;
        insta::assert_snapshot!(arguments[..2].join("_"), help);
    }
}
