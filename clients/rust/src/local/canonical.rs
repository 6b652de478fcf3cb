//! The bytes of a value that are signed: the UTF-8 bytes of a string, and the RFC 8785 form of any other value.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::number::written;
use crate::error::Invalid;
use crate::runtime::Data;

/// The bytes that a signature covers.
pub(super) fn signed_bytes(data: Data<'_>) -> Result<Cow<'_, [u8]>, Invalid> {
    let text = match data {
        Data::Bytes(bytes) => return Ok(Cow::Borrowed(bytes)),
        Data::Json(payload) => payload.text().trim(),
    };
    if text.starts_with('"') {
        return string(text).map(|string| Cow::Owned(string.into_bytes()));
    }
    let mut canonical = String::with_capacity(text.len());
    write(text, &mut canonical)?;
    Ok(Cow::Owned(canonical.into_bytes()))
}

fn write(text: &str, out: &mut String) -> Result<(), Invalid> {
    match text.as_bytes().first() {
        Some(b'{') => write_object(text, out),
        Some(b'[') => {
            let items: Vec<&RawValue> = parse(text)?;
            write_all(out, '[', ']', items.iter(), |item, out| write(item.get(), out))
        }
        Some(b'"') => write_string(&string(text)?, out),
        Some(b't' | b'f' | b'n') => {
            out.push_str(text);
            Ok(())
        }
        _ => {
            out.push_str(&written(text).ok_or(Invalid::Canonical)?);
            Ok(())
        }
    }
}

fn write_object(text: &str, out: &mut String) -> Result<(), Invalid> {
    let Members(mut members) = parse(text)?;
    members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    if members.windows(2).any(|pair| matches!(pair, [one, other] if one.0 == other.0)) {
        return Err(Invalid::Canonical);
    }
    write_all(out, '{', '}', members.iter(), |(name, value), out| {
        write_string(name, out)?;
        out.push(':');
        write(value.get(), out)
    })
}

fn write_all<T>(
    out: &mut String,
    open: char,
    close: char,
    parts: impl Iterator<Item = T>,
    mut write: impl FnMut(T, &mut String) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    out.push(open);
    for (position, part) in parts.enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(part, out)?;
    }
    out.push(close);
    Ok(())
}

/// serde_json escapes what RFC 8785 escapes, and in the same form.
fn write_string(string: &str, out: &mut String) -> Result<(), Invalid> {
    out.push_str(&serde_json::to_string(string).map_err(|_| Invalid::Canonical)?);
    Ok(())
}

/// The string of a literal, without lone surrogates.
fn string(text: &str) -> Result<String, Invalid> {
    parse(text)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Invalid> {
    serde_json::from_str(text).map_err(|_| Invalid::Canonical)
}

/// The members of an object, duplicates included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(All).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;

    fn canonical(text: &str) -> Result<String, Invalid> {
        let payload = Payload::raw(text).unwrap();
        let bytes = signed_bytes(Data::Json(&payload))?.into_owned();
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn members_are_sorted_by_utf_16_and_numbers_are_short() {
        for (text, expected) in [
            (r#"{ "b" : [1.0, -0, 1e21], "a": null }"#, r#"{"a":null,"b":[1,0,1e+21]}"#),
            // U+1F600 begins with the surrogate D83D, which is before U+FB33.
            ("{\"\u{fb33}\":1,\"\u{1f600}\":2}", "{\"\u{1f600}\":2,\"\u{fb33}\":1}"),
            (r#"{"\u20ac\n":"\u000f\/"}"#, "{\"\u{20ac}\\n\":\"\\u000f/\"}"),
            (r#""gr\u00fc\u00df""#, "gr\u{fc}\u{df}"),
            ("[]", "[]"),
        ] {
            assert_eq!(canonical(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_value_that_is_not_unique_is_refused() {
        for text in [r#"{"a":1,"\u0061":2}"#, "[9007199254740993]", "1e400", r#"["\ud800"]"#] {
            assert_eq!(canonical(text), Err(Invalid::Canonical), "{text}");
        }
    }
}
