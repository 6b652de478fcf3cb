//! The query of a list: its filters and its page.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::ApiError;
use engine::management::{Cursor, Limit, PageRequest};
use engine::policy::{NotANumber, PolicyNumber};
use engine::reports::{Day, NotADay};
use formats::clock::Timestamp;
use formats::closed_set::{NamedValue, NotOneOf};
use formats::problem::{Code, Problem, Problems};

/// The parameters of a query. A parameter that no filter reads is a problem: a misspelt filter would
/// show more than the client asked for.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    parameters: Vec<(String, String)>,
    problems: Problems,
}

impl FromRequestParts<App> for Filters {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self::of(query))
    }
}

impl Filters {
    pub(crate) fn of(query: &str) -> Self {
        let parameters = form_urlencoded::parse(query.as_bytes());
        Self { parameters: parameters.into_owned().collect(), problems: Problems::default() }
    }

    /// Free text.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "must not contain U+0000", |text| {
            let is_taken = !text.contains('\0');
            is_taken.then(|| text.to_owned()).ok_or(Code::Format)
        })
    }

    /// A whole number in that range.
    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<i16>) -> Option<i16> {
        let form = format!("must be {} to {}", range.start(), range.end());
        self.read(name, &form, |text| {
            in_range(text, |number: i16| range.contains(&number).then_some(number))
        })
    }

    /// A value that is parsed; `form` describes it.
    fn parsed<T: FromStr>(&mut self, name: &str, form: &str) -> Option<T> {
        self.read(name, form, |text| text.parse().map_err(|_| Code::Format))
    }

    /// A value of a closed set.
    pub(crate) fn one_of<T: NamedValue>(&mut self, name: &str) -> Option<T> {
        let form = NotOneOf(T::NAMES).to_string();
        self.read(name, &form, |text| text.parse().map_err(|_| Code::Unsupported))
    }

    /// Whether something holds; not without the parameter.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.parsed(name, "must be true or false").unwrap_or_default()
    }

    /// An identifier.
    pub(crate) fn id<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.parsed(name, "must be the id of a resource")
    }

    pub(crate) fn time(&mut self, name: &str) -> Option<Timestamp> {
        self.parsed(name, "must be a time such as 2030-01-31T12:00:00.000Z")
    }

    /// A day in UTC.
    pub(crate) fn day(&mut self, name: &str) -> Option<Day> {
        self.parsed(name, &NotADay.to_string())
    }

    /// The number of a policy.
    pub(crate) fn policy_number(&mut self, name: &str) -> Option<PolicyNumber> {
        self.parsed(name, &NotANumber.to_string())
    }

    pub(crate) fn page(&mut self) -> PageRequest {
        let limit = self.read("limit", "must be 1 to 200", |text| in_range(text, Limit::new));
        let after: Option<Cursor> = self.parsed("cursor", "must be the nextCursor of an answer");
        PageRequest { limit: limit.unwrap_or_default(), after }
    }

    /// Adds a problem.
    pub(crate) fn refuse(&mut self, problem: Problem) {
        self.problems.note(problem);
    }

    /// Ends reading: every parameter must have been read.
    pub(crate) fn finish(mut self) -> Result<(), ApiError> {
        for (name, _) in std::mem::take(&mut self.parameters) {
            self.problems.note(Problem::unknown_parameter(name));
        }
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(ApiError::Problems(self.problems.into_vec()))
        }
    }

    fn read<T>(
        &mut self,
        name: &str,
        form: &str,
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        let mut given = self.parameters.extract_if(.., |(given, _)| given == name);
        let (_, text) = given.next()?;
        let is_single = given.next().is_none();
        drop(given);
        if !is_single {
            self.problems.note(Problem::repeated(name));
            return None;
        }
        let note = |code| self.problems.note(Problem::new(name, code, form.to_owned()));
        read(&text).map_err(note).ok()
    }
}

/// Parses a whole number that `within` accepts. A number that it does not accept, however long, is out
/// of range; any other text has the wrong form.
fn in_range<N: FromStr, T>(text: &str, within: impl FnOnce(N) -> Option<T>) -> Result<T, Code> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(Code::Format);
    }
    text.parse().ok().and_then(within).ok_or(Code::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_of_a_query_are_reported_at_once() {
        let mut filters =
            Filters::of("limit=0&cursor=x&status=99&name=a%00&nmae=b&twice=1&twice=2");
        filters.page();
        filters.number("status", 100..=599);
        filters.text("name");
        filters.text("twice");
        let Err(ApiError::Problems(problems)) = filters.finish() else {
            panic!("this query is wrong");
        };
        let found: Vec<_> =
            problems.iter().map(|problem| (problem.field.as_str(), problem.code)).collect();
        let expected = [
            ("limit", Code::Range),
            ("cursor", Code::Format),
            ("status", Code::Range),
            ("name", Code::Format),
            ("twice", Code::Conflict),
            ("nmae", Code::Unknown),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_number_out_of_range_differs_from_other_text() {
        let status = |text: &str| in_range(text, |number: i16| (number < 600).then_some(number));
        assert_eq!(status("599"), Ok(599));
        for text in ["600", "40000", "99999999999999999999", "-40000"] {
            assert_eq!(status(text), Err(Code::Range), "{text}");
        }
        for text in ["", "-", "+1", "1.5", "1e2", "many", " 1"] {
            assert_eq!(status(text), Err(Code::Format), "{text}");
        }
        assert_eq!(in_range("-1", Limit::new).err(), Some(Code::Range));
    }

    #[test]
    fn an_unknown_name_is_unsupported() {
        let mut filters = Filters::of("use=none");
        let usage: Option<engine::keys::Usage> = filters.one_of("use");
        assert_eq!(usage, None);
        let Err(ApiError::Problems(problems)) = filters.finish() else {
            panic!("there is no such use");
        };
        assert_eq!(problems[0].code, Code::Unsupported);
    }
}
