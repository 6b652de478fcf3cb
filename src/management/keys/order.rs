//! From what a client says of a new key to what is to be done.

use hsm::KeyName;
use zeroize::Zeroizing;

use super::{NewKeyDraft, Rules, TokenObjectDraft, WrappedKeyDraft};
use crate::clock::Timestamp;
use crate::ids::ServiceId;
use crate::json::{Kind, Text};
use crate::keys::{Described, Mechanism, Usage, Wrapped};
use crate::management::{Error, Member, Proposal, check};
use crate::material::{Algorithm, PrivateKey, PrivatePem, PublicKey, SecretKey, Unlock};
use crate::problem::{Code, Problem, Problems};

/// A key that is to come.
pub(super) struct Order {
    pub(super) service_id: ServiceId,
    pub(super) name: Option<String>,
    pub(super) activate: bool,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) source: Source,
}

/// Where it comes from.
pub(super) enum Source {
    Generated {
        usage: Usage,
        algorithm: Algorithm,
    },
    Public {
        usage: Usage,
        key: PublicKey,
    },
    Wrapped {
        usage: Usage,
        wrapped: Wrapped,
    },
    Private {
        usage: Usage,
        key: Box<PrivateKey>,
    },
    Secret {
        usage: Usage,
        algorithm: Algorithm,
        key: SecretKey,
    },
    TokenObject(Described),
}

/// What was said of the kind of key, to be held against the key itself.
#[derive(Clone, Copy)]
struct Said {
    usage: Option<Usage>,
    algorithm: Option<Algorithm>,
}

impl Order {
    /// Decides. This may take as long as a password hash.
    pub(super) fn of(
        proposal: Proposal<NewKeyDraft>,
        rules: Rules,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let (mut problems, draft) = (proposal.problems, proposal.draft);
        let in_plaintext = !draft.private_key.is_absent() || !draft.secret_key.is_absent();
        if in_plaintext && !rules.plaintext_import {
            return Err(Error::NotAllowed(
                "keys are not taken in plaintext; wrap it, or set keys.allow_plaintext_import",
            ));
        }
        let found = &mut problems;
        check::require(found, [("serviceId", draft.service_id.is_absent())]);
        let mut service_id = None;
        check::set(
            found,
            &mut service_id,
            draft.service_id.clone(),
            |found, id| {
                let known: Option<ServiceId> = id.parse().ok();
                if known.is_none() {
                    let message = "there is no such service";
                    found.note(Problem::new("serviceId", Code::Unknown, message));
                }
                known.map(Some)
            },
        );
        let mut name = None;
        check::set(found, &mut name, draft.name.clone(), |found, given| {
            check::name(found, given).map(Some)
        });
        let mut activate = true;
        check::set(found, &mut activate, draft.activate.clone(), |_, given| {
            Some(given)
        });
        let mut expires_at = None;
        check::set(
            found,
            &mut expires_at,
            draft.expires_at.clone(),
            |found, text| check::or_null(text, |text| check::expiry(found, now, None, &text)),
        );
        let said = Said::of(found, &draft);
        let source = source(found, said, draft);
        match (service_id, source) {
            (Some(service_id), Some(source)) if problems.is_empty() => Ok(Self {
                service_id,
                name,
                activate,
                expires_at,
                source,
            }),
            _ => Err(problems.into()),
        }
    }
}

impl Said {
    fn of(found: &mut Problems, draft: &NewKeyDraft) -> Self {
        let (mut usage, mut algorithm) = (None, None);
        check::set(found, &mut usage, draft.usage.clone(), |found, name| {
            check::one_of(found, "use", &name, &Usage::ALL.map(Usage::name)).map(Some)
        });
        check::set(
            found,
            &mut algorithm,
            draft.algorithm.clone(),
            |found, name| {
                let names = Algorithm::ALL.map(Algorithm::name);
                check::one_of(found, "algorithm", &name, &names).map(Some)
            },
        );
        let said = Self { usage, algorithm };
        if let (Some(_), Some(algorithm)) = (usage, algorithm) {
            // Whatever the source is, it cannot be both.
            said.usage_for(found, algorithm);
        }
        said
    }

    /// The use of a key of this kind, if that is what was said of it.
    fn of_key(self, found: &mut Problems, algorithm: Algorithm) -> Option<Usage> {
        if self.algorithm.is_some_and(|said| said != algorithm) {
            let message = format!("the key is {algorithm}");
            found.note(Problem::new("algorithm", Code::Conflict, message));
            return None;
        }
        self.usage_for(found, algorithm)
    }

    fn usage_for(self, found: &mut Problems, algorithm: Algorithm) -> Option<Usage> {
        let usage = self.usage.unwrap_or(Usage::likely_of(algorithm));
        if usage.allows(algorithm) {
            return Some(usage);
        }
        let noted = found
            .as_slice()
            .iter()
            .any(|problem| problem.field == "use");
        if !noted {
            let message = format!("a key of {algorithm} cannot be used so");
            found.note(Problem::new("use", Code::Conflict, message));
        }
        None
    }
}

fn source(found: &mut Problems, said: Said, draft: NewKeyDraft) -> Option<Source> {
    if !the_members_go_together(found, &draft) {
        return None;
    }
    let public = match draft.public_key {
        Member::Absent => None,
        Member::Wrong => return None,
        Member::Given(text) => Some(public_key(found, &text)?),
    };
    if let Member::Given(Some(wrapped)) = draft.wrapped_key {
        return wrapped_source(found, said, wrapped, public);
    }
    if let Member::Given(Some(object)) = draft.token_object {
        return token_object(found, said, object, public);
    }
    if let Member::Given(text) = draft.private_key {
        let key = private_key(found, &text, draft.passphrase)?;
        let usage = said.of_key(found, key.algorithm())?;
        return Some(Source::Private { usage, key });
    }
    if let Member::Given(text) = draft.secret_key {
        return secret_source(found, said, &text);
    }
    if let Some(key) = public {
        let usage = said.of_key(found, key.algorithm())?;
        return Some(Source::Public { usage, key });
    }
    let algorithm = said
        .algorithm
        .unwrap_or_else(|| said.usage.unwrap_or(Usage::Enc).likely_algorithm());
    let usage = said.usage_for(found, algorithm)?;
    Some(Source::Generated { usage, algorithm })
}

/// Checks that there is one source, and beside it only what belongs to it.
fn the_members_go_together(found: &mut Problems, draft: &NewKeyDraft) -> bool {
    let sources = [
        ("generate", matches!(draft.generate, Member::Given(true))),
        (
            "wrappedKey",
            matches!(draft.wrapped_key, Member::Given(Some(_))),
        ),
        ("privateKey", matches!(draft.private_key, Member::Given(_))),
        ("secretKey", matches!(draft.secret_key, Member::Given(_))),
        (
            "tokenObject",
            matches!(draft.token_object, Member::Given(Some(_))),
        ),
    ];
    let wrong = matches!(draft.generate, Member::Wrong)
        || matches!(draft.wrapped_key, Member::Wrong)
        || matches!(draft.private_key, Member::Wrong)
        || matches!(draft.secret_key, Member::Wrong)
        || matches!(draft.token_object, Member::Wrong)
        || matches!(draft.public_key, Member::Wrong);
    let given: Vec<_> = sources
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name))
        .collect();
    let public = matches!(draft.public_key, Member::Given(_));
    let mut fits = !wrong;
    match given.as_slice() {
        [] if public || wrong => {}
        [] => {
            let message = "one of generate, publicKey, wrappedKey, privateKey, secretKey and \
                           tokenObject must say where the key comes from";
            found.note(Problem::of_body(Code::Required, message));
            fits = false;
        }
        [source] => {
            if public && !matches!(*source, "wrappedKey" | "tokenObject") {
                let message = format!("this does not go with {source}");
                found.note(Problem::new("publicKey", Code::Conflict, message));
                fits = false;
            }
        }
        [first, others @ ..] => {
            for other in others {
                let message = format!("only one source is taken, and there is {first}");
                found.note(Problem::new(*other, Code::Conflict, message));
            }
            fits = false;
        }
    }
    if !draft.passphrase.is_absent() && draft.private_key.is_absent() {
        let message = "this goes with an encrypted privateKey alone";
        found.note(Problem::new("passphrase", Code::Conflict, message));
        fits = false;
    }
    fits
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

fn public_key(found: &mut Problems, text: &str) -> Option<PublicKey> {
    const MEMBER: &str = "publicKey";
    let of_pem = |found: &mut Problems, pem: &str| noted(found, MEMBER, PublicKey::from_pem(pem));
    pem_or_jwk(found, MEMBER, text, of_pem, PublicKey::from_jwk)
}

fn private_key(
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

fn secret_source(found: &mut Problems, said: Said, text: &str) -> Option<Source> {
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

fn wrapped_source(
    found: &mut Problems,
    said: Said,
    draft: WrappedKeyDraft,
    public: Option<PublicKey>,
) -> Option<Source> {
    check::require(
        found,
        [
            ("wrappedKey.importKeyId", draft.import_key_id.is_absent()),
            ("wrappedKey.mechanism", draft.mechanism.is_absent()),
            ("wrappedKey.ciphertext", draft.ciphertext.is_absent()),
        ],
    );
    let (Member::Given(id), Member::Given(mechanism), Member::Given(ciphertext)) =
        (draft.import_key_id, draft.mechanism, draft.ciphertext)
    else {
        return None;
    };
    let import_key = id.parse().ok();
    if import_key.is_none() {
        let message = "there is no such import key";
        found.note(Problem::new(
            "wrappedKey.importKeyId",
            Code::Unknown,
            message,
        ));
    }
    let mechanisms = Mechanism::ALL.map(Mechanism::name);
    let known: Option<Mechanism> =
        check::one_of(found, "wrappedKey.mechanism", &mechanism, &mechanisms);
    let ciphertext = crate::binary::from_base64(&ciphertext).ok();
    if ciphertext.is_none() {
        found.note(Problem::new(
            "wrappedKey.ciphertext",
            Code::Format,
            "must be base64",
        ));
    }
    let algorithm = said.algorithm.or(public.as_ref().map(PublicKey::algorithm));
    let Some(algorithm) = algorithm else {
        let message = "a wrapped key does not show its algorithm: name it, or send its publicKey";
        found.note(Problem::new("algorithm", Code::Required, message));
        return None;
    };
    if let Some(public) = &public {
        said.of_key(found, public.algorithm())?;
    } else if algorithm.curve().is_some() || algorithm == Algorithm::Ed25519 {
        let message = "a wrapped key on a curve needs its public half beside it";
        found.note(Problem::new("publicKey", Code::Required, message));
        return None;
    }
    let usage = said.usage_for(found, algorithm)?;
    Some(Source::Wrapped {
        usage,
        wrapped: Wrapped {
            import_key: import_key?,
            mechanism: known?,
            ciphertext: ciphertext?,
            algorithm,
            public,
        },
    })
}

fn token_object(
    found: &mut Problems,
    said: Said,
    draft: TokenObjectDraft,
    public: Option<PublicKey>,
) -> Option<Source> {
    const MEMBER: &str = "tokenObject";
    let name = match (draft.cka_id, draft.label) {
        (Member::Given(id), Member::Absent) => {
            let id = from_hex(&id);
            if id.is_none() {
                let message = "must be hex, two digits a byte, 1 to 255 bytes";
                found.note(Problem::new("tokenObject.ckaId", Code::Format, message));
            }
            KeyName::Id(id?)
        }
        (Member::Absent, Member::Given(label)) if !label.is_empty() && !label.contains('\0') => {
            KeyName::Label(label)
        }
        (Member::Absent, Member::Given(_)) => {
            let message = "must be the label of a key";
            found.note(Problem::new("tokenObject.label", Code::Format, message));
            return None;
        }
        (Member::Given(_), Member::Given(_)) | (Member::Absent, Member::Absent) => {
            let message = "must name the key by either ckaId or label";
            found.note(Problem::new(MEMBER, Code::Required, message));
            return None;
        }
        (Member::Wrong, _) | (_, Member::Wrong) => return None,
    };
    Some(Source::TokenObject(Described {
        name,
        usage: said.usage,
        algorithm: said.algorithm,
        public,
    }))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes().chunks(2).map(|pair| {
        let digits = str::from_utf8(pair).ok()?;
        let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex
            .then(|| u8::from_str_radix(digits, 16).ok())
            .flatten()
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.filter(|bytes| (1..=255).contains(&bytes.len()))
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
