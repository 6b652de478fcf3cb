//! Writes the canonical form while it reads the value. A tree of small objects would need a hundred times
//! the memory of their text.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Appends the canonical form of the value that it reads.
pub(super) struct Writer<'w>(pub(super) &'w mut Vec<u8>);

impl Writer<'_> {
    /// Appends the canonical form of a string or a number.
    fn scalar<E: Error>(self, value: &impl Serialize) -> Result<(), E> {
        serde_json_canonicalizer::to_writer(value, self.0).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value without duplicate names")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.scalar(&value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let first = self.0.len();
        loop {
            let end = self.0.len();
            if end > first {
                self.0.push(b',');
            }
            if elements.next_element_seed(Writer(self.0))?.is_none() {
                self.0.truncate(end);
                self.0.push(b']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let start = self.0.len();
        let mut found: Vec<(String, Range<usize>)> = Vec::new();
        while let Some(name) = members.next_key()? {
            let begin = self.0.len() - start;
            members.next_value_seed(Writer(self.0))?;
            found.push((name, begin..self.0.len() - start));
        }
        found.sort_unstable_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
        let mut neighbours = found.windows(2);
        if neighbours.any(|pair| matches!(pair, [(one, _), (next, _)] if one == next)) {
            return Err(A::Error::custom("a duplicate name"));
        }
        let values = self.0.split_off(start);
        self.0.push(b'{');
        for (number, (name, value)) in found.into_iter().enumerate() {
            if number > 0 {
                self.0.push(b',');
            }
            Writer(self.0).scalar(&name)?;
            self.0.push(b':');
            self.0.extend_from_slice(values.get(value).unwrap_or_default());
        }
        self.0.push(b'}');
        Ok(())
    }
}
