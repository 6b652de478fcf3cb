//! What the extractors of the management API say of the requests that they read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::components;
use crate::admin::{
    Address, CreateBody, DecisionBody, IfMatch, NoMembers, PathId, RestoreBody, UpdateBody,
};
use engine::ids::{Id, Named};
use engine::management::policies;
use engine::resource::{ChangeBody, RequestBody};

/// What the `{id}` of a path looks like.
pub(super) trait PathSchema {
    fn schema() -> RefOr<Schema>;
}

impl<K: Named> PathSchema for Id<K> {
    fn schema() -> RefOr<Schema> {
        <Self as PartialSchema>::schema()
    }
}

impl PathSchema for policies::PolicyName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The policy's id or its number."))
            .pattern(Some("^[A-Za-z0-9._-]{1,64}$"))
            .examples([json!("POL-000001")])
            .into()
    }
}

impl<T: Address + PathSchema> IntoParams for PathId<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(T::schema()));
        vec![id.build()]
    }
}

impl IntoParams for IfMatch {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let form = ObjectBuilder::new().schema_type(Type::String).examples([json!("\"1\"")]);
        let header = ParameterBuilder::new()
            .name(IF_MATCH)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "The expected `ETag`. If the resource has another one, the request fails.",
            ))
            .schema(Some(form));
        vec![header.build()]
    }
}

pub(super) const IF_MATCH: &str = "If-Match";

impl<D: RequestBody + ToSchema> PartialSchema for CreateBody<D> {
    fn schema() -> RefOr<Schema> {
        exactly(D::schema(), &[], false)
    }
}

impl<D: RequestBody + ToSchema> ToSchema for CreateBody<D> {
    fn name() -> Cow<'static, str> {
        format!("New{}", D::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        D::schemas(schemas);
    }
}

impl<D: RequestBody + ToSchema> PartialSchema for DecisionBody<D> {
    fn schema() -> RefOr<Schema> {
        exactly(D::schema(), &[], false)
    }
}

impl<D: RequestBody + ToSchema> ToSchema for DecisionBody<D> {
    fn name() -> Cow<'static, str> {
        D::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        D::schemas(schemas);
    }
}

impl PartialSchema for NoMembers {
    fn schema() -> RefOr<Schema> {
        let about = "An object without members. The body can be left out.";
        let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(about));
        exactly(object.into(), &[], false)
    }
}

impl ToSchema for NoMembers {
    fn name() -> Cow<'static, str> {
        "NoMembers".into()
    }
}

impl<D: RequestBody + ToSchema> PartialSchema for RestoreBody<D> {
    fn schema() -> RefOr<Schema> {
        exactly(D::schema(), &[], true)
    }
}

impl<D: RequestBody + ToSchema> ToSchema for RestoreBody<D> {
    fn name() -> Cow<'static, str> {
        format!("{}Restoration", D::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        D::schemas(schemas);
    }
}

impl<D: RequestBody + ToSchema> PartialSchema for UpdateBody<D> {
    fn schema() -> RefOr<Schema> {
        exactly(D::schema(), &[D::READ_ONLY, D::VOLATILE].concat(), true)
    }
}

/// With the components of the resource.
impl<D: ChangeBody<Resource: ToSchema> + ToSchema> ToSchema for UpdateBody<D> {
    fn name() -> Cow<'static, str> {
        format!("{}Changes", D::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        D::schemas(schemas);
        components::add_list::<D::Resource>(schemas);
    }
}

/// The members of a new resource and no others. In a change, all are optional, and read-only members
/// may repeat their values, so that a response can be edited and sent back.
fn exactly(draft: RefOr<Schema>, read_only: &[&str], all_optional: bool) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut object)) = draft else {
        return draft;
    };
    if all_optional {
        object.required.clear();
    }
    for name in read_only {
        let stated = ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::SchemaType::AnyValue)
            .read_only(true);
        object.properties.insert((*name).to_owned(), stated.into());
    }
    object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    RefOr::T(Schema::Object(object))
}

/// Gives the read-only members of changes the schemas that they have in the resource.
pub(super) fn type_read_only(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let resources = schemas.clone();
    for (name, changes) in schemas {
        let resource = name.strip_suffix("Changes");
        let resource = resource.and_then(|resource| resources.get(resource));
        if let (RefOr::T(Schema::Object(changes)), Some(RefOr::T(Schema::Object(resource)))) =
            (changes, resource)
        {
            for (member, schema) in &mut changes.properties {
                let is_read_only = matches!(schema, RefOr::T(Schema::Object(stated))
                    if stated.read_only == Some(true));
                if is_read_only && let Some(typed) = resource.properties.get(member) {
                    *schema = read_only(typed.clone());
                }
            }
        }
    }
}

fn read_only(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    match &mut schema {
        RefOr::T(Schema::Object(object)) => object.read_only = Some(true),
        RefOr::Ref(reference) => "Read-only.".clone_into(&mut reference.description),
        RefOr::T(_) => {}
    }
    schema
}
