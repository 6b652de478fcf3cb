//! The use and the algorithm that a request states, to be compared with the key itself.

use crate::keys::Usage;
use formats::material::Algorithm;
use formats::problem::{Code, Problem, Problems};

/// The use and the algorithm that a request states.
#[derive(Clone, Copy)]
pub(super) struct StatedKind {
    pub(super) usage: Option<Usage>,
    pub(super) algorithm: Option<Algorithm>,
}

impl StatedKind {
    pub(super) fn new(
        usage: Option<Usage>,
        algorithm: Option<Algorithm>,
        problems: &mut Problems,
    ) -> Self {
        let stated = Self { usage, algorithm };
        if let (Some(_), Some(algorithm)) = (usage, algorithm) {
            // No source can give a key of both.
            stated.usage_for(algorithm, problems);
        }
        stated
    }

    /// The use of a key with this algorithm, unless the request states another use or algorithm.
    pub(super) fn usage_of(self, algorithm: Algorithm, problems: &mut Problems) -> Option<Usage> {
        if self.algorithm.is_some_and(|stated| stated != algorithm) {
            let message = format!("must be the algorithm of the key, {algorithm}");
            problems.note(Problem::new("algorithm", Code::Conflict, message));
            return None;
        }
        self.usage_for(algorithm, problems)
    }

    pub(super) fn usage_for(self, algorithm: Algorithm, problems: &mut Problems) -> Option<Usage> {
        let usage = self.usage.unwrap_or(Usage::likely_of(algorithm));
        if usage.allows(algorithm) {
            return Some(usage);
        }
        let is_noted = problems.as_slice().iter().any(|problem| problem.field == "use");
        if !is_noted {
            let message = format!("must be a use that {algorithm} keys support");
            problems.note(Problem::new("use", Code::Conflict, message));
        }
        None
    }
}
