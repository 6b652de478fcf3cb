//! Values of members, and how they are read from JSON.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde_json::Number;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{FieldInput, Member};
use crate::closed_set::ClosedSet;
use crate::fingerprint::Fingerprint;
use crate::ids::{Id, Named};
use crate::operation::{Operation, Operations};
use crate::spiffe::SpiffeId;
use formats::clock::Timestamp;
use formats::closed_set::NamedValue as _;
use formats::json::{Text, ValueKind};
use formats::problem::{Code, Problem, Problems};

/// The most items of a list.
const MOST_ITEMS: usize = 1_000;

/// The largest number that the database holds.
const MOST: u32 = 2_147_483_647;

/// A type of value that requests can set.
pub trait Value: Sized {
    /// How people enter it.
    const INPUT: FieldInput;
    /// Whether `null` is a value. Otherwise it is the same as leaving the member out.
    const NULLABLE: bool = false;

    /// Reads it. A value that is wrong is noted under the name `field`.
    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self>;
}

/// Null is a value.
impl<T: Value> Value for Option<T> {
    const INPUT: FieldInput = T::INPUT;
    const NULLABLE: bool = true;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        if text.kind() == ValueKind::Null {
            return Member::Given(None);
        }
        T::read(text, field, problems).map(Some)
    }
}

impl Value for String {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, Ok)
    }
}

impl Value for bool {
    const INPUT: FieldInput = FieldInput::Flag;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        match serde_json::from_str(text.as_str()) {
            Ok(flag) => Member::Given(flag),
            Err(_) => wrong_type(field, "true or false", problems),
        }
    }
}

/// A whole number from 1 to the maximum of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = i32, minimum = 1)]
pub struct Positive(pub NonZeroU32);

impl Value for Positive {
    const INPUT: FieldInput = FieldInput::Number;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        positive(text, field, MOST, problems).map(Self)
    }
}

impl<T: ClosedSet> Value for T {
    const INPUT: FieldInput = FieldInput::OneOf(T::NAMES, T::DESCRIPTIONS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |name| {
            name.parse()
                .map_err(|error: T::Err| Problem::of_body(Code::Unsupported, error.to_string()))
        })
    }
}

impl<K: Named> Value for Id<K> {
    const INPUT: FieldInput = FieldInput::Reference(K::PREFIX);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |id| {
            let message = "must be the id of an existing resource";
            id.parse().map_err(|_| Problem::of_body(Code::Unknown, message))
        })
    }
}

impl Value for Fingerprint {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        parsed(text, field, problems)
    }
}

impl Value for SpiffeId {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        parsed(text, field, problems)
    }
}

impl Value for Timestamp {
    const INPUT: FieldInput = FieldInput::Moment;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |time| {
            let message = "must be a time such as 2030-01-31T12:00:00.000Z";
            time.parse().map_err(|_| Problem::of_body(Code::Format, message))
        })
    }
}

impl Value for Operations {
    const INPUT: FieldInput = FieldInput::AnyOf(Operation::NAMES);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        list::<Operation>(text, field, problems).map(Self::from)
    }
}

impl<K: Named> Value for Vec<Id<K>> {
    const INPUT: FieldInput = FieldInput::Lines;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        list(text, field, problems)
    }
}

/// Reads a whole number from 1 to `most`.
pub(crate) fn positive(
    text: Text<'_>,
    field: &str,
    most: u32,
    problems: &mut Problems,
) -> Member<NonZeroU32> {
    let Ok(number) = serde_json::from_str::<Number>(text.as_str()) else {
        return wrong_type(field, "a whole number", problems);
    };
    if number.is_f64() {
        return wrong_type(field, "a whole number", problems);
    }
    let number = number.as_u64().and_then(|number| u32::try_from(number).ok());
    match number.filter(|number| *number <= most).and_then(NonZeroU32::new) {
        Some(number) => Member::Given(number),
        None => {
            let message = format!("must be 1 to {most}");
            problems.note(Problem::new(field, Code::Range, message));
            Member::Wrong
        }
    }
}

/// Reads a string in the format of `T`, whose error states the rule.
fn parsed<T: FromStr<Err: Display>>(
    text: Text<'_>,
    field: &str,
    problems: &mut Problems,
) -> Member<T> {
    string(text, field, problems, |text| {
        text.parse().map_err(|error: T::Err| Problem::of_body(Code::Format, error.to_string()))
    })
}

/// Reads a string and parses it with `parse`.
pub fn string<T>(
    text: Text<'_>,
    field: &str,
    problems: &mut Problems,
    parse: impl FnOnce(String) -> Result<T, Problem>,
) -> Member<T> {
    let Some(Ok(string)) = text.string() else {
        return wrong_type(field, "a string", problems);
    };
    match parse(string.into_owned()) {
        Ok(value) => Member::Given(value),
        Err(problem) => {
            problems.note(problem.inside(field));
            Member::Wrong
        }
    }
}

/// Reads a list of at least one item. Problems name the item.
pub fn list<T: Value>(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Vec<T>> {
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text.as_str()) else {
        return wrong_type(field, "a list of strings", problems);
    };
    if items.is_empty() || items.len() > MOST_ITEMS {
        let message = format!("must have 1 to {MOST_ITEMS} items");
        problems.note(Problem::new(field, Code::Length, message));
        return Member::Wrong;
    }
    let read = items.iter().enumerate().map(|(place, item)| {
        let item = Text::parse(item.get().as_bytes()).ok()?;
        match T::read(item, &format!("{field}[{place}]"), problems) {
            Member::Given(value) => Some(value),
            Member::Absent | Member::Wrong => None,
        }
    });
    // Every item is read, so that all problems are noted.
    let read: Vec<Option<T>> = read.collect();
    let values: Option<Vec<T>> = read.into_iter().collect();
    values.map_or(Member::Wrong, Member::Given)
}

/// Notes that a value has the wrong JSON type.
pub(crate) fn wrong_type<T>(field: &str, wanted: &str, problems: &mut Problems) -> Member<T> {
    let message = format!("must be {wanted}");
    problems.note(Problem::new(field, Code::Type, message));
    Member::Wrong
}
