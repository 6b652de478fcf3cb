//! Keys that a request has in plaintext.

use zeroize::Zeroizing;

use super::body::{KeyText, SecretText};
use super::jwk_intent::check_intent;
use super::kind::StatedKind;
use super::source::KeySource;
use crate::keys::Usage;
use crate::resource::Member;
use formats::json::{Text, ValueKind};
use formats::material::{Algorithm, PrivateKey, PrivatePem, PublicKey, SecretKey, Unlock};
use formats::problem::{Code, Problem, Problems};

pub(super) fn public_key(
    kind: StatedKind,
    text: &KeyText,
    problems: &mut Problems,
) -> Option<PublicKey> {
    const MEMBER: &str = "publicKey";
    let of_pem = |found: &mut Problems, pem: &str| noted(found, MEMBER, PublicKey::from_pem(pem));
    let key = pem_or_jwk(problems, MEMBER, text, of_pem, |jwk| {
        let key = PublicKey::from_jwk(jwk)?;
        check_intent(jwk, kind, key.algorithm())?;
        Ok(key)
    })?;
    noted(problems, MEMBER, key.check_strength())?;
    Some(key)
}

pub(super) fn private_key(
    kind: StatedKind,
    text: &KeyText,
    passphrase: Member<SecretText>,
    problems: &mut Problems,
) -> Option<Box<PrivateKey>> {
    const MEMBER: &str = "privateKey";
    let needless = !passphrase.is_absent();
    let of_pem =
        |found: &mut Problems, pem: &str| match noted(found, MEMBER, PrivatePem::read(pem))? {
            PrivatePem::Open(key) => Some((key, needless)),
            PrivatePem::Locked(locked) => {
                let Member::Given(passphrase) = passphrase else {
                    if passphrase.is_absent() {
                        found.note(Problem::required("passphrase"));
                    }
                    return None;
                };
                match locked.unlock(&passphrase.0) {
                    Ok(key) => Some((Box::new(key), false)),
                    Err(Unlock::Key(problem)) => noted(found, MEMBER, Err(problem)),
                    Err(Unlock::Passphrase) => {
                        let message = "must be the passphrase of the key";
                        found.note(Problem::new("passphrase", Code::Conflict, message));
                        None
                    }
                }
            }
        };
    let (key, needless) = pem_or_jwk(problems, MEMBER, text, of_pem, |jwk| {
        let key = PrivateKey::from_jwk(jwk)?;
        check_intent(jwk, kind, key.algorithm())?;
        Ok((Box::new(key), needless))
    })?;
    noted(problems, MEMBER, key.public().check_strength())?;
    if needless {
        let message = "must be left out: the key is not encrypted";
        problems.note(Problem::new("passphrase", Code::Conflict, message));
        return None;
    }
    Some(key)
}

pub(super) fn secret_source(
    kind: StatedKind,
    text: &SecretText,
    problems: &mut Problems,
) -> Option<KeySource> {
    const MEMBER: &str = "secretKey";
    let key = noted(problems, MEMBER, SecretKey::from_base64(&text.0))?;
    let algorithm = match (kind.algorithm, kind.usage) {
        (Some(algorithm), _) => algorithm,
        (None, Some(Usage::Sig)) => Algorithm::HmacSha256,
        (None, _) => key.likely_algorithm(),
    };
    noted(problems, MEMBER, key.check_for(algorithm))?;
    let usage = kind.usage_for(algorithm, problems)?;
    Some(KeySource::Secret { usage, algorithm, key })
}

/// Reads a member that is PEM in a JSON string, or a JWK.
fn pem_or_jwk<T>(
    found: &mut Problems,
    member: &str,
    text: &KeyText,
    of_pem: impl FnOnce(&mut Problems, &str) -> Option<T>,
    of_jwk: impl FnOnce(Text<'_>) -> Result<T, Problems>,
) -> Option<T> {
    // The whole body was parsed, so this part is JSON.
    let text = Text::parse(text.0.as_bytes()).ok()?;
    if text.kind() == ValueKind::Object {
        return of_jwk(text).map_err(|problems| found.note_inside(member, problems)).ok();
    }
    match text.string()? {
        Ok(pem) => of_pem(found, &Zeroizing::new(pem.into_owned())),
        Err(error) => {
            found.note(Problem::new(member, Code::Format, error.to_string()));
            None
        }
    }
}

/// The value; a problem is noted under its member.
fn noted<T>(found: &mut Problems, member: &str, value: Result<T, Problem>) -> Option<T> {
    value
        .map_err(|problem| {
            // The request has no members for the numbers of a key in PEM.
            found.note(Problem::new(member, problem.code, problem.message));
        })
        .ok()
}
