//! What a client proposes: some members of a resource, and what is wrong with them so far.
//!
//! Reading checks JSON types alone; what values mean is checked by the resource's own room, for
//! the API and for the dashboard's forms alike.

use serde_json::Value;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::json::{Kind, Members, Text};
use crate::problem::{Code, Problem, Problems};

/// One member of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Member<T> {
    /// It is not there.
    #[default]
    Absent,
    /// It is there, and a problem was noted about it.
    Wrong,
    /// It is there.
    Given(T),
}

/// The members of a resource that clients may set.
pub trait Draft: Sized {
    /// Their names.
    const MEMBERS: &'static [&'static str];
    /// The names of members that are shown and cannot be set. An update may state them unchanged.
    const READ_ONLY: &'static [&'static str];
    /// Those among them that change by themselves, which an update may state as it likes.
    const VOLATILE: &'static [&'static str];

    /// Reads the members that are there.
    fn read(reader: &mut Reader<'_>) -> Self;
}

/// A draft as it was sent.
#[derive(Debug)]
pub struct Proposal<D> {
    /// What could be read.
    pub draft: D,
    /// What is wrong with it so far.
    pub(super) problems: Problems,
    /// Read-only members, to be held against the resource.
    stated: Vec<(&'static str, Value)>,
}

/// Reads members of given types from a body.
#[derive(Debug)]
pub struct Reader<'a>(Members<'a>);

impl<D: Draft> Proposal<D> {
    /// Reads the body of a request that makes something.
    #[must_use]
    pub fn to_create(body: Text<'_>) -> Self {
        let mut reader = Reader(Members::exactly(body, D::MEMBERS));
        let draft = D::read(&mut reader);
        Self {
            draft,
            problems: reader.finish(),
            stated: Vec::new(),
        }
    }

    /// Reads the body of a request that changes something.
    #[must_use]
    pub fn to_update(body: Text<'_>) -> Self {
        let names = [D::MEMBERS, D::READ_ONLY].concat();
        let mut reader = Reader(Members::exactly(body, &names));
        let draft = D::read(&mut reader);
        let stated = D::READ_ONLY
            .iter()
            .filter(|name| !D::VOLATILE.contains(name))
            .filter_map(|name| {
                let text = reader.0.get(name)?.as_str();
                Some((*name, serde_json::from_str(text).ok()?))
            })
            .collect();
        Self {
            draft,
            problems: reader.finish(),
            stated,
        }
    }

    /// Holds the read-only members that were stated against `resource`.
    pub(super) fn check_read_only(&mut self, resource: &impl serde::Serialize) {
        let Ok(resource) = serde_json::to_value(resource) else {
            return;
        };
        for (name, stated) in self.stated.drain(..) {
            if resource.get(name) != Some(&stated) {
                self.problems.note(Problem::new(
                    name,
                    Code::Conflict,
                    "this member cannot be changed",
                ));
            }
        }
    }
}

impl<D> From<D> for Proposal<D> {
    fn from(draft: D) -> Self {
        Self {
            draft,
            problems: Problems::default(),
            stated: Vec::new(),
        }
    }
}

impl<T> Member<T> {
    /// Whether it is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Reader<'_> {
    /// A string.
    pub fn string(&mut self, name: &str) -> Member<String> {
        self.member(name, "a string", as_string)
    }

    /// A string or null.
    pub fn nullable_string(&mut self, name: &str) -> Member<Option<String>> {
        self.member(name, "a string or null", |text| or_null(text, as_string))
    }

    /// True or false.
    pub fn boolean(&mut self, name: &str) -> Member<bool> {
        self.member(name, "true or false", |text| {
            serde_json::from_str(text.as_str()).ok()
        })
    }

    /// A list of strings.
    pub fn strings(&mut self, name: &str) -> Member<Vec<String>> {
        self.member(name, "a list of strings", as_strings)
    }

    /// A list of strings, or null.
    pub fn nullable_strings(&mut self, name: &str) -> Member<Option<Vec<String>>> {
        self.member(name, "a list of strings, or null", |text| {
            or_null(text, as_strings)
        })
    }

    /// An object of its own, or null, of which `read` knows the members.
    pub fn nullable_object<T>(
        &mut self,
        name: &str,
        members: &[&str],
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> Member<Option<T>> {
        let Some(text) = self.0.get(name) else {
            return Member::Absent;
        };
        if text.kind() == Kind::Null {
            return Member::Given(None);
        }
        let mut inside = Reader(Members::exactly(text, members));
        let read = read(&mut inside);
        self.0.note_inside(name, inside.finish());
        if text.kind() == Kind::Object {
            Member::Given(Some(read))
        } else {
            Member::Wrong
        }
    }

    /// A whole number. One that does not fit is as far out of range as it can be.
    pub fn number(&mut self, name: &str) -> Member<i64> {
        self.member(name, "a whole number", |text| {
            let number: serde_json::Number = serde_json::from_str(text.as_str()).ok()?;
            let is_whole = !number.is_f64();
            is_whole.then(|| number.as_i64().unwrap_or(i64::MAX))
        })
    }

    /// The text of a string or an object, which may be a secret.
    pub fn string_or_object(&mut self, name: &str) -> Member<Zeroizing<String>> {
        self.member(name, "a string or an object", |text| {
            let is_either = matches!(text.kind(), Kind::String | Kind::Object);
            is_either.then(|| Zeroizing::new(text.as_str().to_owned()))
        })
    }

    /// A string that is a secret.
    pub fn secret(&mut self, name: &str) -> Member<Zeroizing<String>> {
        self.member(name, "a string", |text| as_string(text).map(Zeroizing::new))
    }

    fn member<T>(
        &mut self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(Text<'_>) -> Option<T>,
    ) -> Member<T> {
        let Some(text) = self.0.get(name) else {
            return Member::Absent;
        };
        match read(text) {
            Some(value) => Member::Given(value),
            None => {
                let message = format!("this must be {wanted}");
                self.0.note(Problem::new(name, Code::Type, message));
                Member::Wrong
            }
        }
    }

    fn finish(self) -> Problems {
        self.0.finish(|| Some(())).err().unwrap_or_default()
    }
}

fn or_null<'a, T>(text: Text<'a>, read: impl FnOnce(Text<'a>) -> Option<T>) -> Option<Option<T>> {
    match text.kind() {
        Kind::Null => Some(None),
        _ => read(text).map(Some),
    }
}

fn as_string(text: Text<'_>) -> Option<String> {
    Some(text.string()?.ok()?.into_owned())
}

fn as_strings(text: Text<'_>) -> Option<Vec<String>> {
    let items: Vec<&RawValue> = serde_json::from_str(text.as_str()).ok()?;
    items
        .into_iter()
        .map(|item| serde_json::from_str(item.get()).ok())
        .collect()
}
