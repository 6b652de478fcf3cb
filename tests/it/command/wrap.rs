//! `sealward key wrap` on an offline machine.

use std::fs;
use std::path::PathBuf;

use formats::binary::from_base64;
use formats::material::PublicKey;
use sha2::{Digest as _, Sha256};

use testkit::openssl::{pem, private, public};
use testkit::{Exit, sealward};

const MECHANISM: &str = "RSA_OAEP_SHA256_AES_KWP";

/// A folder with a wrapping key and a key to wrap.
struct Folder {
    folder: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let name = format!("sealward-wrap-{:032x}", rand::random::<u128>());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder");
        let folder = Self { folder };
        folder.put("wrapping.pem", &public(&private("RSA-2048")));
        folder.put("key.pem", &private("P-256"));
        folder
    }

    fn put(&self, name: &str, text: &str) -> String {
        fs::write(self.folder.join(name), text).expect("a file");
        self.at(name)
    }

    fn at(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.to_str().expect("a path of text").to_owned()
    }

    /// Runs the command with additional arguments.
    fn wrap(&self, more: &[&str]) -> Exit {
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

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining folder does not fail the test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_key_is_wrapped_without_network_token_or_settings() {
    let folder = Folder::new();
    let key = folder.at("key.pem");
    let wrapped = folder.wrap(&["--key", &key]).success();
    let wrapped = from_base64(wrapped.line()).expect("base64");
    // An AES key wrapped with RSA-2048, and the key wrapped with the AES key.
    assert!(wrapped.len() > 256 + 100, "{}", wrapped.len());

    let expected = folder.fingerprint();
    let output = folder.wrap(&["--key", &key, "--sha256", &expected, "--json"]);
    let output = output.success().json();
    assert_eq!(output["mechanism"], MECHANISM);
    assert_eq!(output["algorithm"], "P-256");
    let public_key = public(&fs::read_to_string(&key).expect("the key"));
    assert_eq!(output["publicKey"], public_key);
    assert!(from_base64(output["ciphertext"].as_str().expect("text")).is_ok());
}

#[test]
fn encrypted_keys_jwks_and_secrets_are_wrapped() {
    let folder = Folder::new();
    let open = fs::read_to_string(folder.at("key.pem")).expect("the key");
    let locked = pem("pkcs8 -topk8 -v2 aes-256-cbc -passout pass:swordfish", &open);
    let locked = folder.put("locked.pem", &locked);
    let passphrase = folder.put("passphrase", "swordfish\n");
    folder.wrap(&["--key", &locked, "--passphrase-file", &passphrase]).success();
    folder.wrap(&["--key", &locked]).failure(1, &["is encrypted", "--passphrase-file"]);
    let wrong = folder.put("wrong", "trout\n");
    folder
        .wrap(&["--key", &locked, "--passphrase-file", &wrong])
        .failure(1, &["locked.pem", "the passphrase is wrong"]);

    let secret = folder.put("secret", "0123456789abcdef");
    let wrapped = folder.wrap(&["--secret", &secret, "--json"]).success().json();
    assert!(wrapped["publicKey"].is_null() && wrapped["algorithm"].is_null());
}

#[test]
fn errors_name_their_file() {
    let folder = Folder::new();
    let key = folder.at("key.pem");
    let missing = folder.at("missing.pem");
    folder.wrap(&["--key", &missing]).failure(1, &["missing.pem", "cannot be read"]);
    let garbage = folder.put("garbage", "no key");
    folder.wrap(&["--key", &garbage]).failure(1, &["garbage", "PEM"]);
    let weak = folder.put("weak.pem", &private("RSA-1024"));
    folder.wrap(&["--key", &weak]).failure(1, &["weak.pem", "2048"]);
    let public_key = folder.put("public.pem", &public(&private("P-256")));
    folder.wrap(&["--key", &public_key]).failure(1, &["public.pem"]);
    folder
        .wrap(&["--key", &key, "--sha256", &"0".repeat(64)])
        .failure(1, &["does not match --sha256", &folder.fingerprint()]);

    // A wrapping key must be RSA.
    folder.put("wrapping.pem", &public(&private("P-256")));
    folder.wrap(&["--key", &key]).failure(1, &["RSA"]);
}

#[test]
fn a_near_miss_is_reported_with_the_correct_name() {
    let folder = Folder::new();
    let (wrapping, key) = (folder.at("wrapping.pem"), folder.at("key.pem"));
    sealward(&["key", "wrap", "--public-key", &wrapping, "--key", &key])
        .failure(2, &["--mechanism"]);
    let arguments = ["key", "wrap", "--public-key", &wrapping, "--key", &key];
    let arguments = [&arguments[..], &["--mechanism", "PKCS1"]].concat();
    sealward(&arguments).failure(2, &["RSA_OAEP_SHA256_AES_KWP, RSA_OAEP_SHA1_AES_KWP"]);
    folder.wrap(&[]).failure(2, &["--key"]);
    folder.wrap(&["--key", &key, "--secret", &key]).failure(2, &["cannot be used with"]);
}

#[test]
fn help_describes_each_option() {
    for arguments in [
        &["key", "wrap", "--help"][..],
        &["key", "import", "--help"],
        &["api-key", "create", "--help"],
    ] {
        let help = sealward(arguments).success().stdout;
        insta::assert_snapshot!(arguments[..2].join("_"), help);
    }
}
