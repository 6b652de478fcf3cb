//! What was said of the kind of key, to be held against the key itself.

use crate::keys::Usage;
use crate::management::check;
use crate::management::keys::NewKeyDraft;
use crate::material::Algorithm;
use crate::problem::{Code, Problem, Problems};

/// What was said of the kind of key, to be held against the key itself.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) usage: Option<Usage>,
    pub(super) algorithm: Option<Algorithm>,
}

impl Said {
    pub(super) fn of(found: &mut Problems, draft: &NewKeyDraft) -> Self {
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
    pub(super) fn of_key(self, found: &mut Problems, algorithm: Algorithm) -> Option<Usage> {
        if self.algorithm.is_some_and(|said| said != algorithm) {
            let message = format!("the key is {algorithm}");
            found.note(Problem::new("algorithm", Code::Conflict, message));
            return None;
        }
        self.usage_for(found, algorithm)
    }

    pub(super) fn usage_for(self, found: &mut Problems, algorithm: Algorithm) -> Option<Usage> {
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
