//! The parts of the schemas of bodies.

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// Named schemas that a schema refers to.
pub(in crate::protection) type Schemas = Vec<(String, RefOr<Schema>)>;

/// The schema of a member.
pub(in crate::protection) trait Described {
    /// Whether the member is always present.
    const REQUIRED: bool = true;

    /// The schema, or a reference to it.
    fn schema() -> RefOr<Schema>;

    /// Adds the schemas that it refers to.
    fn schemas(_: &mut Schemas) {}
}

impl<T: Described> Described for Option<T> {
    const REQUIRED: bool = false;

    fn schema() -> RefOr<Schema> {
        T::schema()
    }

    fn schemas(schemas: &mut Schemas) {
        T::schemas(schemas);
    }
}

/// An object with these members only: name, whether it is required, documentation and schema.
pub(in crate::protection) fn object<const N: usize>(
    about: &[&str],
    members: [(&str, bool, &[&str], RefOr<Schema>); N],
) -> RefOr<Schema> {
    let closed = AdditionalProperties::<Schema>::FreeForm(false);
    let mut object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(joined(about)))
        .additional_properties(Some(closed));
    for (name, is_required, documentation, mut schema) in members {
        if !documentation.is_empty() {
            match &mut schema {
                RefOr::Ref(reference) => reference.description = joined(documentation),
                RefOr::T(Schema::Object(value)) => value.description = Some(joined(documentation)),
                RefOr::T(_) => {}
            }
        }
        object = object.property(name, schema);
        if is_required {
            object = object.required(name);
        }
    }
    object.into()
}

/// The schema of an item of a batch: that of the single body without `requestId` and required members, and
/// with `more`.
pub(in crate::protection) fn item_of<T: ToSchema, const N: usize>(
    about: &str,
    more: [(&str, RefOr<Schema>); N],
) -> Object {
    let RefOr::T(Schema::Object(mut object)) = T::schema() else {
        return Object::new();
    };
    object.description = Some(about.to_owned());
    object.required.clear();
    object.properties.remove("requestId");
    for (name, schema) in more {
        object.properties.insert(name.to_owned(), schema);
    }
    object
}

/// Adds the schema of `T` and those that it refers to.
pub(in crate::protection) fn add<T: ToSchema>(schemas: &mut Schemas) {
    T::schemas(schemas);
    schemas.push((T::name().into_owned(), T::schema()));
}

pub(in crate::protection) fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

/// A string in base64.
pub(in crate::protection) fn base64() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).content_encoding("base64").into()
}

// Not documented: the schema of each member would repeat it.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(in crate::protection) enum MessageType {
    #[default]
    ProtectedPayload,
}

fn joined(documentation: &[&str]) -> String {
    let lines: Vec<&str> = documentation.iter().map(|line| line.trim()).collect();
    lines.join("\n")
}
