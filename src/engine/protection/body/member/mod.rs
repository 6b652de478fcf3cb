//! The types of members, and their schemas.

mod read;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::schema::{Described, Schemas, add, base64, reference};
use crate::closed_set::ClosedSet;
use formats::binary::append_base64;
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text, Verbatim};
use formats::wiped::Wiped;

/// A member that requests have.
pub(in crate::protection) trait ReadMember<'a>: Described + Sized {
    /// Reads the member called `name`; `None` after noting a problem.
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self>;
}

/// A string that names a `T`; an unknown name is no problem of the body.
pub(in crate::protection) struct Reference<'a, T>(Cow<'a, str>, PhantomData<fn() -> T>);

/// Bytes in base64.
pub(in crate::protection) struct Base64<B>(pub(in crate::protection) B);

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

/// The bytes can be a plaintext, so the text wipes itself.
impl<B: AsRef<[u8]>> Serialize for Base64<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.0.as_ref();
        let capacity = bytes.len().div_ceil(3) * 4 + 2;
        let mut text = Wiped::new(String::with_capacity(capacity));
        text.push('"');
        append_base64(&mut text, bytes);
        text.push('"');
        Verbatim(&text).serialize(serializer)
    }
}

impl<B> Described for Base64<B> {
    fn schema() -> RefOr<Schema> {
        base64()
    }
}

impl<T: ToSchema> Described for Reference<'_, T> {
    fn schema() -> RefOr<Schema> {
        reference::<T>()
    }

    fn schemas(schemas: &mut Schemas) {
        add::<T>(schemas);
    }
}

impl<T: ClosedSet + ToSchema> Described for T {
    fn schema() -> RefOr<Schema> {
        reference::<T>()
    }

    fn schemas(schemas: &mut Schemas) {
        add::<T>(schemas);
    }
}

impl Described for Envelope {
    fn schema() -> RefOr<Schema> {
        reference::<Self>()
    }

    fn schemas(schemas: &mut Schemas) {
        add::<Self>(schemas);
    }
}

impl Described for Context {
    fn schema() -> RefOr<Schema> {
        reference::<Self>()
    }

    fn schemas(schemas: &mut Schemas) {
        add::<Self>(schemas);
    }
}

impl Described for Text<'_> {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        any.into()
    }
}

impl Described for Cow<'_, str> {
    fn schema() -> RefOr<Schema> {
        String::schema()
    }
}

impl Described for bool {
    fn schema() -> RefOr<Schema> {
        <Self as PartialSchema>::schema()
    }
}
