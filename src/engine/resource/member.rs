//! One member of a request.

use formats::problem::{Code, Problem, Problems};

/// One member of a request, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Member<T> {
    /// The request does not have it.
    #[default]
    Absent,
    /// The request has it, and a problem with it was noted.
    Wrong,
    /// Its value.
    Given(T),
}

impl<T> Member<T> {
    /// Whether the request does not have it.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value, if it is there.
    pub fn given(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Absent | Self::Wrong => None,
        }
    }

    /// The same member with its value converted.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Member<U> {
        match self {
            Self::Absent => Member::Absent,
            Self::Wrong => Member::Wrong,
            Self::Given(value) => Member::Given(convert(value)),
        }
    }

    /// The value of a member of a new resource: from the request, otherwise the default. Without a
    /// default the member is required.
    pub fn or_default(self, name: &str, default: Option<T>, problems: &mut Problems) -> Option<T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Wrong => None,
            Self::Absent => {
                if default.is_none() {
                    problems.note(Problem::required(name));
                }
                default
            }
        }
    }

    /// The value of a member of a changed resource: from the request, otherwise the current one.
    pub(crate) fn or_keep(self, before: &T) -> T
    where
        T: Clone,
    {
        match self {
            Self::Given(value) => value,
            Self::Absent | Self::Wrong => before.clone(),
        }
    }

    /// Notes a problem if the member is given and differs from the value that cannot change.
    pub(crate) fn keep_fixed(&self, name: &str, fixed: &T, problems: &mut Problems)
    where
        T: PartialEq,
    {
        if self.given().is_some_and(|stated| stated != fixed) {
            problems.note(Problem::new(name, Code::Conflict, "cannot be changed"));
        }
    }
}
