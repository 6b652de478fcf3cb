//! One thing wrong with a request: the entry of `details` in a 400 answer.
//!
//! Every room that reads what a client sent reports in these terms, and all problems of a body are
//! gathered before it is refused. A message says what would be right; it never repeats the value
//! that was sent, which may be a secret.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

/// What is wrong with one member of a request, or, with an empty `field`, with the body as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// The member's path, as in `jwe.iv` or `allowedCidrs[2]`.
    pub field: String,
    /// The kind of problem, for programs.
    pub code: Code,
    /// The problem in words, for people.
    pub message: Cow<'static, str>,
}

/// The kinds of problem that programs can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ProblemCode)]
pub enum Code {
    /// A member that must be there is absent.
    Required,
    /// The JSON type is another than asked for.
    Type,
    /// The type is right and the text is not: not base64, not JSON, not a date.
    Format,
    /// Too short or too long.
    Length,
    /// Too small or too big.
    Range,
    /// Well formed, and not offered here.
    Unsupported,
    /// A member, or a name of something else, that does not exist.
    Unknown,
    /// Contradicts another member.
    Conflict,
}

impl Problem {
    /// A problem with the member at `field`.
    pub fn new(
        field: impl Into<String>,
        code: Code,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: field.into(),
            code,
            message: message.into(),
        }
    }

    /// A problem with the body as a whole.
    pub fn of_body(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(String::new(), code, message)
    }

    /// The member at `field` is absent and must not be.
    pub fn required(field: impl Into<String>) -> Self {
        Self::new(field, Code::Required, "this member is required")
    }

    /// The same problem seen from the object that holds `field` under the name `parent`.
    #[must_use]
    pub fn inside(mut self, parent: &str) -> Self {
        if self.field.is_empty() {
            parent.clone_into(&mut self.field);
        } else {
            self.field = format!("{parent}.{}", self.field);
        }
        self
    }
}

/// All the problems of one body, as many as are worth telling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// More than these are left out, so that an answer stays small however long a body is.
    pub const MOST: usize = 32;

    /// Notes one more problem.
    pub fn note(&mut self, problem: Problem) {
        if self.0.len() < Self::MOST {
            self.0.push(problem);
        }
    }

    /// Notes all of `others`, which are problems of the object that stands under the name `parent`.
    pub fn note_inside(&mut self, parent: &str, others: Self) {
        for problem in others.0 {
            self.note(problem.inside(parent));
        }
    }

    /// Whether nothing was wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems in the order they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// The problems, to be put into an answer.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_clients_read_it() {
        let problem = Problem::new("iv", Code::Format, "not base64url").inside("jwe");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"field":"jwe.iv","code":"format","message":"not base64url"}"#
        );
    }

    #[test]
    fn of_a_whole_object_takes_the_objects_name() {
        assert_eq!(
            Problem::of_body(Code::Type, "not an object")
                .inside("jwe")
                .field,
            "jwe"
        );
    }
}
