//! Reads how something is signed.

use crate::body::{Fields, quoted, unquoted};
use crate::operation::Operation;
use crate::text::{self, NotAText};
use engine::keys::KeyVersion;
use engine::protection::{RsaPadding, SignatureFormat, SigningWish};
use formats::algorithms::Hash;
use formats::problem::{Code, Problem};

/// What a body says about all its signatures.
pub(super) struct Signing {
    pub(super) wish: SigningWish,
    /// Whether texts have base64url.
    pub(super) is_jws: bool,
}

impl Signing {
    pub(super) fn of(
        operation: Operation,
        path: Option<&str>,
        body: &Fields<'_>,
    ) -> Result<Self, Problem> {
        let is_mac = operation == Operation::Hmac;
        let (first, second) = match is_mac {
            true => ("algorithm", "hash_algorithm"),
            false => ("hash_algorithm", "algorithm"),
        };
        let (first, second) = (body.filled(first)?, body.filled(second)?);
        // Each one is checked, and the first one counts.
        let named = [path, first.as_deref(), second.as_deref()].into_iter().flatten();
        let hashes = named.map(hash).collect::<Result<Vec<_>, _>>()?;
        let hash = hashes.first().copied().unwrap_or(Hash::Sha256);
        let is_jws = match body.filled("marshaling_algorithm")?.as_deref() {
            None | Some("asn1") => false,
            Some("jws") => true,
            Some(other) => {
                let message = format!("invalid marshaling type {}", quoted(other));
                return Err(Problem::of_body(Code::Unsupported, message));
            }
        };
        let padding = padding(operation, body, hash)?;
        let format = if is_jws { SignatureFormat::P1363 } else { SignatureFormat::Der };
        let wish = SigningWish { is_mac, hash, padding, format };
        if is_mac {
            check_mac(wish)?;
        }
        Ok(Self { wish, is_jws })
    }

    /// The signature or the MAC to verify.
    pub(super) fn signature(
        &self,
        fields: &Fields<'_>,
    ) -> Result<(KeyVersion, Vec<u8>, SigningWish), Problem> {
        let (text, is_mac) = match (fields.filled("signature")?, fields.filled("hmac")?) {
            (Some(signature), None) => (signature, false),
            (None, Some(hmac)) => (hmac, true),
            (None, None) | (Some(_), Some(_)) => {
                let message = "exactly one of 'signature' and 'hmac' must be given";
                return Err(Problem::of_body(Code::Conflict, message));
            }
        };
        let kind = if is_mac { "HMAC to verify" } else { "signature" };
        let read = text::parse(&text, self.is_jws && !is_mac);
        let (version, signature) = read.map_err(|error: NotAText| {
            let message = error.message(kind, "invalid base64 signature value");
            Problem::of_body(Code::Format, message)
        })?;
        let wish = SigningWish { is_mac, ..self.wish };
        if is_mac {
            check_mac(wish)?;
        }
        Ok((version, signature, wish))
    }
}

/// The keys for MACs have one hash.
fn check_mac(wish: SigningWish) -> Result<(), Problem> {
    match wish.hash {
        Hash::Sha256 => Ok(()),
        Hash::Sha384 => Err(invalid_hash("sha2-384")),
        Hash::Sha512 => Err(invalid_hash("sha2-512")),
    }
}

fn hash(name: &str) -> Result<Hash, Problem> {
    match name {
        "sha2-256" => Ok(Hash::Sha256),
        "sha2-384" => Ok(Hash::Sha384),
        "sha2-512" => Ok(Hash::Sha512),
        _ => Err(invalid_hash(name)),
    }
}

fn invalid_hash(name: &str) -> Problem {
    Problem::of_body(Code::Unsupported, format!("invalid hash algorithm {}", quoted(name)))
}

fn salt_length(named: &str) -> Result<usize, Problem> {
    let number: i64 = named.parse().map_err(|_| {
        let named = unquoted(named);
        let message = format!("salt length neither 'auto', 'hash', nor an int: {named}");
        Problem::of_body(Code::Type, message)
    })?;
    usize::try_from(number).map_err(|_| {
        let message = format!("requested salt length {number} is invalid");
        Problem::of_body(Code::Range, message)
    })
}

/// The padding of RSA. Without one, a signature is made with PSS, and one of either padding verifies.
fn padding(
    operation: Operation,
    body: &Fields<'_>,
    hash: Hash,
) -> Result<Option<RsaPadding>, Problem> {
    let salt = match body.scalar("salt_length")?.as_deref() {
        // Clients in Go have numbers for both words.
        None | Some("auto" | "0") => None,
        Some("hash" | "-1") => Some(hash.digest_len()),
        Some(other) => Some(salt_length(other)?),
    };
    match body.filled("signature_algorithm")?.as_deref() {
        Some("pss") => Ok(Some(RsaPadding::Pss { salt })),
        Some("pkcs1v15") => Ok(Some(RsaPadding::Pkcs1v15)),
        None if salt.is_none() && operation == Operation::Verify => Ok(None),
        None => Ok(Some(RsaPadding::Pss { salt })),
        Some(other) => {
            let message = format!("unsupported signature algorithm {}", quoted(other));
            Err(Problem::of_body(Code::Unsupported, message))
        }
    }
}
