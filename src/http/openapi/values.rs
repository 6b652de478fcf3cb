//! The schemas of simple values, with examples.

use std::borrow::Cow;

use serde_json::json;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Timestamp;
use crate::ids::{Id, Named};
use crate::management::Cursor;
use crate::policy::PolicyNumber;
use crate::request_tag::RequestTag;

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

macro_rules! value {
    ($type:ty, $name:literal, $schema:expr) => {
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    };
}

value!(
    Timestamp,
    "Timestamp",
    text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("A time in UTC with milliseconds."))
        .examples([json!("2030-01-31T12:00:00.000Z")])
);
value!(
    PolicyNumber,
    "PolicyNumber",
    text()
        .description(Some("The number of a policy."))
        .pattern(Some("^[A-Za-z0-9._-]{1,64}$"))
        .examples([json!("POL-000001")])
);
value!(
    Cursor,
    "Cursor",
    text()
        .description(Some("A position in a list. Clients treat it as opaque."))
        .pattern(Some("^[A-Za-z0-9_-]{22}$"))
        .examples([json!("AZzJv4h8cAC5v1w2nX7pTw")])
);
value!(
    RequestTag,
    "RequestId",
    text()
        .description(Some(
            "The ID of a request: the client's `X-Request-Id`, or a generated one."
        ))
        .pattern(Some("^[ -~]{1,128}$"))
        .examples([json!("req_01h455vb4pex5vsknk084sn02q")])
);

impl<K: Named> PartialSchema for Id<K> {
    fn schema() -> RefOr<Schema> {
        let prefix = K::PREFIX;
        text()
            .pattern(Some(format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$")))
            .examples([json!(format!("{prefix}_01h455vb4pex5vsknk084sn02q"))])
            .into()
    }
}

impl<K: Named> ToSchema for Id<K> {
    fn name() -> Cow<'static, str> {
        K::NAME.into()
    }
}
