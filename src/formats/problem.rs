//! A problem of a request: an entry of `details` in a 400 answer.
//!
//! Every module that reads input reports problems in this form, and all problems of a body are
//! reported at once. A message is the rest of a sentence that begins with the member: it states the
//! rule ("must be base64") and never repeats the value, which may be a secret.

use std::borrow::Cow;

use serde::Serialize;

/// A problem of one member of a request, or, with an empty `field`, of the body as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "service", derive(utoipa::ToSchema))]
pub struct Problem {
    /// The member's path, as in `jwe.iv` or `allowedCidrs[2]`.
    pub field: String,
    /// The kind of problem, for programs.
    pub code: Code,
    /// The problem in words, for people.
    pub message: Cow<'static, str>,
    /// How many bytes at the end of the path are text of the client.
    #[serde(skip)]
    foreign: usize,
}

/// The kinds of problem, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "service", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "service", schema(as = ProblemCode))]
pub enum Code {
    /// A required member is absent.
    Required,
    /// The JSON type is wrong.
    Type,
    /// The format is wrong: not base64, not JSON, not a date.
    Format,
    /// Too short or too long.
    Length,
    /// Too small or too large.
    Range,
    /// Well formed, but not supported.
    Unsupported,
    /// The member or the resource does not exist.
    Unknown,
    /// It contradicts another member.
    Conflict,
}

impl Problem {
    /// A problem with the member at `field`.
    pub fn new(
        field: impl Into<String>,
        code: Code,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field: field.into(), code, message: message.into(), foreign: 0 }
    }

    /// A member, or a parameter of a query, that nothing reads. Its name is text of the client.
    pub fn unknown(name: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        let problem = Self::new(name, Code::Unknown, message);
        Self { foreign: problem.field.len(), ..problem }
    }

    /// The member's path for logs, without text of the client.
    pub fn place(&self) -> Cow<'_, str> {
        let known = self.field.len().saturating_sub(self.foreign);
        match self.foreign {
            0 => Cow::Borrowed(&self.field),
            _ => Cow::Owned(self.field.get(..known).unwrap_or_default().to_owned() + "\u{2026}"),
        }
    }

    /// A problem with the body as a whole.
    pub fn of_body(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(String::new(), code, message)
    }

    /// The required member at `field` is absent.
    pub fn required(field: impl Into<String>) -> Self {
        Self::new(field, Code::Required, "is required")
    }

    /// A parameter of a query that nothing reads.
    pub fn unknown_parameter(name: impl Into<String>) -> Self {
        Self::unknown(name, "there is no such parameter")
    }

    /// A parameter of a query that is given several times.
    pub fn repeated(name: impl Into<String>) -> Self {
        Self::new(name, Code::Conflict, "must be given once")
    }

    /// The same problem seen from the object that holds `field` under the name `parent`.
    pub fn inside(mut self, parent: &str) -> Self {
        if self.field.is_empty() {
            parent.clone_into(&mut self.field);
        } else {
            self.field = format!("{parent}.{}", self.field);
        }
        self
    }
}

/// The problems of one body, at most [`Problems::MOST`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Further problems are omitted, so that a response stays small.
    pub const MOST: usize = 32;

    /// Adds a problem.
    pub fn note(&mut self, problem: Problem) {
        if !self.is_full() {
            self.0.push(problem);
        }
    }

    /// Adds `others`, which are problems of the object named `parent`.
    pub fn note_inside(&mut self, parent: &str, others: Self) {
        for problem in others.0 {
            self.note(problem.inside(parent));
        }
    }

    /// Whether further problems are omitted.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST
    }

    /// Whether there is no problem.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems in the order they were found.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// The problems, for a response.
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
    fn the_response_has_the_documented_form() {
        let problem = Problem::new("iv", Code::Format, "not base64url").inside("jwe");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"field":"jwe.iv","code":"format","message":"not base64url"}"#
        );
    }

    #[test]
    fn an_error_of_the_whole_object_has_the_name_of_the_object() {
        assert_eq!(Problem::of_body(Code::Type, "not an object").inside("jwe").field, "jwe");
    }
}
