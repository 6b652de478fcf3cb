//! The signatures of reports: detached JWS in compact serialization (RFC 7515, appendix F).

use hsm::{HsmError, Token};
use serde_json::{Value, json};

use super::{Register, ReportFormat};
use crate::report_key::ReportKey;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use formats::algorithms::{Algorithm, JwsAlgorithm};
use formats::binary::{from_base64url, to_base64url};
use formats::clock::Timestamp;
use formats::json::{Members, Text};
use formats::material::PublicKey;

/// The most keys of a file.
const MOST_KEYS: usize = 100;

/// The algorithm of all signatures.
const ALGORITHM: JwsAlgorithm = JwsAlgorithm::Es256;

/// Signs a report in the token. The header says which register it contains: a table without a line does not.
pub(super) async fn sign(
    token: &Token,
    key: &ReportKey,
    (register, format, now): (Option<&Register>, ReportFormat, Timestamp),
    body: &[u8],
) -> Result<String, HsmError> {
    let kid = key.public().map(|public| public.thumbprint());
    let mut header = json!({
        "alg": ALGORITHM,
        "cty": format.media_type(),
        "iat": now.as_millis() / 1_000,
        "kid": kid,
    });
    if let (Some(register), Value::Object(members)) = (register, &mut header) {
        for (name, value) in [
            ("at", register.at.to_string()),
            ("filter", register.filter.to_string()),
            ("managementCheckpoint", register.checkpoints.management.to_string()),
            ("operationsCheckpoint", register.checkpoints.operations.to_string()),
        ] {
            members.insert(name.to_owned(), Value::String(value));
        }
    }
    let header = to_base64url(header.to_string().as_bytes());
    let signature = key.sign(token, signed(&header, body).as_bytes()).await?;
    Ok(format!("{header}..{}", to_base64url(&signature)))
}

/// What a signature signs.
fn signed(header: &str, body: &[u8]) -> String {
    format!("{header}.{}", to_base64url(body))
}

/// The public keys that an auditor trusts.
#[derive(Debug)]
pub struct ReportKeys(Vec<PublicKey>);

/// The file has no keys of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a JWK Set, a JWK or a PEM public key, with keys on P-256")]
pub struct InvalidKeys;

/// A signature that is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The thumbprint of the key that signed.
    pub thumbprint: String,
    /// The time of the signature, as the service states it.
    pub signed_at: Timestamp,
    /// The register that it contains, if it is one.
    pub register: Option<Scope>,
}

/// What a register contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The last day whose uses count.
    pub at: String,
    /// The filters. Empty if it contains all keys.
    pub filter: String,
}

/// Why a signature does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotVerified {
    /// It is not a detached JWS of a report.
    #[error("the signature is not a detached JWS of a report")]
    Malformed,
    /// None of the keys has the thumbprint of its header.
    #[error("none of the keys is the one that the signature names")]
    OtherKey,
    /// The report was changed after it was signed.
    #[error("the report is not the one that was signed")]
    Changed,
}

impl ReportKeys {
    /// The keys in a file: a JWK Set, a JWK, or a public key in PEM.
    pub fn parse(text: &str) -> Result<Self, InvalidKeys> {
        let keys = match text.trim_start().starts_with('{') {
            true => of_json(text)?,
            false => vec![PublicKey::from_pem(text).map_err(|_| InvalidKeys)?],
        };
        let fits = |key: &PublicKey| key.algorithm() == Algorithm::P256;
        let is_valid = (1..=MOST_KEYS).contains(&keys.len()) && keys.iter().all(fits);
        if is_valid { Ok(Self(keys)) } else { Err(InvalidKeys) }
    }

    /// Verifies a report.
    pub fn verify(&self, body: &[u8], signature: &str) -> Result<Verified, NotVerified> {
        let mut parts = signature.trim_ascii().split('.');
        let (Some(header), Some(""), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotVerified::Malformed);
        };
        let stated = read_header(header).ok_or(NotVerified::Malformed)?;
        let signature = from_base64url(signature).map_err(|_| NotVerified::Malformed)?;
        let key = self.0.iter().find(|key| key.thumbprint() == stated.thumbprint);
        let key = key.ok_or(NotVerified::OtherKey)?;
        let message = signed(header, body);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.to_spki())
            .verify(message.as_bytes(), &signature)
            .map_err(|_| NotVerified::Changed)?;
        Ok(stated)
    }
}

/// What a header states. None if it has another algorithm or an extension.
fn read_header(header: &str) -> Option<Verified> {
    let header: Value = serde_json::from_slice(&from_base64url(header).ok()?).ok()?;
    let is_plain = header.get("crit").is_none() && header.get("b64").is_none();
    let text = |name| Some(header.get(name)?.as_str()?.to_owned());
    let stated = Verified {
        thumbprint: text("kid")?,
        signed_at: Timestamp::from_millis(header.get("iat")?.as_i64()?.checked_mul(1_000)?),
        register: text("at").zip(text("filter")).map(|(at, filter)| Scope { at, filter }),
    };
    let is_ours = header.get("alg")?.as_str()? == ALGORITHM.name();
    (is_plain && is_ours).then_some(stated)
}

fn of_json(text: &str) -> Result<Vec<PublicKey>, InvalidKeys> {
    let text = Text::parse(text.as_bytes()).map_err(|_| InvalidKeys)?;
    let members = Members::of(text, &["keys"]);
    let keys = members.get("keys");
    let keys = members.finish(|| Some(keys)).map_err(|_| InvalidKeys)?;
    let keys = match keys {
        Some(keys) => keys.elements(MOST_KEYS + 1).ok_or(InvalidKeys)?,
        None => vec![text],
    };
    keys.into_iter().map(|jwk| PublicKey::from_jwk(jwk).map_err(|_| InvalidKeys)).collect()
}
