//! Where a new key comes from: one source, and beside it only what belongs to it.

use super::material::{private_key, public_key, secret_source};
use super::said::Said;
use super::token_object::token_object;
use super::wrapped::wrapped_source;
use crate::keys::{Described, Usage, Wrapped};
use crate::management::Member;
use crate::management::keys::NewKeyDraft;
use crate::material::{Algorithm, PrivateKey, PublicKey, SecretKey};
use crate::problem::{Code, Problem, Problems};

/// Where it comes from.
pub(in crate::management::keys) enum Source {
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

impl Source {
    /// The one that the draft names.
    pub(super) fn of(found: &mut Problems, said: Said, draft: NewKeyDraft) -> Option<Self> {
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
            return Some(Self::Private { usage, key });
        }
        if let Member::Given(text) = draft.secret_key {
            return secret_source(found, said, &text);
        }
        if let Some(key) = public {
            let usage = said.of_key(found, key.algorithm())?;
            return Some(Self::Public { usage, key });
        }
        let algorithm = said
            .algorithm
            .unwrap_or_else(|| said.usage.unwrap_or(Usage::Enc).likely_algorithm());
        let usage = said.usage_for(found, algorithm)?;
        Some(Self::Generated { usage, algorithm })
    }
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
