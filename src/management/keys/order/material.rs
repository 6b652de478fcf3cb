//! Keys that came in the body as they are: read, opened, checked.

use zeroize::Zeroizing;

use super::said::Said;
use super::source::Source;
use crate::json::{Kind, Text};
use crate::keys::Usage;
use crate::management::Member;
use crate::material::{Algorithm, PrivateKey, PrivatePem, PublicKey, SecretKey, Unlock};
use crate::problem::{Code, Problem, Problems};

pub(super) fn public_key(found: &mut Problems, text: &str) -> Option<PublicKey> {
    const MEMBER: &str = "publicKey";
    let of_pem = |found: &mut Problems, pem: &str| noted(found, MEMBER, PublicKey::from_pem(pem));
    pem_or_jwk(found, MEMBER, text, of_pem, PublicKey::from_jwk)
}

pub(super) fn private_key(
    found: &mut Problems,
    text: &str,
    passphrase: Member<Zeroizing<String>>,
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
                match locked.unlock(&passphrase) {
                    Ok(key) => Some((Box::new(key), false)),
                    Err(Unlock::Key(problem)) => noted(found, MEMBER, Err(problem)),
                    Err(Unlock::Passphrase) => {
                        let message = "this does not open the key";
                        found.note(Problem::new("passphrase", Code::Conflict, message));
                        None
                    }
                }
            }
        };
    let (key, needless) = pem_or_jwk(found, MEMBER, text, of_pem, |text| {
        Ok((Box::new(PrivateKey::from_jwk(text)?), needless))
    })?;
    if needless {
        let message = "the key is not encrypted";
        found.note(Problem::new("passphrase", Code::Conflict, message));
        return None;
    }
    Some(key)
}

pub(super) fn secret_source(found: &mut Problems, said: Said, text: &str) -> Option<Source> {
    const MEMBER: &str = "secretKey";
    let key = noted(found, MEMBER, SecretKey::from_base64(text))?;
    let algorithm = match (said.algorithm, said.usage) {
        (Some(algorithm), _) => algorithm,
        (None, Some(Usage::Sig)) => Algorithm::HmacSha256,
        (None, _) => key.likely_algorithm(),
    };
    noted(found, MEMBER, key.check_for(algorithm))?;
    let usage = said.usage_for(found, algorithm)?;
    Some(Source::Secret {
        usage,
        algorithm,
        key,
    })
}

/// What a member that is PEM in a JSON string, or a JWK, holds.
fn pem_or_jwk<T>(
    found: &mut Problems,
    member: &str,
    text: &str,
    of_pem: impl FnOnce(&mut Problems, &str) -> Option<T>,
    of_jwk: impl FnOnce(Text<'_>) -> Result<T, Problems>,
) -> Option<T> {
    // It was read from a body that was checked whole.
    let text = Text::parse(text.as_bytes()).ok()?;
    if text.kind() == Kind::Object {
        return of_jwk(text)
            .map_err(|problems| found.note_inside(member, problems))
            .ok();
    }
    match text.string()? {
        Ok(pem) => of_pem(found, &Zeroizing::new(pem.into_owned())),
        Err(error) => {
            found.note(Problem::new(member, Code::Format, error.to_string()));
            None
        }
    }
}

/// The value, or none and its problem noted under the member it came in.
fn noted<T>(found: &mut Problems, member: &str, value: Result<T, Problem>) -> Option<T> {
    value
        .map_err(|problem| {
            // The numbers of a key in PEM have no members of their own in the body.
            found.note(Problem::new(member, problem.code, problem.message));
        })
        .ok()
}
