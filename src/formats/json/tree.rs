//! A JSON value as a tree like that of serde_json, but duplicate names are errors.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use super::text::Text;

/// The text has no unambiguous tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATree {
    #[error("must not have two members of the same name in an object")]
    DuplicateName,
    #[error("must not contain a lone surrogate")]
    LoneSurrogate,
}

/// A JSON value without duplicate names.
struct Unambiguous(Value);

impl Text<'_> {
    pub fn tree(self) -> Result<Value, NotATree> {
        self.visit(PhantomData::<Unambiguous>).map(|Unambiguous(tree)| tree)
    }

    /// What `visitor` makes of the value. Its only error is a duplicate name.
    pub fn visit<'de, V: DeserializeSeed<'de>>(
        &'de self,
        visitor: V,
    ) -> Result<V::Value, NotATree> {
        let mut reader = serde_json::Deserializer::from_str(self.as_str());
        // A `Text` is never deeper than `MAX_DEPTH`.
        reader.disable_recursion_limit();
        visitor.deserialize(&mut reader).map_err(|error| {
            // serde_json refuses nothing else in a well-formed text.
            if error.is_data() { NotATree::DuplicateName } else { NotATree::LoneSurrogate }
        })
    }
}

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Self)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value without duplicate names")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unambiguous(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unambiguous(value))) = members.next_entry::<String, _>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("duplicate name"));
            }
        }
        Ok(Value::Object(object))
    }
}
