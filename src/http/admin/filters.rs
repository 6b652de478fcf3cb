//! The query of a list: which items, and which page of them.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::http::app::App;
use crate::http::error::ApiError;
use crate::management::{Cursor, Limit, PageRequest};
use crate::problem::{Code, Problem, Problems};

/// The parameters of a query. Each is taken once; what nobody takes is a problem, because a filter
/// with a slip in its name would show more than was asked for.
#[derive(Debug)]
pub(in crate::http) struct Filters {
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
    pub(in crate::http) fn of(query: &str) -> Self {
        let parameters = form_urlencoded::parse(query.as_bytes());
        Self {
            parameters: parameters.into_owned().collect(),
            problems: Problems::default(),
        }
    }

    /// Free text.
    pub(in crate::http) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "this must not contain U+0000", |text| {
            let is_taken = !text.contains('\0');
            is_taken.then(|| text.to_owned()).ok_or(Code::Format)
        })
    }

    /// A whole number in that range.
    pub(in crate::http) fn number(
        &mut self,
        name: &str,
        range: RangeInclusive<i16>,
    ) -> Option<i16> {
        let form = format!(
            "this must be a number of {} to {}",
            range.start(),
            range.end()
        );
        self.read(name, &form, |text| {
            in_range(text, |number: i16| {
                range.contains(&number).then_some(number)
            })
        })
    }

    /// Something with a form of its own, such as an id or a time; `form` says which.
    pub(in crate::http) fn parsed<T: FromStr>(&mut self, name: &str, form: &str) -> Option<T> {
        self.read(name, form, |text| text.parse().map_err(|_| Code::Format))
    }

    /// One of the names that `all` lists.
    pub(in crate::http) fn one_of<T: DeserializeOwned>(
        &mut self,
        name: &str,
        all: &str,
    ) -> Option<T> {
        self.read(name, &format!("this must be one of {all}"), |text| {
            let text: StrDeserializer<'_, ValueError> = text.into_deserializer();
            T::deserialize(text).map_err(|_| Code::Unsupported)
        })
    }

    /// Which page.
    pub(in crate::http) fn page(&mut self) -> PageRequest {
        let limit = self.read("limit", "this must be a number of 1 to 200", |text| {
            in_range(text, Limit::new)
        });
        let after: Option<Cursor> =
            self.parsed("cursor", "this must be a nextCursor, as an answer gave it");
        PageRequest {
            limit: limit.unwrap_or_default(),
            after,
        }
    }

    /// Ends the reading.
    pub(in crate::http) fn finish(mut self) -> Result<(), ApiError> {
        for (name, _) in std::mem::take(&mut self.parameters) {
            self.problems.note(Problem::new(
                name,
                Code::Unknown,
                "there is no such parameter",
            ));
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
            let message = "this parameter may be given once";
            self.problems
                .note(Problem::new(name, Code::Conflict, message));
            return None;
        }
        let note = |code| {
            self.problems
                .note(Problem::new(name, code, form.to_owned()))
        };
        read(&text).map_err(note).ok()
    }
}

/// A whole number that `within` takes. One that it does not, be it longer than any, is out of range;
/// what is no number at all is of another form.
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
    fn everything_wrong_with_a_query_is_told_at_once() {
        let mut filters =
            Filters::of("limit=0&cursor=x&status=99&name=a%00&nmae=b&twice=1&twice=2");
        filters.page();
        filters.number("status", 100..=599);
        filters.text("name");
        filters.text("twice");
        let Err(ApiError::Problems(problems)) = filters.finish() else {
            panic!("this query is wrong");
        };
        let found: Vec<_> = problems
            .iter()
            .map(|problem| (problem.field.as_str(), problem.code))
            .collect();
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
    fn a_number_out_of_range_is_told_from_what_is_no_number() {
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
    fn a_name_that_is_none_of_those_there_are_is_not_supported() {
        let mut filters = Filters::of("use=none");
        let usage: Option<crate::keys::Usage> = filters.one_of("use", "enc, sig, data");
        assert_eq!(usage, None);
        let Err(ApiError::Problems(problems)) = filters.finish() else {
            panic!("there is no such use");
        };
        assert_eq!(problems[0].code, Code::Unsupported);
    }
}
