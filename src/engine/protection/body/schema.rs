//! The parts of the schemas of bodies.

use std::collections::btree_map::Entry;

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

/// An object with these members: name, whether it is required, documentation and schema. Clients must
/// accept new members of answers; requests have these members only.
pub(in crate::protection) fn object<const N: usize>(
    has_more: bool,
    about: &[&str],
    members: [(&str, bool, &[&str], RefOr<Schema>); N],
) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(joined(about)));
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
    if !has_more {
        object =
            object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    }
    object.into()
}

/// An object with the members of all these objects, none of them required, and with `more` instead of
/// `requestId`.
pub(in crate::protection) fn merged<const N: usize>(
    has_more: bool,
    about: &[&str],
    schemas: impl IntoIterator<Item = RefOr<Schema>>,
    more: [(&str, RefOr<Schema>); N],
) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut object)) = object(has_more, about, []) else {
        return ObjectBuilder::new().into();
    };
    for (name, schema) in more {
        object.properties.insert(name.to_owned(), schema);
    }
    for schema in schemas {
        let RefOr::T(Schema::Object(one)) = schema else {
            continue;
        };
        absorb(&mut object, one);
    }
    object.properties.remove("requestId");
    RefOr::T(Schema::Object(object))
}

/// One object with the members of several. A member is required if all of them require it.
pub(in crate::protection) fn any_of<const N: usize>(
    about: &[&str],
    bodies: [RefOr<Schema>; N],
) -> RefOr<Schema> {
    let mut merged: Option<Object> = None;
    for body in bodies {
        let RefOr::T(Schema::Object(body)) = body else {
            continue;
        };
        let Some(merged) = &mut merged else {
            merged = Some(body);
            continue;
        };
        merged.required.retain(|name| body.required.contains(name));
        absorb(merged, body);
    }
    let mut merged = merged.unwrap_or_default();
    merged.description = Some(joined(about));
    merged.into()
}

/// Adds the members of `other`.
fn absorb(object: &mut Object, other: Object) {
    for (name, schema) in other.properties {
        match object.properties.entry(name) {
            Entry::Vacant(member) => drop(member.insert(schema)),
            Entry::Occupied(mut member) if *member.get() != schema => {
                let wide = widened(member.get());
                member.insert(wide);
            }
            Entry::Occupied(_) => {}
        }
    }
}

/// The schema of a member that bodies restrict in different ways.
fn widened(schema: &RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Array(array)) => {
            let mut array = array.clone();
            (array.min_items, array.max_items) = (None, None);
            RefOr::T(Schema::Array(array))
        }
        RefOr::T(_) | RefOr::Ref(_) => ObjectBuilder::new().schema_type(Type::String).into(),
    }
}

/// A reference to the schema of `T`.
pub(in crate::protection) fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

/// A string in base64.
pub(in crate::protection) fn base64() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .content_encoding("base64")
        .into()
}

fn joined(documentation: &[&str]) -> String {
    let lines: Vec<&str> = documentation.iter().map(|line| line.trim()).collect();
    lines.join("\n")
}
