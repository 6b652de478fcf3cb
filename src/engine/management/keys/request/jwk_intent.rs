//! The use for which a JWK was made, to be compared with the use of the new key.

use std::borrow::Cow;

use super::kind::StatedKind;
use crate::keys::Usage;
use formats::envelope::Alg;
use formats::json::{Members, Text};
use formats::material::{Algorithm, Family};
use formats::problem::{Code, Problem, Problems};

/// The most `key_ops` that are read. RFC 7517 defines eight.
const MOST_OPERATIONS: usize = 32;

/// Checks that `use`, `key_ops` and `alg` of a JWK allow the use of the new key.
pub(super) fn check_intent(
    jwk: Text<'_>,
    kind: StatedKind,
    algorithm: Algorithm,
) -> Result<(), Problems> {
    let usage = kind.usage.unwrap_or(Usage::likely_of(algorithm));
    let mut members = Members::of(jwk, &["use", "key_ops", "alg"]);
    if let Some(stated) = stated(&mut members, "use")
        && stated != usage.name()
    {
        members.note(conflict("use", &format!("must be {}", usage.name())));
    }
    if let Some(operations) = members.optional("key_ops")
        && !allow(operations, usage)
    {
        let message = format!("must be empty or contain {}", operations_of(usage).join(" or "));
        members.note(conflict("key_ops", &message));
    }
    if let Some(alg) = stated(&mut members, "alg")
        && !is_for(&alg, usage, algorithm)
    {
        let message = format!("must be an algorithm for {} and {algorithm}", usage.name());
        members.note(conflict("alg", &message));
    }
    members.finish(|| Some(()))
}

/// A string member, if it is stated.
fn stated<'a>(members: &mut Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    members.optional(name)?;
    members.required_string(name)
}

fn conflict(name: &str, rule: &str) -> Problem {
    let message = format!("{rule}; remove it, or state another use of the key");
    Problem::new(name, Code::Conflict, message)
}

/// Whether `key_ops` allow the use. Public keys for key agreement have an empty list.
fn allow(operations: Text<'_>, usage: Usage) -> bool {
    let Some(operations) = operations.elements(MOST_OPERATIONS) else {
        return false;
    };
    let allows = |operation: &Text<'_>| {
        let name = operation.string();
        name.is_some_and(|name| name.is_ok_and(|name| operations_of(usage).contains(&&*name)))
    };
    operations.is_empty() || operations.iter().any(allows)
}

/// The `key_ops` that allow the use.
const fn operations_of(usage: Usage) -> &'static [&'static str] {
    match usage {
        Usage::Enc => &["encrypt", "decrypt", "wrapKey", "unwrapKey", "deriveKey", "deriveBits"],
        Usage::Sig => &["sign", "verify"],
        Usage::Data => &["encrypt", "decrypt"],
    }
}

/// Whether a JOSE algorithm is one for the use and the key.
fn is_for(alg: &str, usage: Usage, algorithm: Algorithm) -> bool {
    match (usage, algorithm.family()) {
        (Usage::Enc, Family::Rsa) => alg.starts_with("RSA-OAEP"),
        (Usage::Enc, Family::Ec) => alg.starts_with("ECDH-ES"),
        (Usage::Enc, Family::P256MlKem768) => alg == Alg::Hpke8Ke.name(),
        (Usage::Enc, Family::MlKem768) => alg == Alg::Hpke12Ke.name(),
        (Usage::Enc, Family::MlKem1024) => alg == Alg::Hpke13Ke.name(),
        (Usage::Sig, Family::Rsa) => {
            ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].contains(&alg)
        }
        (Usage::Sig, Family::Ec) => match algorithm {
            Algorithm::P256 => alg == "ES256",
            Algorithm::P384 => alg == "ES384",
            Algorithm::P521 => alg == "ES512",
            Algorithm::Rsa2048
            | Algorithm::Rsa3072
            | Algorithm::Rsa4096
            | Algorithm::Ed25519
            | Algorithm::MlDsa44
            | Algorithm::MlDsa65
            | Algorithm::MlDsa87
            | Algorithm::MlKem768
            | Algorithm::MlKem1024
            | Algorithm::P256MlKem768
            | Algorithm::Aes256
            | Algorithm::Aes128
            | Algorithm::HmacSha256 => false,
        },
        (Usage::Sig, Family::Ed25519) => ["EdDSA", "Ed25519"].contains(&alg),
        (Usage::Sig, Family::MlDsa) => alg == algorithm.name(),
        // The request is refused for its use.
        (Usage::Enc | Usage::Sig | Usage::Data, _) => true,
    }
}
