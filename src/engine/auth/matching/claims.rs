//! The expected values of claims.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::jwt::VerifiedToken;
use crate::resource::{FieldInput, Member, Value, string, wrong_type};
use formats::json::{Members, Text};
use formats::problem::{Code, Problem, Problems};

/// The most claims of a rule.
const MOST_CLAIMS: usize = 32;

/// The largest whole number that every JSON reader keeps (RFC 8259, section 6).
const MOST_EXACT: u64 = (1 << 53) - 1;

/// The longest text of a rule, in bytes. An entry of the database's index contains two of them.
const LONGEST: usize = 1_024;

/// A text that is compared exactly, of 1 to 1,024 bytes in UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(min_length = 1, max_length = 1024)]
pub(in crate::auth) struct Exact(String);

/// The expected values of claims. A name that begins with `/` is a JSON Pointer (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::auth) struct Claims(BTreeMap<String, Json>);

impl Exact {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Claims {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether the token has all values.
    pub(super) fn hold_in(&self, token: &VerifiedToken) -> bool {
        self.iter().all(|(name, expected)| {
            let found = if name.starts_with('/') {
                at_pointer(token, name)
            } else {
                token.claims.get(name)
            };
            found.is_some_and(|found| holds(found, expected))
        })
    }
}

/// The value at a JSON Pointer. Its first part names a claim.
fn at_pointer<'t>(token: &'t VerifiedToken, pointer: &str) -> Option<&'t Json> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let name = name.replace("~1", "/").replace("~0", "~");
    token.claims.get(&name)?.pointer(rest)
}

/// Whether a claim is the value, or an array that contains it.
fn holds(found: &Json, expected: &Json) -> bool {
    found == expected || found.as_array().is_some_and(|items| items.contains(expected))
}

impl Value for Exact {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |text| {
            check(&text)?;
            Ok(Self(text))
        })
    }
}

impl Value for Claims {
    const INPUT: FieldInput = FieldInput::Json;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        if let Err(found) = Members::all(text).finish(|| Some(())) {
            problems.note_inside(field, found);
            return Member::Wrong;
        }
        let Ok(claims) = serde_json::from_str::<BTreeMap<String, Json>>(text.as_str()) else {
            return wrong_type(field, "an object", problems);
        };
        if !(1..=MOST_CLAIMS).contains(&claims.len()) {
            let message = format!("must have 1 to {MOST_CLAIMS} claims");
            problems.note(Problem::new(field, Code::Length, message));
            return Member::Wrong;
        }
        let mut found = Problems::default();
        for (name, value) in &claims {
            if let Err(problem) = check_claim(name, value) {
                found.note(problem.inside(name));
            }
        }
        if !found.is_empty() {
            problems.note_inside(field, found);
            return Member::Wrong;
        }
        Member::Given(Self(claims))
    }
}

fn check_claim(name: &str, value: &Json) -> Result<(), Problem> {
    check(name)?;
    let mut escapes = name.split('~').skip(1);
    if name.starts_with('/') && !escapes.all(|rest| rest.starts_with(['0', '1'])) {
        let message = "must be a JSON Pointer, in which ~ is written as ~0";
        return Err(Problem::of_body(Code::Format, message));
    }
    match value {
        Json::String(text) => check(text),
        // Different numbers can have one floating-point value, and so one leaf in the audit log.
        Json::Number(number) if !is_exact(number) => {
            let message = format!("must be a whole number from -{MOST_EXACT} to {MOST_EXACT}");
            Err(Problem::of_body(Code::Range, message))
        }
        Json::Bool(_) | Json::Number(_) => Ok(()),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            let message = "must be a string, a number, true or false";
            Err(Problem::of_body(Code::Type, message))
        }
    }
}

fn is_exact(number: &Number) -> bool {
    let value = number.as_i64();
    value.is_some_and(|value| value.unsigned_abs() <= MOST_EXACT)
}

fn check(text: &str) -> Result<(), Problem> {
    if text.is_empty() || text.len() > LONGEST {
        let message = format!("must be 1 to {LONGEST} bytes long in UTF-8");
        return Err(Problem::of_body(Code::Length, message));
    }
    if text.contains('\0') {
        return Err(Problem::of_body(Code::Format, "must not contain U+0000"));
    }
    Ok(())
}

impl PartialSchema for Claims {
    fn schema() -> RefOr<Schema> {
        // Client generators do not know maps of several types.
        ObjectBuilder::new()
            .description(Some(
                "The expected values of claims: strings, integers and booleans. A name that begins \
                 with `/` is a JSON Pointer. An array claim matches if it contains the value.",
            ))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .into()
    }
}

impl ToSchema for Claims {
    fn name() -> Cow<'static, str> {
        "IdentityClaims".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_holds_each_of_its_items() {
        let json = |text: &str| serde_json::from_str::<Json>(text).unwrap();
        for (found, expected, is_held) in [
            (r#""a""#, r#""a""#, true),
            (r#""A""#, r#""a""#, false),
            (r#"["b","a"]"#, r#""a""#, true),
            (r#"[["a"]]"#, r#""a""#, false),
            (r#"[]"#, r#""a""#, false),
            ("1", r#""1""#, false),
            ("true", "true", true),
            (r#"{"a":1}"#, r#""a""#, false),
        ] {
            assert_eq!(holds(&json(found), &json(expected)), is_held, "{found}");
        }
    }
}
