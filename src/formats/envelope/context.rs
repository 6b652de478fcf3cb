//! The context of an envelope: public facts that its opener must repeat, such as a tenant or a record.

use std::fmt;

use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use subtle::{Choice, ConstantTimeEq as _};

use super::content::ContentKey;
use crate::binary::{from_base64url, to_base64url};
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};

/// The most members of a context.
pub(super) const MOST_MEMBERS: usize = 32;

/// The most bytes of a context in its canonical form.
const MOST_BYTES: usize = 4 * 1024;

/// The purpose of the key that is derived from the content key.
const INFO: &[u8] = b"sealward ctx v1";

const TAG_LEN: usize = 32;

/// A context: an object of strings. It holds their canonical form (RFC 8785).
pub struct Context(Vec<u8>);

/// The `ctx` of an envelope: a MAC of its context under a key that is derived from its content key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ContextTag([u8; TAG_LEN]);

/// The member `ctx` of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ctx {
    Absent,
    Tag(ContextTag),
    /// A string that is not the base64url of a tag. No context matches it.
    Other,
}

impl Context {
    /// Reads an object of 1 to 32 strings. Problems are named as seen from inside it.
    pub fn parse(text: Text<'_>) -> Result<Self, Problems> {
        let mut members = Members::all(text);
        let mut strings = members.strings();
        if let Some(strings) = &strings
            && !(1..=MOST_MEMBERS).contains(&strings.len())
        {
            let message = format!("must have 1 to {MOST_MEMBERS} members");
            members.note(Problem::of_body(Code::Length, message));
        }
        let canonical = strings.as_mut().map(|strings| canonical(strings));
        if canonical.as_ref().is_some_and(|it| it.len() > MOST_BYTES) {
            let message = format!("must have at most {MOST_BYTES} bytes in its RFC 8785 form");
            members.note(Problem::of_body(Code::Length, message));
        }
        members.finish(|| canonical.map(Self))
    }
}

/// The RFC 8785 form of an object of strings: members sorted by the UTF-16 code units of their names.
fn canonical<S: AsRef<str>>(members: &mut [(S, S)]) -> Vec<u8> {
    members.sort_by(|(one, _), (other, _)| {
        let (one, other) = (one.as_ref(), other.as_ref());
        one.encode_utf16().cmp(other.encode_utf16())
    });
    let mut form = Vec::with_capacity(256);
    for (place, (name, value)) in members.iter().enumerate() {
        form.push(if place == 0 { b'{' } else { b',' });
        write_string(&mut form, name.as_ref());
        form.push(b':');
        write_string(&mut form, value.as_ref());
    }
    form.push(b'}');
    form
}

/// serde_json escapes strings as RFC 8785 does.
fn write_string(form: &mut Vec<u8>, string: &str) {
    // Writing a string to memory does not fail.
    let _ = serde_json::to_writer(form, string);
}

impl ContextTag {
    /// The tag of a context under the content key of `key_len` bytes. Without a context it is the tag
    /// of no bytes, which no context has.
    pub(super) fn of(content_key: &ContentKey, key_len: usize, context: Option<&Context>) -> Self {
        let content_key = content_key.get(..key_len).unwrap_or_default();
        let form = context.map_or(&[][..], |context| &context.0);
        let derived = Salt::none(HKDF_SHA256).extract(content_key);
        let tag =
            derived.expand(&[INFO], HMAC_SHA256).map(|key| hmac::sign(&hmac::Key::from(key), form));
        let tag = tag.as_ref().map(AsRef::as_ref).unwrap_or_default();
        Self(tag.try_into().unwrap_or([0; TAG_LEN]))
    }
}

impl Ctx {
    pub(super) fn of(text: Option<&str>) -> Self {
        let Some(text) = text else {
            return Self::Absent;
        };
        let tag = from_base64url(text).ok().and_then(|tag| tag.try_into().ok());
        tag.map_or(Self::Other, |tag| Self::Tag(ContextTag(tag)))
    }

    /// Whether an envelope with this `ctx` opens with a context whose tag is `given`, or without one.
    /// Both tags are compared in any case, in constant time.
    pub(super) fn fits(self, given: ContextTag, has_context: bool) -> Choice {
        let (expected, is_tag) = match self {
            Self::Tag(tag) => (tag, true),
            Self::Absent | Self::Other => (ContextTag([0; TAG_LEN]), false),
        };
        let is_absent = matches!(self, Self::Absent);
        let matches = given.0.ct_eq(&expected.0) & Choice::from(u8::from(is_tag && has_context));
        matches | Choice::from(u8::from(is_absent && !has_context))
    }
}

impl fmt::Display for ContextTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_base64url(&self.0))
    }
}

impl fmt::Debug for ContextTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(text: &str) -> Result<Context, Vec<(String, Code)>> {
        Context::parse(Text::parse(text.as_bytes()).unwrap()).map_err(|problems| {
            let problems = problems.into_vec().into_iter();
            problems.map(|it| (it.field, it.code)).collect()
        })
    }

    fn form(text: &str) -> String {
        String::from_utf8(context(text).unwrap().0).unwrap()
    }

    #[test]
    fn the_canonical_form_matches_rfc_8785() {
        assert_eq!(form(r#"{"b":"1", "a" : "2"}"#), r#"{"a":"2","b":"1"}"#);
        // Section 3.2.3: the order of UTF-16 code units is not that of UTF-8.
        assert_eq!(
            form("{\"\u{fb33}\":\"\",\"\u{1f600}\":\"\",\"\u{f6}\":\"\",\"1\":\"\",\"\\r\":\"\"}"),
            "{\"\\r\":\"\",\"1\":\"\",\"\u{f6}\":\"\",\"\u{1f600}\":\"\",\"\u{fb33}\":\"\"}"
        );
        let escapes = r#"{"a":"\u0008\u0009\u000a\u000c\u000d\u0022\u005c\u001F\u007f\u20ac\/"}"#;
        assert_eq!(form(escapes), "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\\\u001f\u{7f}\u{20ac}/\"}");
        let same = crate::canonical::bytes(Text::parse(escapes.as_bytes()).unwrap());
        assert_eq!(same.unwrap(), form(escapes).as_bytes());
    }

    #[test]
    fn a_context_has_1_to_32_strings_and_at_most_4_kib() {
        let of = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":\"\"")).collect();
            format!("{{{}}}", members.join(","))
        };
        let long = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length));
        assert!(context(&of(1)).is_ok() && context(&of(32)).is_ok());
        // `{"a":""}` takes eight bytes.
        assert!(context(&long(4_088)).is_ok());
        // Each takes six bytes in the body and two in the canonical form.
        assert!(context(&format!("{{\"a\":\"{}\"}}", r"\u000a".repeat(2_044))).is_ok());
        let whole = |code| vec![(String::new(), code)];
        for (text, problems) in [
            (of(0), whole(Code::Length)),
            (of(33), whole(Code::Length)),
            (long(4_089), whole(Code::Length)),
            ("[]".to_owned(), whole(Code::Type)),
            ("\"a\"".to_owned(), whole(Code::Type)),
            (r#"{"a":1}"#.to_owned(), vec![("a".to_owned(), Code::Type)]),
            (r#"{"a":null}"#.to_owned(), vec![("a".to_owned(), Code::Type)]),
            (r#"{"a":"\ud800"}"#.to_owned(), vec![("a".to_owned(), Code::Format)]),
            (r#"{"a":"1","\u0061":"1"}"#.to_owned(), vec![("a".to_owned(), Code::Conflict)]),
        ] {
            assert_eq!(context(&text).err(), Some(problems), "{text}");
        }
    }

    /// Recomputed with the standard library of Python; FORMAT.md shows the same values.
    #[test]
    fn the_tag_matches_the_published_vector() {
        let vector = include_str!("vectors/context.json");
        let vector: serde_json::Value = serde_json::from_str(vector).unwrap();
        for case in vector["cases"].as_array().unwrap() {
            let key = from_base64url(case["contentKey"].as_str().unwrap()).unwrap();
            let mut content_key = ContentKey::new([0; 32]);
            content_key[..key.len()].copy_from_slice(&key);
            let context = context(&case["context"].to_string()).unwrap();
            assert_eq!(str::from_utf8(&context.0).unwrap(), case["canonical"]);
            let tag = ContextTag::of(&content_key, key.len(), Some(&context));
            assert_eq!(tag.to_string(), case["ctx"]);
        }
    }

    #[test]
    fn an_envelope_opens_with_its_own_context_alone() {
        let [one, other] = [ContextTag([1; 32]), ContextTag([2; 32])];
        for (ctx, given, has_context, fits) in [
            (Ctx::Tag(one), one, true, true),
            (Ctx::Tag(one), other, true, false),
            (Ctx::Tag(one), one, false, false),
            (Ctx::Absent, one, false, true),
            (Ctx::Absent, one, true, false),
            (Ctx::Absent, ContextTag([0; 32]), true, false),
            (Ctx::Other, ContextTag([0; 32]), true, false),
            (Ctx::Other, one, false, false),
        ] {
            assert_eq!(bool::from(ctx.fits(given, has_context)), fits, "{ctx:?} {has_context}");
        }
    }
}
