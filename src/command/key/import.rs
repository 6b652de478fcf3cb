//! `sealward key import`: imports a key over the API.

use std::io::{self, Write as _};

use formats::algorithms::ImportMechanism;
use serde_json::{Map, Value, json};

use super::file::KeyFile;
use super::wrap::{check_fingerprint, mechanism, wrap};
use crate::command::Failure;
use crate::command::client::{ApiAccess, Client};
use formats::material::PublicKey;

/// Import a key over the API. The key is wrapped on this machine.
///
/// The token generates a wrapping key for this import. Neither the network nor the service sees the
/// plaintext of the key.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    connection: ApiAccess,
    #[command(flatten)]
    key: KeyFile,
    /// The ID of the service that owns the key.
    #[arg(long, value_name = "ID")]
    service: String,
    /// The display name.
    #[arg(long)]
    name: Option<String>,
    /// The use of the key: enc, sig or data.
    #[arg(long = "use", value_name = "USE")]
    usage: Option<String>,
    /// The algorithm; required with --secret.
    #[arg(long)]
    algorithm: Option<String>,
    /// The mechanism: RSA_OAEP_SHA256_AES_KWP, or RSA_OAEP_SHA1_AES_KWP for tokens that lack it.
    #[arg(long, value_name = "NAME", value_parser = mechanism, default_value = "RSA_OAEP_SHA256_AES_KWP")]
    mechanism: ImportMechanism,
    /// Do not activate the key.
    #[arg(long)]
    inactive: bool,
    /// The expiry, for example 2027-01-01T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// The identifier that partners use for the key: the kid of its envelopes.
    #[arg(long, value_name = "KID")]
    partner_kid: Option<String>,
    /// The version of the key, which must be higher than all before of its name; only for sig and data keys.
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// Print the key as JSON instead of its ID.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let material = arguments.key.read()?;
    let client = Client::new(&arguments.connection)?;
    let parameters = client
        .post("/admin/keys/import-parameters", &json!({ "mechanism": arguments.mechanism }))?;
    let part = |name: &str| {
        let text = parameters.get(name).and_then(Value::as_str);
        text.ok_or_else(|| Failure::Other(format!("the service answered without {name}")))
    };
    let wrapping_key = PublicKey::from_pem(part("publicKey")?).map_err(|problem| {
        Failure::Other(format!("the service's wrapping key: {}", problem.message))
    })?;
    check_fingerprint(&wrapping_key, part("publicKeySha256")?)?;
    let ciphertext = wrap(&wrapping_key, arguments.mechanism, &material)?;

    let mut order = Map::new();
    let mut state = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            order.insert(name.to_owned(), value);
        }
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    state("serviceId", Some(json!(arguments.service)));
    state("name", text(&arguments.name));
    state("use", text(&arguments.usage));
    state("algorithm", text(&arguments.algorithm));
    state("activate", arguments.inactive.then_some(Value::Bool(false)));
    state("expiresAt", text(&arguments.expires));
    state("partnerKid", text(&arguments.partner_kid));
    state("version", arguments.version.map(|version| json!(version)));
    state("publicKey", material.public().map(|public| json!(public.to_pem())));
    state(
        "wrappedKey",
        Some(json!({
            "importKeyId": part("importKeyId")?,
            "mechanism": arguments.mechanism,
            "ciphertext": ciphertext,
        })),
    );
    let key = client.post("/admin/keys", &Value::Object(order))?;
    if key.get("proposedBy").is_some() {
        writeln!(io::stderr(), "the import needs approval: this is the proposed change")?;
    }
    let mut out = io::stdout();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &key).map_err(io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let id = key.get("id").and_then(Value::as_str).unwrap_or_default();
    Ok(writeln!(out, "{id}")?)
}
