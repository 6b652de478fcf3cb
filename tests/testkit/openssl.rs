//! Keys and signatures from the `openssl` program.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs openssl with arguments separated by spaces and returns its output.
pub fn openssl(arguments: &str, input: &[u8]) -> Vec<u8> {
    let mut process = Command::new("openssl")
        .args(arguments.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl runs");
    let mut stdin = process.stdin.take().expect("an input");
    stdin.write_all(input).expect("openssl reads");
    drop(stdin);
    let output = process.wait_with_output().expect("openssl ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {arguments}: {message}");
    output.stdout
}

/// Runs openssl with PEM input and output.
pub fn pem(arguments: &str, input: &str) -> String {
    String::from_utf8(openssl(arguments, input.as_bytes())).expect("text")
}

/// Generates a private key of `algorithm` in PEM.
pub fn private(algorithm: &str) -> String {
    let arguments = match algorithm {
        "RSA-2048" => "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
        "RSA-1024" => "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024",
        "RSA-e3" => {
            "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3"
        }
        "P-256" => "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        "P-384" => "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
        "P-521" => "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521",
        "secp256k1" => "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
        "Ed25519" => "genpkey -algorithm ED25519",
        "X25519" => "genpkey -algorithm X25519",
        other => panic!("unknown algorithm {other}"),
    };
    pem(arguments, "")
}

/// The public key of a private key, both in PEM.
pub fn public(private: &str) -> String {
    pem("pkey -pubout", private)
}
