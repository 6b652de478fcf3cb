//! The types of members, and their schemas.

mod read;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::schema::{Described, Schemas, base64, reference};
use crate::closed_set::ClosedSet;
use crate::ids::KeyId;
use crate::protection::Refusal;
use crate::request_tag::RequestTag;
use formats::clock::Timestamp;
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text};

/// A member that requests have.
pub(in crate::protection) trait ReadMember<'a>: Described + Sized {
    /// Reads the member called `name`; `None` after noting a problem.
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self>;
}

/// A member that answers have.
pub(in crate::protection) trait WriteMember: Described {
    /// Appends the value.
    fn write(&self, out: &mut String) -> Result<(), Refusal>;

    /// Appends the member `name` of an object.
    fn write_named(&self, name: &str, out: &mut String) -> Result<(), Refusal> {
        write_name(out, name);
        self.write(out)
    }
}

/// Appends the name of the next member of an object.
fn write_name(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}

/// A string that names a `T`; an unknown name is no problem of the body.
pub(in crate::protection) struct Reference<'a, T>(Cow<'a, str>, PhantomData<fn() -> T>);

/// The first member of an answer: the `requestId` of a request, or the `status` of an item of a batch.
pub(in crate::protection) enum Head<'a> {
    Request(&'a RequestTag),
    Item,
}

/// JSON text.
pub(in crate::protection) struct Json<'a>(pub(in crate::protection) &'a str);

/// Bytes in base64.
pub(in crate::protection) struct Base64<B>(pub(in crate::protection) B);

/// Declares values that are the same in every answer.
macro_rules! constants {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal, $schema:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(in crate::protection) struct $name;

        impl WriteMember for $name {
            fn write(&self, out: &mut String) -> Result<(), Refusal> {
                out.push_str($text);
                Ok(())
            }
        }

        impl Described for $name {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }
    )*};
}

constants! {
    /// `messageType` of an answer to `/protect`.
    ProtectedPayloadType = r#""ProtectedPayload""#, values(["ProtectedPayload"]);
    /// `operations` of a payload that was encrypted.
    Encrypted = r#"["encrypt"]"#, operations("encrypt").min_items(Some(1)).max_items(Some(1));
    /// `operations` of a payload that was decrypted.
    Decrypted = r#"["decrypt"]"#, operations("decrypt").min_items(Some(1)).max_items(Some(1));
    /// `operations` of a payload that was decrypted and encrypted again.
    Rewrapped = r#"["decrypt","encrypt"]"#, ArrayBuilder::new()
        .items(values(["decrypt", "encrypt"]))
        .min_items(Some(2))
        .max_items(Some(2));
    /// `operations` of a payload that stayed as it was.
    Unchanged = "[]", operations("encrypt").max_items(Some(0));
    /// The value `true`.
    True = "true", ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([true]));
}

fn values<const N: usize>(names: [&'static str; N]) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names))
}

fn operations(name: &'static str) -> ArrayBuilder {
    ArrayBuilder::new().items(values([name]))
}

impl<T> Deref for Reference<'_, T> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T> fmt::Debug for Reference<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<B: AsRef<[u8]>> fmt::Debug for Base64<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} bytes)", self.0.as_ref().len())
    }
}

/// Gives members their schema: a value, or a reference to a named schema.
macro_rules! schemas {
    (named $([$($generics:tt)*] $type:ty => $named:ty;)*) => {$(
        impl<$($generics)*> Described for $type {
            fn schema() -> RefOr<Schema> {
                reference::<$named>()
            }

            fn schemas(schemas: &mut Schemas) {
                schemas.push((<$named>::name().into_owned(), <$named as PartialSchema>::schema()));
                <$named as ToSchema>::schemas(schemas);
            }
        }
    )*};
    ($([$($generics:tt)*] $type:ty => $schema:expr;)*) => {$(
        impl<$($generics)*> Described for $type {
            fn schema() -> RefOr<Schema> {
                $schema
            }
        }
    )*};
}

schemas! { named
    ['a, T: ToSchema] Reference<'a, T> => T;
    [T: ClosedSet + ToSchema] T => T;
    [] Envelope => Envelope;
    [] Context => Context;
    [] &RequestTag => RequestTag;
    [] Head<'_> => RequestTag;
    [] KeyId => KeyId;
    [] Timestamp => Timestamp;
}

schemas! {
    [] Text<'_> => any();
    [] Json<'_> => any();
    [] Cow<'_, str> => of_type(Type::String);
    [] &'static str => of_type(Type::String);
    [] bool => of_type(Type::Boolean);
    [B] Base64<B> => base64();
}

fn any() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .into()
}

fn of_type(kind: Type) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(kind).into()
}
