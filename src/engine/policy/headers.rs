//! The header members that a destination expects in its envelopes.

use serde::{Deserialize, Serialize};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::ToSchema;

use crate::closed_set::ClosedSet;
use crate::request;
use crate::resource::{FieldInput, Member, Printable, RequestBody as _, Value, object};
use formats::clock::Timestamp;
use formats::closed_set;
use formats::envelope::HeaderMembers;
use formats::json::Text;
use formats::problem::Problems;

request! {
    /// The header members that a destination expects in its envelopes.
    pub(super) struct HeadersRequest: NewEnvelopeHeaders {
        /// The `typ` of envelopes; null for none.
        "Type (typ)" typ: Option<Printable> = None;
        /// Whether envelopes carry `iat`: the time of their creation in seconds since 1970.
        "Creation time (iat)" iat: bool = false;
        /// The `cty` of envelopes; null for none.
        "Content type (cty)" cty: Option<ContentType> = None;
    }
}

/// The header members that a destination expects in its envelopes, in addition to those that every
/// envelope has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EnvelopeHeaders {
    /// The `typ` of envelopes; null for none.
    typ: Option<Printable>,
    /// Whether envelopes carry `iat`: the time of their creation in seconds since 1970.
    #[schema(required = false)]
    iat: bool,
    /// The `cty` of envelopes; null for none.
    cty: Option<ContentType>,
}

closed_set! {
    /// The content type of an envelope.
    pub(super) enum ContentType: "EnvelopeContentType" {
        /// The payload is JSON.
        Json = "json",
    }
}

impl ClosedSet for ContentType {}

impl EnvelopeHeaders {
    /// The members of an envelope that is made at `now`.
    pub(super) fn at(&self, now: Timestamp) -> HeaderMembers<'_> {
        HeaderMembers {
            typ: self.typ.as_deref(),
            iat: self.iat.then(|| now.as_millis().div_euclid(1_000)),
            cty: self.cty.is_some(),
        }
    }
}

impl Value for EnvelopeHeaders {
    const INPUT: FieldInput = FieldInput::Object(HeadersRequest::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        object(text, field, problems, |headers: HeadersRequest| {
            Some(Self {
                typ: headers.typ.or_keep(&None),
                iat: headers.iat.or_keep(&false),
                cty: headers.cty.or_keep(&None),
            })
        })
    }
}

impl Type<Postgres> for EnvelopeHeaders {
    fn type_info() -> PgTypeInfo {
        Json::<Self>::type_info()
    }
}

impl Encode<'_, Postgres> for EnvelopeHeaders {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Json(self).encode_by_ref(buffer)
    }
}

impl<'r> Decode<'r, Postgres> for EnvelopeHeaders {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Json::decode(value)?.0)
    }
}
