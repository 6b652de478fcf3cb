//! The members of a JSON object.

use std::borrow::Cow;

use super::scan::find_members;
use super::text::{Text, ValueKind};
use crate::closed_set::{NamedValue, NotOneOf};
use crate::problem::{Code, Problem, Problems};
use crate::similar::nearest;

/// The members of an object as source text, and their problems.
///
/// Every method returns `None` after it noted a problem, so a request is read completely and then
/// built:
///
/// ```
/// # use sealward_formats::json::{Members, Text};
/// # struct Request<'a> { payload: Text<'a>, policy: Option<std::borrow::Cow<'a, str>> }
/// # fn read(text: Text<'_>) -> Result<Request<'_>, sealward_formats::problem::Problems> {
/// let mut members = Members::exactly(text, &["payload", "policyNumber"]);
/// let payload = members.required("payload");
/// let policy = members.optional_string("policyNumber");
/// members.finish(|| Some(Request { payload: payload?, policy: policy? }))
/// # }
/// # assert!(read(Text::parse(br#"{"payload":null}"#).unwrap()).is_ok());
/// ```
#[derive(Debug)]
pub struct Members<'a> {
    /// The requested members.
    known: Vec<(Cow<'a, str>, Text<'a>)>,
    problems: Problems,
    /// The text is not an object, which is the only problem to report.
    unreadable: bool,
}

/// The maximum number of members of an object. It bounds the memory for their names.
const MAX_MEMBERS: usize = 1_000;

/// The number of unknown members of an object for which the nearest name is searched.
const SUGGESTIONS: usize = 4;

impl<'a> Members<'a> {
    /// The members with these names. Others are ignored, but duplicate names are refused.
    pub fn of(text: Text<'a>, names: &[&str]) -> Self {
        Self::read(text, |name| names.contains(&name), |_, _| {})
    }

    /// All members with any name.
    pub fn all(text: Text<'a>) -> Self {
        Self::read(text, |_| true, |_, _| {})
    }

    /// The members with these names. Any other is a problem, which suggests the nearest name.
    pub fn exactly(text: Text<'a>, names: &[&str]) -> Self {
        let is_known = |name: &str| names.contains(&name);
        let mut compared = 0;
        Self::read(text, is_known, |problems, name| {
            if !problems.is_full() {
                let name = shown(name);
                // Comparisons are expensive, and a batch has many objects.
                compared += 1;
                let candidates = if compared > SUGGESTIONS { &[] } else { names };
                let message = match nearest(&name, candidates.iter().copied()) {
                    Some(near) => format!("is unknown: did you mean {near}?").into(),
                    None => Cow::Borrowed("is unknown: leave it out"),
                };
                problems.note(Problem::unknown(name, message));
            }
        })
    }

    /// The text of the member, if present; `null` is a value.
    pub fn get(&self, name: &str) -> Option<Text<'a>> {
        let found = self.known.iter().find(|(known, _)| known == name);
        found.map(|&(_, value)| value)
    }

    /// The text of an optional member; `null` equals absence.
    pub fn optional(&self, name: &str) -> Option<Text<'a>> {
        self.get(name).filter(|value| value.kind() != ValueKind::Null)
    }

    /// The text of a required member; `null` is a value.
    pub fn required(&mut self, name: &str) -> Option<Text<'a>> {
        let value = self.get(name);
        if value.is_none() {
            self.note(Problem::required(name));
        }
        value
    }

    pub fn required_string(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let value = self.required(name)?;
        self.string(name, value)
    }

    /// An optional string; `Some(None)` if absent.
    #[expect(clippy::option_option, reason = "the outer None says that a problem was noted")]
    pub fn optional_string(&mut self, name: &str) -> Option<Option<Cow<'a, str>>> {
        match self.get(name) {
            None => Some(None),
            Some(value) => self.string(name, value).map(Some),
        }
    }

    /// The names and values of members, which must all be strings.
    pub fn strings(&mut self) -> Option<Vec<(Cow<'a, str>, Cow<'a, str>)>> {
        if self.unreadable {
            return None;
        }
        let known = std::mem::take(&mut self.known);
        let read = known.into_iter().map(|(name, value)| {
            let value = self.string(&shown(&name), value);
            value.map(|value| (name, value))
        });
        // Every member is read, so that all problems are noted.
        let read: Vec<_> = read.collect();
        read.into_iter().collect()
    }

    /// A required value of a closed set.
    pub fn one_of<T: NamedValue>(&mut self, name: &str) -> Option<T> {
        let text = self.required_string(name)?;
        let value = T::named(&text);
        let noted = |error: NotOneOf| {
            self.note(Problem::new(name, Code::Unsupported, error.to_string()));
        };
        value.map_err(noted).ok()
    }

    /// Notes a problem that the caller found.
    pub fn note(&mut self, problem: Problem) {
        if !self.unreadable {
            self.problems.note(problem);
        }
    }

    /// Notes the problems of the member called `name`, which the caller read itself.
    pub fn note_inside(&mut self, name: &str, problems: Problems) {
        self.problems.note_inside(name, problems);
    }

    /// The problems that were noted so far.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The result of `build` if there is no problem, otherwise the problems.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T, Problems> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        build().ok_or_else(|| Problem::of_body(Code::Format, "must be valid").into())
    }

    fn read(
        text: Text<'a>,
        is_known: impl Fn(&str) -> bool,
        mut on_other: impl FnMut(&mut Problems, &str),
    ) -> Self {
        let mut members =
            Self { known: Vec::new(), problems: Problems::default(), unreadable: false };
        if text.kind() != ValueKind::Object {
            members.note(Problem::of_body(Code::Type, "must be an object"));
            members.unreadable = true;
            return members;
        }
        let (mut all, mut count) = (Vec::new(), 0_usize);
        find_members(text.as_str(), |member| {
            count += 1;
            if count > MAX_MEMBERS {
                return;
            }
            let part = |range| Text::part(text.as_str().get(range).unwrap_or_default());
            match part(member.name).string() {
                Some(Ok(name)) => {
                    if is_known(&name) {
                        members.known.push((name.clone(), part(member.value)));
                    } else {
                        on_other(&mut members.problems, &name);
                    }
                    all.push(name);
                }
                _ => members.problems.note(Problem::of_body(
                    Code::Format,
                    "must not have member names with lone surrogates",
                )),
            }
        });
        if count > MAX_MEMBERS {
            members.problems.note(Problem::of_body(Code::Length, "must have at most 1000 members"));
        }
        members.refuse_duplicates(all);
        members
    }

    fn refuse_duplicates(&mut self, mut names: Vec<Cow<'a, str>>) {
        names.sort_unstable();
        let twice = names.windows(2).filter_map(|pair| match pair {
            [one, other] if one == other => Some(one),
            _ => None,
        });
        for name in twice {
            let message = "must appear only once";
            self.problems.note(Problem::new(shown(name), Code::Conflict, message));
        }
    }

    fn string(&mut self, name: &str, value: Text<'a>) -> Option<Cow<'a, str>> {
        match value.string() {
            Some(Ok(string)) if !string.contains('\0') => return Some(string),
            Some(Ok(_)) => {
                self.note(Problem::new(name, Code::Format, "must not contain U+0000"));
            }
            Some(Err(error)) => self.note(Problem::new(name, Code::Format, error.to_string())),
            None => self.note(Problem::new(name, Code::Type, "must be a string")),
        }
        None
    }
}

/// The name of a member for a response, truncated.
fn shown(name: &str) -> String {
    const MOST: usize = 64;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members<'a>(text: &'a str, names: &[&str]) -> Members<'a> {
        Members::of(Text::parse(text.as_bytes()).unwrap(), names)
    }

    fn problems(members: Members<'_>) -> Vec<(String, Code)> {
        let problems = members.finish(|| Some(())).err().unwrap_or_default().into_vec();
        problems.into_iter().map(|problem| (problem.field, problem.code)).collect()
    }

    #[test]
    fn few_unknown_members_have_suggestions() {
        let text =
            r#"{"payloaa":1,"payloab":1,"payloac":1,"payload1":1,"payload2":1,"payload3":1}"#;
        let read = Members::exactly(Text::parse(text.as_bytes()).unwrap(), &["payload"]);
        let problems = read.finish(|| Some(())).err().unwrap_or_default();
        let suggest = |problem: &&Problem| problem.message.contains("payload?");
        assert_eq!(problems.as_slice().len(), 6);
        assert_eq!(problems.as_slice().iter().filter(suggest).count(), SUGGESTIONS);
    }

    #[test]
    fn null_is_a_value_and_an_absent_member_is_not() {
        let mut read = members(r#"{"payload": null, "other": 1}"#, &["payload", "data"]);
        assert_eq!(read.required("payload").map(Text::as_str), Some("null"));
        assert_eq!(read.required("data"), None);
        assert_eq!(read.get("other"), None);
        assert_eq!(problems(read), [("data".to_owned(), Code::Required)]);
    }

    #[test]
    fn all_problems_are_reported_together() {
        let mut read =
            members(r#"{"a":1,"b":"\u0000","c":"\ud800","d":null}"#, &["a", "b", "c", "d"]);
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(read.required_string(name), None);
        }
        assert_eq!(read.optional_string("d"), None);
        assert_eq!(read.optional_string("f"), Some(None));
        let codes = problems(read).into_iter().map(|(_, code)| code).collect::<Vec<_>>();
        use Code::{Format, Required, Type};
        assert_eq!(codes, [Type, Format, Format, Type, Required, Type]);
    }

    #[test]
    fn a_duplicate_name_is_refused_in_every_notation() {
        for text in [r#"{"a":1,"b":2,"a":1}"#, r#"{"x":1,"\u0078":2}"#, r#"{"":1,"":1}"#] {
            let problems = problems(members(text, &["a"]));
            assert!(matches!(problems.as_slice(), [(_, Code::Conflict)]), "{text}");
        }
        assert_eq!(problems(members(r#"{"a":{"b":1,"b":2}}"#, &["a"])), []);
    }

    #[test]
    fn a_value_that_is_not_an_object_is_reported_once() {
        let mut read = members("[]", &["a"]);
        assert_eq!(read.required("a"), None);
        assert_eq!(problems(read), [(String::new(), Code::Type)]);
    }

    #[test]
    fn unknown_members_are_ignored_or_refused_as_configured() {
        let text = Text::parse(br#"{"a":1,"b":2}"#).unwrap();
        assert_eq!(problems(Members::of(text, &["a"])), []);
        assert_eq!(problems(Members::exactly(text, &["a"])), [("b".to_owned(), Code::Unknown)]);
    }

    #[test]
    fn a_problem_of_an_unknown_member_names_the_nearest_known_one() {
        let text = Text::parse(br#"{"policynumber":1,"aad":2}"#).unwrap();
        let members = Members::exactly(text, &["payload", "policyNumber"]);
        let problems = members.finish(|| Some(())).unwrap_err().into_vec();
        let messages: Vec<_> = problems.iter().map(|problem| &*problem.message).collect();
        let expected = ["is unknown: did you mean policyNumber?", "is unknown: leave it out"];
        assert_eq!(messages, expected);
    }

    #[test]
    fn an_object_has_at_most_1000_members() {
        let object = |members: u32| {
            let members: Vec<_> = (0..members).map(|n| format!("\"{n}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        let (most, more) = (object(1_000), object(1_001));
        assert_eq!(problems(members(&most, &["0"])), []);
        assert_eq!(problems(members(&more, &["0"])), [(String::new(), Code::Length)]);
    }

    #[test]
    fn null_equals_an_absent_member() {
        let read = members(r#"{"a":null,"b":1}"#, &["a", "b"]);
        assert_eq!(read.optional("a"), None);
        assert_eq!(read.optional("b").map(Text::as_str), Some("1"));
        assert_eq!(read.optional("c"), None);
    }

    #[test]
    fn a_response_stays_small_with_many_errors() {
        let many = (0..1000).map(|n| format!("\"{n}{}\":1", "é".repeat(100))).collect::<Vec<_>>();
        let body = format!("{{{}}}", many.join(","));
        let problems = problems(Members::exactly(Text::parse(body.as_bytes()).unwrap(), &[]));
        assert_eq!(problems.len(), Problems::MOST);
        assert!(problems.iter().all(|(field, _)| field.chars().count() <= 65));
    }
}
