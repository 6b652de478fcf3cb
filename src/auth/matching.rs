//! The rule by which a workload identity matches tokens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type as JsonType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::json::{Members, Text};
use crate::jwt::Token;
use crate::problem::{Code, Problem, Problems};
use crate::request;
use crate::resource::{Input, Member, RequestBody as _, Value, object, string, wrong_type};

/// The most claims of a rule.
const MOST_CLAIMS: usize = 32;

/// The longest text of a rule, in characters.
const LONGEST: usize = 1_024;

request! {
    /// The tokens that match an identity: all conditions must hold. At least a subject or a claim is
    /// required.
    pub(super) struct MatchRequest: NewIdentityMatch {
        /// The claim `iss` of the token.
        "Issuer" issuer: Exact;
        /// The claim `sub` of the token.
        "Subject" subject: Option<Exact> = None;
        /// Other claims of the token: an object in JSON with their expected values by their names. A name
        /// that begins with `/` is a JSON Pointer. An array claim matches if it contains the value.
        "Claims" claims: Option<Claims> = None;
    }
}

/// The tokens that match an identity. Comparison is exact and case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = IdentityMatch)]
pub struct Match {
    /// The claim `iss` of the token.
    issuer: Exact,
    /// The claim `sub` of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    subject: Option<Exact>,
    /// Other claims of the token by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    claims: Option<Claims>,
}

/// A text that is compared exactly, of 1 to 1,024 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(min_length = 1, max_length = 1024)]
pub(super) struct Exact(String);

/// The expected values of claims. A name that begins with `/` is a JSON Pointer (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Claims(BTreeMap<String, Json>);

impl Match {
    /// Whether the token matches.
    pub(super) fn matches(&self, token: &Token) -> bool {
        let mut claims = self.claims.iter().flat_map(|claims| &claims.0);
        token.issuer == self.issuer.0
            && self.subject.as_ref().is_none_or(|it| it.0 == token.subject)
            && (self.subject.is_some() || self.claims.is_some())
            && claims.all(|(name, expected)| {
                let found = if name.starts_with('/') {
                    at_pointer(token, name)
                } else {
                    token.claims.get(name)
                };
                found.is_some_and(|found| holds(found, expected))
            })
    }

    /// Whether each token that matches also matches `other`.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let has = |(name, value): (&str, &Json)| self.claims().any(|it| it == (name, value));
        self.issuer == other.issuer
            && (other.subject.is_none() || self.subject == other.subject)
            && other.claims().all(has)
    }

    /// The issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer.0
    }

    /// The subject, if any.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_ref().map(|subject| subject.0.as_str())
    }

    /// The claims with their expected values.
    pub fn claims(&self) -> impl Iterator<Item = (&str, &Json)> {
        let claims = self.claims.iter().flat_map(|claims| &claims.0);
        claims.map(|(name, value)| (name.as_str(), value))
    }
}

/// The value at a JSON Pointer. Its first part names a claim.
fn at_pointer<'t>(token: &'t Token, pointer: &str) -> Option<&'t Json> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let name = name.replace("~1", "/").replace("~0", "~");
    token.claims.get(&name)?.pointer(rest)
}

/// Whether a claim is the value, or an array that contains it.
fn holds(found: &Json, expected: &Json) -> bool {
    found == expected
        || found
            .as_array()
            .is_some_and(|items| items.contains(expected))
}

impl Value for Match {
    const INPUT: Input = Input::Object(MatchRequest::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let read = object(text, field, problems, |request: MatchRequest| {
            Some(Self {
                issuer: request.issuer.given()?.clone(),
                subject: request.subject.or_keep(&None),
                claims: request.claims.or_keep(&None),
            })
        });
        if let Member::Given(Self {
            subject: None,
            claims: None,
            ..
        }) = read
        {
            let message = "must be given, unless claims are";
            problems.note(Problem::new(
                format!("{field}.subject"),
                Code::Required,
                message,
            ));
            return Member::Wrong;
        }
        read
    }
}

impl Value for Exact {
    const INPUT: Input = Input::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        string(text, field, problems, |text| {
            check(&text)?;
            Ok(Self(text))
        })
    }
}

impl Value for Claims {
    const INPUT: Input = Input::Json;

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
        Json::Bool(_) | Json::Number(_) => Ok(()),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            let message = "must be a string, a number, true or false";
            Err(Problem::of_body(Code::Type, message))
        }
    }
}

fn check(text: &str) -> Result<(), Problem> {
    if text.is_empty() || text.chars().count() > LONGEST {
        let message = format!("must be 1 to {LONGEST} characters long");
        return Err(Problem::of_body(Code::Length, message));
    }
    if text.contains('\0') {
        return Err(Problem::of_body(Code::Format, "must not contain U+0000"));
    }
    Ok(())
}

impl PartialSchema for Claims {
    fn schema() -> RefOr<Schema> {
        let kinds = [JsonType::String, JsonType::Number, JsonType::Boolean];
        let value = ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::SchemaType::from_iter(kinds))
            .build();
        ObjectBuilder::new()
            .description(Some(
                "The expected values of claims. A name that begins with `/` is a JSON Pointer. An \
                 array claim matches if it contains the value.",
            ))
            .additional_properties(Some(AdditionalProperties::RefOr(value.into())))
            .into()
    }
}

impl ToSchema for Claims {
    fn name() -> Cow<'static, str> {
        "IdentityClaims".into()
    }
}

impl Type<Postgres> for Match {
    fn type_info() -> PgTypeInfo {
        sqlx::types::Json::<Self>::type_info()
    }
}

impl Encode<'_, Postgres> for Match {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        sqlx::types::Json(self).encode_by_ref(buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Match {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(sqlx::types::Json::decode(value)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(json: &str) -> Vec<(String, Code)> {
        let mut problems = Problems::default();
        let text = Text::parse(json.as_bytes()).unwrap();
        let read = Match::read(text, "match", &mut problems);
        assert_eq!(read.given().is_some(), problems.is_empty(), "{json}");
        let problems = problems.into_vec().into_iter();
        problems.map(|one| (one.field, one.code)).collect()
    }

    #[test]
    fn a_rule_has_an_issuer_and_a_subject_or_claims() {
        for good in [
            r#"{"issuer":"https://a","subject":"b"}"#,
            r#"{"issuer":"https://a","claims":{"/a~1b/c":"d","e":7,"f":true}}"#,
            r#"{"issuer":"https://a","subject":"b","claims":null}"#,
        ] {
            assert_eq!(problems(good), [], "{good}");
        }
        for (wrong, field, code) in [
            ("7", "match", Code::Type),
            (r#"{"subject":"b"}"#, "match.issuer", Code::Required),
            (r#"{"issuer":"a"}"#, "match.subject", Code::Required),
            (
                r#"{"issuer":"a","subject":null}"#,
                "match.subject",
                Code::Required,
            ),
            (
                r#"{"issuer":"","subject":"b"}"#,
                "match.issuer",
                Code::Length,
            ),
            (r#"{"issuer":"a","subject":7}"#, "match.subject", Code::Type),
            (
                r#"{"issuer":"a","subject":"b","sub":"c"}"#,
                "match.sub",
                Code::Unknown,
            ),
            (
                r#"{"issuer":"a","claims":{}}"#,
                "match.claims",
                Code::Length,
            ),
            (r#"{"issuer":"a","claims":[]}"#, "match.claims", Code::Type),
            (
                r#"{"issuer":"a","claims":{"b":null}}"#,
                "match.claims.b",
                Code::Type,
            ),
            (
                r#"{"issuer":"a","claims":{"b":["c"]}}"#,
                "match.claims.b",
                Code::Type,
            ),
            (
                r#"{"issuer":"a","claims":{"b":""}}"#,
                "match.claims.b",
                Code::Length,
            ),
            (
                r#"{"issuer":"a","claims":{"/b~":"c"}}"#,
                "match.claims./b~",
                Code::Format,
            ),
            (
                r#"{"issuer":"a","claims":{"b":1,"b":2}}"#,
                "match.claims.b",
                Code::Conflict,
            ),
        ] {
            assert_eq!(problems(wrong), [(field.to_owned(), code)], "{wrong}");
        }
    }

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
