//! Public keys in the database and in the API: SubjectPublicKeyInfo in DER, and a JWK.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{Jwk, PublicKey};

impl Type<Postgres> for PublicKey {
    fn type_info() -> PgTypeInfo {
        <[u8]>::type_info()
    }
}

impl Encode<'_, Postgres> for PublicKey {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.to_spki().encode_by_ref(buffer)
    }
}

impl<'r> Decode<'r, Postgres> for PublicKey {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Self::from_spki(Decode::decode(value)?).map_err(|problem| problem.message.into())
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_jwk().serialize(serializer)
    }
}

impl PartialSchema for PublicKey {
    fn schema() -> RefOr<Schema> {
        Jwk::schema()
    }
}

impl ToSchema for PublicKey {
    fn name() -> Cow<'static, str> {
        Jwk::name()
    }
}
