//! The schemas of envelopes and contexts.

use std::borrow::Cow;

use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::context::{Context, MOST_MEMBERS};
use super::parse::{Envelope, MEMBERS, UNPROTECTED};
use crate::algorithms::Curve;

/// The documentation of [`MEMBERS`].
const DESCRIPTIONS: [&str; 5] = [
    "The JOSE header.",
    "The content encryption key, wrapped.",
    "The initialization vector.",
    "The encrypted payload.",
    "The authentication tag.",
];

/// The names of the schemas of [`UNPROTECTED`] and of its `epk`.
const UNPROTECTED_HEADER: &str = "UnprotectedHeader";
const EPHEMERAL_KEY: &str = "EphemeralKey";

impl PartialSchema for Envelope {
    fn schema() -> RefOr<Schema> {
        let about = "An envelope: a JWE (RFC 7516) in flattened JSON. Clients treat it as opaque.";
        let object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(about))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        let members = MEMBERS.into_iter().zip(DESCRIPTIONS);
        let object = members.fold(object, |object, (name, description)| {
            let member = base64url_schema().description(Some(description));
            object.property(name, member).required(name)
        });
        let object = UNPROTECTED.into_iter().fold(object, |object, name| {
            object.property(name, Ref::from_schema_name(UNPROTECTED_HEADER))
        });
        object.into()
    }
}

impl ToSchema for Envelope {
    fn name() -> Cow<'static, str> {
        "Jwe".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((UNPROTECTED_HEADER.to_owned(), unprotected_schema()));
        schemas.push((EPHEMERAL_KEY.to_owned(), ephemeral_key_schema()));
    }
}

impl PartialSchema for Context {
    fn schema() -> RefOr<Schema> {
        let about = "Names the object that the envelope belongs to, such as a tenant and a record. To open \
                     the envelope, send the same context. The envelope and the audit log contain only a \
                     MAC of it.";
        let string = ObjectBuilder::new().schema_type(Type::String);
        let mut object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(about))
            .additional_properties(Some(AdditionalProperties::RefOr(RefOr::T(Schema::from(
                string,
            )))))
            .min_properties(Some(1))
            .build();
        object.max_properties = Some(MOST_MEMBERS);
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for Context {
    fn name() -> Cow<'static, str> {
        "Context".into()
    }
}

fn unprotected_schema() -> RefOr<Schema> {
    let about = "Only in envelopes of other programs: the place of `epk` if `protected` has none.";
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(about))
        .property("epk", Ref::from_schema_name(EPHEMERAL_KEY))
        .required("epk")
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
        .into()
}

fn ephemeral_key_schema() -> RefOr<Schema> {
    let one_of = |values: &[&str]| {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values.to_vec()))
    };
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("The ephemeral key of an envelope."))
        .property("kty", one_of(&["EC"]))
        .property("crv", one_of(&Curve::ALL.map(Curve::name)))
        .property("x", base64url_schema())
        .property("y", base64url_schema());
    let members = ["kty", "crv", "x", "y"].into_iter();
    members.fold(object, ObjectBuilder::required).into()
}

fn base64url_schema() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]*$"))
}
