//! Checks of values that several resources share. Each notes what is wrong and gives back what is
//! right.

use std::ops::RangeInclusive;

use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::Member;
use crate::clock::Timestamp;
use crate::problem::{Code, Problem, Problems};

const DESCRIPTION: RangeInclusive<usize> = 0..=1_000;
const NAME: RangeInclusive<usize> = 1..=100;
const MOST_ITEMS: usize = 1_000;

/// Notes each member that must be there and is not.
pub(super) fn require<const N: usize>(problems: &mut Problems, members: [(&str, bool); N]) {
    for (field, is_absent) in members {
        if is_absent {
            problems.note(Problem::required(field));
        }
    }
}

/// Puts what `read` makes of a member into its place. A member that is absent or wrong leaves the
/// place as it was.
pub(super) fn set<M, T>(
    problems: &mut Problems,
    place: &mut T,
    member: Member<M>,
    read: impl FnOnce(&mut Problems, M) -> Option<T>,
) {
    if let Member::Given(value) = member
        && let Some(value) = read(problems, value)
    {
        *place = value;
    }
}

/// The name that people give to something.
pub(super) fn name(problems: &mut Problems, name: String) -> Option<String> {
    text(problems, "name", name, NAME)
}

/// What people say about something.
pub(super) fn description(
    problems: &mut Problems,
    description: Option<String>,
) -> Option<Option<String>> {
    match description {
        None => Some(None),
        Some(description) => text(problems, "description", description, DESCRIPTION).map(Some),
    }
}

/// Puts the value that a member names into its place.
pub(super) fn choose<T: DeserializeOwned>(
    problems: &mut Problems,
    place: &mut T,
    field: &str,
    member: Member<String>,
    all: &[&str],
) {
    set(problems, place, member, |problems, name| {
        one_of(problems, field, &name, all)
    });
}

/// A value by its name, which must be one of `all`.
pub(super) fn one_of<T: DeserializeOwned>(
    problems: &mut Problems,
    field: &str,
    name: &str,
    all: &[&str],
) -> Option<T> {
    let name: StrDeserializer<'_, ValueError> = name.into_deserializer();
    let known = T::deserialize(name).ok();
    if known.is_none() {
        let message = format!("this must be one of {}", all.join(", "));
        problems.note(Problem::new(field, Code::Unsupported, message));
    }
    known
}

/// A list of at least one item, each of which `read` knows; problems name the item.
pub(super) fn each<T>(
    problems: &mut Problems,
    field: &str,
    items: &[String],
    read: impl Fn(&mut Problems, &str, &str) -> Option<T>,
) -> Option<Vec<T>> {
    if items.is_empty() || items.len() > MOST_ITEMS {
        let message = format!("this must have 1 to {MOST_ITEMS} items");
        problems.note(Problem::new(field, Code::Length, message));
        return None;
    }
    let read: Vec<Option<T>> = items
        .iter()
        .enumerate()
        .map(|(place, item)| read(problems, &format!("{field}[{place}]"), item))
        .collect();
    read.into_iter().collect()
}

/// When something ends: a time that lies ahead, or the one that it already has.
pub(super) fn expiry(
    problems: &mut Problems,
    now: Timestamp,
    before: Option<Timestamp>,
    text: &str,
) -> Option<Timestamp> {
    const FIELD: &str = "expiresAt";
    let Ok(expiry) = text.parse::<Timestamp>() else {
        let message = "this must be a time as 2030-01-31T12:00:00.000Z";
        problems.note(Problem::new(FIELD, Code::Format, message));
        return None;
    };
    if expiry <= now && Some(expiry) != before {
        let message = "this must lie in the future";
        problems.note(Problem::new(FIELD, Code::Range, message));
        return None;
    }
    Some(expiry)
}

/// A value that may be null.
pub(super) fn or_null<T, U>(
    value: Option<T>,
    read: impl FnOnce(T) -> Option<U>,
) -> Option<Option<U>> {
    match value {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn text(
    problems: &mut Problems,
    field: &str,
    text: String,
    length: RangeInclusive<usize>,
) -> Option<String> {
    if !length.contains(&text.chars().count()) {
        let message = format!(
            "this must be {} to {} characters long",
            length.start(),
            length.end()
        );
        problems.note(Problem::new(field, Code::Length, message));
        return None;
    }
    if text.contains('\0') {
        let message = "this must not contain U+0000";
        problems.note(Problem::new(field, Code::Format, message));
        return None;
    }
    Some(text)
}
