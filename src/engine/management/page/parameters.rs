//! The query parameters of a page.

use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};
use utoipa::{IntoParams, ToSchema as _};

use super::{Cursor, PageRequest};

impl IntoParams for PageRequest {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let limit = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(200))
            .default(Some(json!(50)));
        let query = |name: &str, description: &str, schema: RefOr<Schema>| {
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(schema))
                .build()
        };
        vec![
            query("limit", "The maximum number of items on a page.", limit.into()),
            query(
                "cursor",
                "The start of the page: `nextCursor` of a previous response.",
                Ref::from_schema_name(Cursor::name()).into(),
            ),
        ]
    }
}
