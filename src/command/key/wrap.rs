//! `sealward key wrap`: wraps a key offline for an import.

use std::io::{self, Write as _};
use std::path::PathBuf;

use formats::algorithms::ImportMechanism;
use hsm::wrap_for_import;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::file::{self, KeyFile, Material};
use crate::command::Failure;
use formats::binary::to_base64;
use formats::material::{Algorithm, PublicKey};

/// Wrap a key so that only the token that generated the wrapping key can unwrap it.
///
/// Prints `wrappedKey.ciphertext` in base64. Needs no network, no token and no settings, so that you
/// can run it on the machine with the key. Copy `publicKey` and `mechanism` of
/// POST /admin/keys/import-parameters to that machine, and the ciphertext back.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The wrapping key: `publicKey` of the import parameters, in PEM.
    #[arg(long, value_name = "FILE")]
    public_key: PathBuf,
    /// `mechanism` of the import parameters: RSA_OAEP_SHA256_AES_KWP or RSA_OAEP_SHA1_AES_KWP.
    #[arg(long, value_name = "NAME", value_parser = mechanism)]
    mechanism: ImportMechanism,
    /// `publicKeySha256` of the import parameters, from a separate channel. Wrapping with another key
    /// is refused.
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    #[command(flatten)]
    key: KeyFile,
    /// Print a JSON object with the ciphertext, the public key and the algorithm for POST /admin/keys.
    #[arg(long)]
    json: bool,
}

pub(super) fn mechanism(name: &str) -> Result<ImportMechanism, String> {
    name.parse().map_err(|_| {
        let names = ImportMechanism::ALL.map(ImportMechanism::name);
        format!("must be one of {}", names.join(", "))
    })
}

/// The output of `--json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wrapped {
    mechanism: ImportMechanism,
    ciphertext: String,
    public_key: Option<String>,
    algorithm: Option<Algorithm>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.public_key;
    let pem = file::read(path)?;
    let wrapping_key =
        str::from_utf8(&pem).map_err(|_| file::invalid(path, "must be PEM")).and_then(|pem| {
            PublicKey::from_pem(pem).map_err(|problem| file::invalid(path, problem.message))
        })?;
    if let Some(expected) = &arguments.sha256 {
        check_fingerprint(&wrapping_key, expected)?;
    }
    let material = arguments.key.read()?;
    let ciphertext = wrap(&wrapping_key, arguments.mechanism, &material)?;
    let mut out = io::stdout();
    if !arguments.json {
        return Ok(writeln!(out, "{ciphertext}")?);
    }
    let wrapped = Wrapped {
        mechanism: arguments.mechanism,
        ciphertext,
        public_key: material.public().map(PublicKey::to_pem),
        algorithm: material.algorithm(),
    };
    serde_json::to_writer_pretty(&mut out, &wrapped).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Wraps a key, in base64.
pub(super) fn wrap(
    wrapping_key: &PublicKey,
    mechanism: ImportMechanism,
    material: &Material,
) -> Result<String, Failure> {
    let wrapped = wrap_for_import(&wrapping_key.to_spki(), mechanism, &material.to_wrap());
    wrapped.map(|wrapped| to_base64(&wrapped)).map_err(|error| Failure::Other(error.to_string()))
}

/// Compares a wrapping key with the expected fingerprint.
pub(super) fn check_fingerprint(key: &PublicKey, expected: &str) -> Result<(), Failure> {
    let found: String =
        Sha256::digest(key.to_spki()).iter().map(|byte| format!("{byte:02x}")).collect();
    if expected.eq_ignore_ascii_case(&found) {
        Ok(())
    } else {
        Err(Failure::Other(format!(
            "the wrapping key does not match --sha256: its SHA-256 is {found}"
        )))
    }
}
